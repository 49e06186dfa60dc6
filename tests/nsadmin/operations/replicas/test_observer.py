"""What is read of masters and slaves of the lab."""

from pathlib import Path

from nsadmin import AdminClient
from nsadmin.operations.replicas.observer import observe_replicas, read_replica_group
from nsadmin.operations.replicas.records import ItemKind
from nsadmin.operations.replicas.takeover import find_takeover_gaps
from tests.support.lab import start_lab as lab


def test_groups_with_slaves_are_read_with_all_their_tables(tmp_path: Path) -> None:
    with lab(tmp_path) as there, AdminClient(there.namesrv_addrs, timeout=5) as admin:
        observation = observe_replicas(admin, 5, "cluster-a")
        one = observe_replicas(admin, 5, None, "broker-b-1")
        [broker_group] = [
            group for group in admin.clusters.get_info().broker_groups if group.broker_name == "broker-b-1"
        ]
        direct = read_replica_group(admin, broker_group)
        gaps = find_takeover_gaps(admin, broker_group, includes_lag=True)
    assert [group.broker_name for group in observation.groups] == ["broker-a-0", "broker-a-1", "broker-a-2"]
    assert (observation.now_ms, observation.failure_lines) == (5, [])
    [group] = one.groups
    assert group.master is not None
    [slave] = group.slaves
    assert (slave.broker_id, slave.release, slave.error) == (1, "5.5.0", None)
    assert slave.tables[ItemKind.TOPIC] == group.master.tables[ItemKind.TOPIC]
    assert {ItemKind.GROUP, ItemKind.OFFSET, ItemKind.CONSUME_MODE, ItemKind.SETTING} <= slave.tables.keys()
    assert direct.slaves[0].tables[ItemKind.GROUP] == slave.tables[ItemKind.GROUP]
    assert gaps == []


def test_a_slave_that_is_gone_has_an_error_and_hides_nothing(tmp_path: Path) -> None:
    with lab(tmp_path) as there, AdminClient(there.namesrv_addrs, timeout=5) as admin:
        listed = admin.clusters.get_info().broker_groups
        there.kill("broker-a-0", 1)
        group = read_replica_group(admin, listed[0])
    assert group.master is not None
    assert (group.master.error, group.slaves[0].tables) == (None, {})
    assert "connection refused" in (group.slaves[0].error or "")
