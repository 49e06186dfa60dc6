"""What a slave needs before it takes over."""

from time import time

from nsadmin import AdminClient
from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.operations.replicas.takeover import find_takeover_gaps
from tests.support.fake_servers import FakeBroker
from tests.support.replica_brokers import SETTINGS, TOPICS, serve_tables


def test_missing_topics_are_gaps_but_settings_and_extra_topics_are_not() -> None:
    with FakeBroker() as master, FakeBroker() as slave, AdminClient(["127.0.0.1:9"], timeout=5) as admin:
        serve_tables(master, TOPICS)
        serve_tables(slave, {"orders": {"perm": 4}, "other": {"perm": 6}}, SETTINGS.replace("72", "48"))
        broker_group = BrokerAddrGroup("", "broker-a", {0: master.addr, 1: slave.addr})
        [gap] = find_takeover_gaps(admin, broker_group, includes_lag=False)
    assert (gap.slave.broker_id, gap.item_names) == (1, ("topic orders", "topic payments"))


def test_a_slave_that_does_not_answer_is_a_gap_but_without_the_master_nothing_is() -> None:
    with FakeBroker() as master, AdminClient(["127.0.0.1:9"], timeout=5) as admin:
        serve_tables(master, TOPICS)
        broker_group = BrokerAddrGroup("", "b", {0: master.addr, 1: "127.0.0.1:9"})
        [gap] = find_takeover_gaps(admin, broker_group, includes_lag=True)
        assert gap.item_names == ()
        assert gap.read_error == "connection refused, no server listens on this port"
        broker_group = BrokerAddrGroup("", "b", {0: "127.0.0.1:9", 1: master.addr})
        assert find_takeover_gaps(admin, broker_group, includes_lag=True) == []


def test_a_new_topic_is_a_gap_only_if_the_slave_takes_over_at_once() -> None:
    with FakeBroker() as master, FakeBroker() as slave, AdminClient(["127.0.0.1:9"], timeout=5) as admin:
        serve_tables(master, TOPICS, changed_ms=int(time() * 1000))
        serve_tables(slave, {"orders": {"perm": 6}})
        broker_group = BrokerAddrGroup("", "broker-a", {0: master.addr, 1: slave.addr})
        assert find_takeover_gaps(admin, broker_group, includes_lag=False) == []
        [gap] = find_takeover_gaps(admin, broker_group, includes_lag=True)
    assert gap.item_names == ("topic payments",)
