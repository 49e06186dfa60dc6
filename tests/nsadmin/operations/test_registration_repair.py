"""What name servers have of a broker is made equal to what the broker itself has."""

import pytest

from nsadmin.client import NotApplied, NotFound
from nsadmin.operations.registration_repair import RegistrationRepair
from tests.support.drain_cluster import BROKER, MASTER, PERMS, DrainCluster, R, make_queue

WIPED = {topic: perm & ~2 for topic, perm in PERMS.items()}
ADDRS = ("127.0.0.1:9876", "127.0.0.1:9877")


def open_repair(cluster: DrainCluster) -> RegistrationRepair:
    return RegistrationRepair(BROKER, cluster, cluster.clock)


@pytest.mark.parametrize("old", [(), (0,), (0, 1)])
def test_permissions_of_all_topics_are_those_of_the_broker_again(old: tuple[int, ...]) -> None:
    cluster = DrainCluster(old=old)
    before = cluster.topics_by_server()
    cluster.wipe_write_permission(ADDRS[:1])
    first, second = open_repair(cluster).restore_permissions()
    assert (first.error, second.error, second.method) == (None, None, None)
    assert first.before.items() <= WIPED.items()
    assert first.after == {topic: perm for topic, perm in PERMS.items() if perm & 2}
    assert first.method == ("by a registration of the broker" if 0 in old else "topic by topic")
    assert cluster.topics_by_server() == before


def test_what_add_write_perm_did_is_undone() -> None:
    cluster = DrainCluster()
    before = cluster.topics_by_server()
    cluster.add_write_permission(ADDRS)
    plans = open_repair(cluster).restore_permissions()
    assert [plan.after for plan in plans] == [{"TBW102": 7, "history": 4}] * 2
    assert cluster.topics_by_server() == before


def test_a_broker_that_forbids_writes_stays_closed() -> None:
    cluster = DrainCluster(1, perms={"orders": 6})
    cluster.set_permission(MASTER, R)
    cluster.nodes[0].topics["orders"] = make_queue(6)
    [plan] = open_repair(cluster).restore_permissions()
    assert (plan.error, cluster.topics_by_server()) == (None, [{"orders": make_queue(R)}])


def test_topics_that_a_name_server_lacks_are_registered_by_the_broker_only() -> None:
    cluster = DrainCluster(1)
    before = cluster.topics_by_server()
    del cluster.nodes[0].topics["orders"]
    [plan] = open_repair(cluster).restore_permissions()
    assert (plan.missing_topics, plan.method, "orders" in cluster.nodes[0].topics) == (
        ("orders",), None, False,
    )  # fmt: skip
    [plan] = open_repair(cluster).register_all()
    assert (plan.missing_topics, plan.error) == (("orders",), None)
    assert cluster.topics_by_server() == before


def test_a_broker_that_refuses_is_told_with_what_differs() -> None:
    cluster = DrainCluster(1, old=(0,), perms={"orders": 6})
    cluster.wipe_write_permission(ADDRS[:1])
    cluster.refuses_config = "no permission"
    for repair in (open_repair(cluster).restore_permissions, open_repair(cluster).register_all):
        [plan] = repair()
        assert str(plan.error) == "orders is r-- instead of rw-; no permission"


def test_a_dead_name_server_keeps_its_error_and_no_other_waits_for_it() -> None:
    cluster = DrainCluster()
    cluster.wipe_write_permission(ADDRS)
    cluster.kill_server(1)
    calls = cluster.calls
    repaired, dead = open_repair(cluster).register_all()
    assert (repaired.error, str(dead.error)) == (None, "connection refused, no server listens on this port")
    assert cluster.calls - calls < 10


def test_a_broker_that_no_name_server_has_is_not_found() -> None:
    cluster = DrainCluster()
    cluster.stop_broker()
    with pytest.raises((NotFound, NotApplied)):
        open_repair(cluster)
