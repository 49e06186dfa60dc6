"""Producers of a group and of everybody."""

from collections.abc import Iterator

import pytest

from nsadmin import AdminClient
from nsadmin.client import NotFound
from tests.support.consumer_brokers import ConsumerBroker


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
