"""A cluster as it is, in the lab."""

import pytest

from nsadmin import AdminClient
from nsadmin.client import NotFound
from nsadmin.client.order_conf import NAMESPACE
from nsadmin.operations.plans.describing import described
from nsadmin.operations.plans.observing import observe, observe_brokers
from tests.nsadmin.operations.plans.conftest import CLUSTER, A, B
from tests.support.lab import Lab


def test_every_server_is_asked(there: Lab, admin: AdminClient) -> None:
    admin.kv.put("DEPLOYMENT", "stage", "canary")
    live = observe(admin, CLUSTER, ["DEPLOYMENT", "NONE"])
    assert [(item.name, item.addr) for item in live.brokers] == [
        (A, there.brokers[A, 0]),
        (B, there.brokers[B, 0]),
    ]
    assert [item.addr for item in live.name_servers] == list(there.namesrv_addrs)
    for broker in live.brokers:
        assert {"TBW102", CLUSTER, "BenchmarkTest", "rmq_sys_wheel_timer"} < broker.own
        assert "orders" in broker.topics.keys() - broker.own
        assert all(name in broker.own for name in broker.topics if name.startswith("%"))
        assert broker.error is None
    for server in live.name_servers:
        assert (server.kv["DEPLOYMENT"], server.kv["NONE"]) == ({"stage": "canary"}, {})
        assert list(server.kv[NAMESPACE]) == ["orders"]
        assert {"orders", "TBW102"} < server.routed


def test_a_fresh_export_has_no_system_topics(admin: AdminClient) -> None:
    desired, remarks = described(observe(admin, CLUSTER))
    assert desired.topics is not None
    assert set(desired.topics) == {name for name in admin.topics.user_names() if not name.startswith("%")}
    assert remarks == []


def test_who_does_not_answer_hides_nobody(there: Lab, admin: AdminClient) -> None:
    there.kill(B, 0)
    addrs = {name: there.brokers[name, 0] for name in (A, B)}
    first, second, third = observe_brokers(admin, {**addrs, "broker-z": None}, CLUSTER)
    assert (first.error, "orders" in first.topics) == (None, True)
    assert (second.name, second.topics) == (B, {})
    assert "refused" in str(second.error)
    assert str(third.error) == "this broker has no master now"
    with AdminClient([there.namesrv_addrs[0], "127.0.0.1:1"], timeout=5) as other:
        alive, dead = observe(other, CLUSTER).name_servers
    assert (alive.error, dead.error is None) == (None, False)


def test_no_such_cluster(admin: AdminClient) -> None:
    with pytest.raises(NotFound, match="no cluster 'nowhere'"):
        observe(admin, "nowhere")
