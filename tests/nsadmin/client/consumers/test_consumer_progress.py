"""How far groups are, and who of them is connected."""

import pytest

from namesrv_core.errors import RequestError, RocketMQError
from nsadmin import AdminClient
from nsadmin.client import NotFound
from nsadmin.client.consumers.consume_stats import GroupQueueLag, find_waiting_since
from nsadmin.client.consumers.lag import BROADCASTS, Lag
from nsadmin.client.message_queues import MessageQueue
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import FakeNameServer, closed_port, refuse_with

LAGS = (
    GroupQueueLag("G", MessageQueue("T", "broker-a", 0), 100, 90, 92, 1000),
    GroupQueueLag("G", MessageQueue("T", "broker-a", 1), 50, None, 2, None),
)


def test_a_queue_that_was_never_committed_has_no_offset(admin: AdminClient) -> None:
    [result] = admin.consumers.get_progress("G")
    assert result.result is not None
    assert (result.result.consume_tps, result.result.queues) == (1.5, LAGS)
    assert [(lag.lag.messages, lag.inflight_count) for lag in LAGS] == [(10, 2), (None, None)]


def test_messages_wait_since_the_oldest_message_that_was_consumed_last() -> None:
    newer = LAGS[0]._replace(last_consumed_ms=2000)
    new_queue = LAGS[0]._replace(consumer_offset=0, last_consumed_ms=None)
    assert find_waiting_since([newer, *LAGS]) == 1000
    assert find_waiting_since([newer, new_queue]) == 2000
    assert find_waiting_since([new_queue]) is None
    assert find_waiting_since([newer._replace(consumer_offset=100)]) is None


def test_an_offset_of_0_that_was_committed_counts(admin: AdminClient, broker: ConsumerBroker) -> None:
    broker.offsets["G", "T", 1] = 0
    [result] = admin.consumers.get_progress("G", "T")
    assert result.result is not None
    assert [lag.lag.messages for lag in result.result.queues] == [10, 50]


def test_brokers_before_5_1_know_nothing_of_what_is_handed_out() -> None:
    assert GroupQueueLag("G", MessageQueue("T", "a", 0), 9, 8, None, None).inflight_count is None


def test_a_group_without_offsets_has_no_queues_and_an_unknown_one_is_not_found(
    admin: AdminClient, broker: ConsumerBroker
) -> None:
    broker.configs["Idle"] = {}
    [result] = admin.consumers.get_progress("Idle")
    assert result.result is not None
    assert result.result.queues == ()
    with pytest.raises(NotFound):
        admin.consumers.get_progress("X")


def test_a_dead_broker_hides_nothing(
    admin: AdminClient, first_server: FakeNameServer, broker: ConsumerBroker
) -> None:
    dead = f"127.0.0.1:{closed_port()}"
    first_server.clusters = {"C": {"a": {0: broker.addr}, "b": {0: dead}}, "D": {"d": {0: dead}}}
    progress, silent = admin.consumers.get_progress("G", cluster_name="C")
    assert (progress.error, silent.result) == (None, None)
    groups, errors = admin.consumers.get_all_progress("C")
    assert [(item.group, item.lag, item.error) for item in groups] == [("G", 10, None)]
    assert [error is None for error in errors.values()] == [True, False]


def test_all_groups_are_those_that_brokers_know(admin: AdminClient, broker: ConsumerBroker) -> None:
    broker.configs.update({"Idle": {}, "TOOLS_CONSUMER": {}})
    broker.clients = {"Idle": ["c1"]}
    (g, idle), errors = admin.consumers.get_all_progress()
    assert (g.group, g.consume_tps, g.lag, g.inflight_total) == ("G", 1.5, 10, 2)
    assert (idle.lag, [client.client_id for client in idle.connections.clients]) == (None, ["c1"])
    assert (g.lag_reason, idle.lag_reason) == (
        "no consumer offset on 1 of 2 queues",
        "no consumer offset",
    )
    assert errors == {broker.addr: None}
    assert len(admin.consumers.get_all_progress(include_system=True)[0]) == 3


def test_the_progress_of_one_group_is_its_item_among_all(admin: AdminClient, broker: ConsumerBroker) -> None:
    broker.clients = {"G": ["c1"]}
    [among_all], _ = admin.consumers.get_all_progress()
    alone = admin.consumers.get_group_progress("G")
    assert (alone, among_all.is_paused, among_all.lag) == (among_all._replace(is_paused=None), False, 10)
    with pytest.raises(NotFound):
        admin.consumers.get_group_progress("X")


def test_the_count_of_a_group_is_that_of_its_clients(admin: AdminClient, broker: ConsumerBroker) -> None:
    broker.clients = {"G": ["c1", "c2"]}
    [group], _ = admin.consumers.get_all_progress()
    assert (group.count, group._replace(error=RocketMQError("x")).count) == (2, 2)
    silent = group._replace(connections=group.connections._replace(clients=()))
    assert (silent.count, silent._replace(error=RocketMQError("x")).count) == (0, None)


def test_a_group_that_a_broker_cannot_tell_of_has_no_sums(admin: AdminClient, broker: ConsumerBroker) -> None:
    broker.handlers[208] = refuse_with(1, "no")
    [group], _ = admin.consumers.get_all_progress()
    assert (group.consume_tps, group.lag, group.inflight_total) == (None, None, None)
    assert str(group.error) == "SYSTEM_ERROR (1): no"


def test_connections_come_from_masters_and_slaves(
    admin: AdminClient, first_server: FakeNameServer, broker: ConsumerBroker
) -> None:
    with ConsumerBroker() as slave:
        first_server.clusters = {"C": {"a": {0: broker.addr, 1: slave.addr}}}
        slave.clients = {"G": ["c1"]}
        [client] = admin.consumers.get_connections("G").clients
        assert client.broker_addrs == (slave.addr,)
        with pytest.raises(RequestError, match='no client of group "G" is connected') as caught:
            admin.consumers.get_connections("G", broker_addr=broker.addr)
    assert caught.value.code == 206


def test_a_group_nobody_is_connected_of_is_not_one_that_nobody_knows(admin: AdminClient) -> None:
    with pytest.raises(RequestError):
        admin.consumers.get_connections("G")
    with pytest.raises(NotFound):
        admin.consumers.get_connections("X")


def test_all_groups_of_a_broker_by_topic(admin: AdminClient, broker: ConsumerBroker) -> None:
    broker.configs["A"] = {}
    broker.offsets["A", "T", 1] = 40
    lags = admin.consumers.get_broker_stats(broker.addr)
    assert [(lag.group, lag.queue.queue_id, lag.lag.messages, lag.inflight_count) for lag in lags] == [
        ("A", 0, None, None),
        ("A", 1, 10, None),
        ("G", 0, 10, None),
        ("G", 1, None, None),
    ]
    broker.handlers[317] = refuse_with(1, "no")
    with pytest.raises(RequestError):
        admin.consumers.get_broker_stats(broker.addr)


def test_who_is_connected_of_all_groups(admin: AdminClient, broker: ConsumerBroker) -> None:
    broker.configs |= {"idle": {}, "TOOLS_CONSUMER": {}}
    broker.clients = {"G": ["c1"]}
    dead = f"127.0.0.1:{closed_port()}"
    online_groups, errors = admin.consumers.list_online_groups([broker.addr, dead])
    assert {
        group: [client.client_id for client in item.clients] for group, item in online_groups.items()
    } == {"G": ["c1"], "idle": []}
    assert [item.topic for item in online_groups["G"].subscriptions] == ["T"]
    unknown = admin.consumers.get_group_connections(["G", "X"], [broker.addr])
    assert [len(unknown[group].clients) for group in ("G", "X")] == [1, 0]
    members, offline = (admin.consumers.list_members(group, [broker.addr])[0] for group in "GX")
    assert [client.client_id for client in members.result or ()] == ["c1"]
    assert offline.result == ()
    assert errors[broker.addr] is None
    assert errors[dead] is not None


def test_a_broadcasting_group_has_no_lag(admin: AdminClient, broker: ConsumerBroker) -> None:
    broker.clients, broker.message_model = {"G": ["c1"]}, "BROADCASTING"
    [result] = admin.consumers.get_progress("G")
    [at_addr] = admin.consumers.get_progress_at("G", [broker.addr])
    [group], _ = admin.consumers.get_all_progress()
    stats = admin.consumers.get_broker_stats(broker.addr)
    for consume_stats in (result.result, at_addr.result):
        assert consume_stats is not None
        assert [lag.lag for lag in consume_stats.queues] == [Lag(None, BROADCASTS)] * 2
    assert [lag.lag.messages for lag in stats] == [None, None]
    assert (group.lag, group.lag_reason) == (None, BROADCASTS)
