"""Producers of a group and of everybody."""

from collections.abc import Iterator

import pytest

from namesrv_core.errors import RequestError
from nsadmin import AdminClient
from nsadmin.client import NotFound
from nsadmin.client.consumers.connected_clients import ConnectedClient
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import FakeNameServer, refuse_with


@pytest.fixture
def broker() -> Iterator[ConsumerBroker]:
    with ConsumerBroker() as running:
        running.producers = {"P": ["p1"]}
        yield running


@pytest.mark.parametrize("topic", [None, "T"])
def test_who_of_a_group_is_connected(admin: AdminClient, broker: ConsumerBroker, topic: str | None) -> None:
    connections = admin.producers.get_connections("P", topic)
    assert [client.client_id for client in connections.clients] == ["p1"]
    assert connections.errors == {broker.addr: None}


def test_a_group_that_nobody_is_of(admin: AdminClient) -> None:
    with pytest.raises(NotFound, match='no client of the producer group "X" is connected'):
        admin.producers.get_connections("X")


def test_everybody_is_told_by_each_broker(admin: AdminClient, broker: ConsumerBroker) -> None:
    for listing in (admin.producers.list_all_producers(), admin.producers.list_all_producers(broker.addr)):
        assert [[client.producer_group for client in item.result or ()] for item in listing] == [["P"]]


def test_everybody_of_some_brokers(admin: AdminClient, broker: ConsumerBroker) -> None:
    [result] = admin.producers.list_producers([broker.addr])
    assert [client.client_id for client in result.result or ()] == ["p1"]


def test_producers_are_merged_and_unknown_groups_are_no_failure(
    admin: AdminClient, first_server: FakeNameServer, broker: ConsumerBroker
) -> None:
    with ConsumerBroker() as two:
        first_server.clusters = {"C": {"broker-a": {0: broker.addr}, "broker-b": {0: two.addr}}}
        clients, errors = admin.producers.get_connections("P")
        assert clients == (ConnectedClient("p1", "10.0.0.1:5", "JAVA", "V5_5_0", (broker.addr,), "remoting"),)
        assert errors == {broker.addr: None, two.addr: None}
        two.handlers[204] = refuse_with(1, "other")
        assert str(admin.producers.get_connections("P").errors[two.addr]) == "SYSTEM_ERROR (1): other"


def test_all_producers_of_each_broker(admin: AdminClient, broker: ConsumerBroker) -> None:
    with ConsumerBroker() as old:
        broker.producers = {"P": ["p2", "p1"]}
        old.handlers.pop(328)
        first_result, not_told = admin.producers.list_producers([broker.addr, old.addr])
    assert first_result.result is not None
    assert [
        (item.client_id, item.client_addr, item.version, item.last_heartbeat_ms)
        for item in first_result.result
    ] == [("p1", "10.0.0.1:5", "V4_9_7", 1000), ("p2", "10.0.0.1:5", "V4_9_7", 1000)]
    assert isinstance(not_told.error, RequestError)
