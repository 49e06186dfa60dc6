"""Shares of queues, against those that `AllocateMessageQueueAveragely` gives."""

import pytest

from nsadmin.client.consumers.queue_allocation import allocate_averagely, list_readable_queues
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.topic_routes import QueueRoute, TopicRoute


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
