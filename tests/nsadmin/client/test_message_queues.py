"""Tables keyed by queues."""

import pytest

from namesrv_core.protocol.object_keys import decode_object_keys
from nsadmin.client.connection.json_object import JsonObject
from nsadmin.client.message_queues import (
    MessageQueue,
    allocate_averagely,
    list_readable_queues,
    parse_queue_table,
)
from nsadmin.client.topic_routes import QueueRoute, TopicRoute


def test_a_table_is_in_the_order_of_topic_broker_and_number() -> None:
    keys = [("T", "b", 0), ("T", "a", 10), ("T", "a", 2), ("S", "z", 1)]
    body = ",".join(
        f'{{"topic":"{topic}","brokerName":"{name}","queueId":{n}}}:{{"n":{n}}}' for topic, name, n in keys
    )
    table = parse_queue_table(decode_object_keys(f"{{{body}}}".encode()), JsonObject)
    assert list(table) == sorted(keys) == [("S", "z", 1), ("T", "a", 2), ("T", "a", 10), ("T", "b", 0)]
    assert table[MessageQueue("T", "a", 10)].members == {"n": 10}


@pytest.mark.parametrize("nothing", [None, {}, []])
def test_an_empty_table(nothing: object) -> None:
    assert parse_queue_table(nothing, JsonObject) == {}


@pytest.mark.parametrize("odd", [{"a": 1}, [1], [[{"topic": "T"}, {}]], 7])
def test_what_is_no_such_table(odd: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        parse_queue_table(odd, JsonObject)


def java(size: int, clients: int, index: int) -> list[int]:
    """The queues of one client, by the lines of the Java class."""
    mod = size % clients
    average = 1 if size <= clients else size // clients + 1 if mod > 0 and index < mod else size // clients
    start = index * average if mod > 0 and index < mod else index * average + mod
    return [(start + at) % size for at in range(min(average, size - start))]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 8, 16])
@pytest.mark.parametrize("clients", [1, 2, 3, 4, 5, 8, 17])
def test_shares_are_those_of_java(size: int, clients: int) -> None:
    queues = [MessageQueue("T", "b", number) for number in range(size)]
    names = [f"c{number:02}" for number in range(clients)]
    shares = allocate_averagely(queues, names[::-1])
    assert list(shares) == names
    for index, name in enumerate(names):
        assert [queue.queue_id for queue in shares[name]] == java(size, clients, index)


def test_only_readable_queues_are_shared_and_they_are_sorted() -> None:
    route = TopicRoute(
        (
            QueueRoute("b", "C", {}, 4, 1, 9, 0),
            QueueRoute("a", "C", {}, 6, 2, 2, 0),
            QueueRoute("c", "C", {}, 2, 4, 4, 0),
            QueueRoute("d", "C", {}, None, None, None, None),
        ),
        None,
    )
    assert list_readable_queues("T", route) == [("T", "a", 0), ("T", "a", 1), ("T", "b", 0)]
