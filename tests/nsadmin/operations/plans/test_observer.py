"""A cluster as it is, in the lab."""

import pytest

from nsadmin import AdminClient
from nsadmin.client import NotFound
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE
from nsadmin.operations.backups.observer import observe_backup
from nsadmin.operations.plans.cluster_export import describe_cluster
from nsadmin.operations.plans.observer import observe_brokers, observe_cluster
from tests.nsadmin.operations.plans.conftest import CLUSTER, A, B
from tests.support.fake_servers import FakeNameServer
from tests.support.lab import Lab
from tests.support.registering_brokers import RegisteringBroker


def test_every_server_is_asked(running_lab: Lab, admin: AdminClient) -> None:
    admin.kv.put_value("DEPLOYMENT", "stage", "canary")
    live = observe_cluster(admin, CLUSTER, ["DEPLOYMENT", "NONE"])
    assert [(item.broker_name, item.master_addr) for item in live.broker_states] == [
        (A, running_lab.brokers[A, 0]),
        (B, running_lab.brokers[B, 0]),
    ]
    assert [item.namesrv_addr for item in live.server_states] == list(running_lab.namesrv_addrs)
    for broker in live.broker_states:
        assert {"TBW102", CLUSTER, "BenchmarkTest", "rmq_sys_wheel_timer"} < broker.own_topics
        assert "orders" in broker.topics.keys() - broker.own_topics
        assert all(name in broker.own_topics for name in broker.topics if name.startswith("%"))
        assert broker.error is None
    for server in live.server_states:
        assert (server.kv["DEPLOYMENT"], server.kv["NONE"]) == ({"stage": "canary"}, {})
        assert list(server.kv[ORDER_CONF_NAMESPACE]) == ["orders"]
        assert {"orders", "TBW102"} < server.routed


def test_a_fresh_export_has_no_system_topics(admin: AdminClient) -> None:
    desired, remarks = describe_cluster(observe_cluster(admin, CLUSTER))
    assert desired.topic_specs is not None
    assert set(desired.topic_specs) == {
        name for name in admin.topics.list_user_names() if not name.startswith("%")
    }
    assert remarks == []


def test_who_does_not_answer_hides_nobody(running_lab: Lab, admin: AdminClient) -> None:
    running_lab.kill(B, 0)
    addrs = {name: running_lab.brokers[name, 0] for name in (A, B)}
    first, second, third = observe_brokers(admin, {**addrs, "broker-z": None}, CLUSTER)
    assert (first.error, "orders" in first.topics) == (None, True)
    assert (second.broker_name, second.topics) == (B, {})
    assert "refused" in str(second.error)
    assert str(third.error) == "this broker has no master now"
    with AdminClient([running_lab.namesrv_addrs[0], "127.0.0.1:1"], timeout=5) as other:
        alive, dead = observe_cluster(other, CLUSTER).server_states
    assert (alive.error, dead.error is None) == (None, False)


def test_no_such_cluster(admin: AdminClient) -> None:
    with pytest.raises(NotFound, match='no cluster "nowhere"'):
        observe_cluster(admin, "nowhere")


def test_a_process_with_two_names_is_read_once(first_server: FakeNameServer) -> None:
    with RegisteringBroker() as broker:
        first_server.clusters = {"C": {"a": {0: broker.addr}, "b": {0: broker.addr}}}
        with AdminClient(first_server.addr, timeout=5) as other:
            live = observe_cluster(other, "C")
            backup = observe_backup(other, "C", 0, sections=())
    assert [state.broker_name for state in live.broker_states] == ["a"]
    line = f"a and b are one process, at {broker.addr}: read once"
    assert line in describe_cluster(live)[1]
    assert line in backup.remarks
