"""The generations of an ordered topic's queues: which may follow which, and the stages between them."""

import pytest

from nsadmin.operations.rebalance.order_generations import (
    NoOrderedPathError,
    can_follow,
    find_generations,
    format_generation,
    generation_of_conf,
    generation_of_counts,
    list_ordered_stages,
)
from nsadmin.operations.rebalance.rebalance_plan import QueuePair


def even(**counts: int) -> dict[str, QueuePair]:
    return {broker: QueuePair(count, count) for broker, count in counts.items()}


@pytest.mark.parametrize(
    ("previous", "following", "allowed"),
    [
        ("a:4;b:4", "c:3", True),
        ("a:4;b:4", "a:8", True),
        ("a:4;b:4", "b:8", False),
        ("a:4;b:4", "a:4;b:4;c:4", False),
        ("a:12", "a:4;b:4;c:4", True),
        ("a:4;b:4", "a:5;b:3", False),
    ],
)
def test_a_shared_queue_must_have_the_same_keys_in_both(previous: str, following: str, allowed: bool) -> None:
    generations = generation_of_conf(previous), generation_of_conf(following)
    assert can_follow(*generations) is allowed
    counts = [sum(count for _, count in generation) for generation in generations]
    queues = [
        [(broker, at) for broker, count in generation for at in range(count)] for generation in generations
    ]
    shared = set(queues[0]) & set(queues[1])
    keeps_keys = all(
        (queues[0][key % counts[0]] == queue) == (queues[1][key % counts[1]] == queue)
        for key in range(counts[0] * counts[1])
        for queue in shared
    )
    assert keeps_keys is allowed


def test_the_way_to_a_third_broker_leads_over_two_single_brokers() -> None:
    path = find_generations(generation_of_conf("a:4;b:4"), generation_of_conf("a:4;b:4;c:4"))
    assert [format_generation(generation) for generation in path] == [
        "a:4;b:4", "c:8", "a:12", "a:4;b:4;c:4",
    ]  # fmt: skip


def test_one_broker_alone_has_no_way_to_another_number_of_queues() -> None:
    with pytest.raises(NoOrderedPathError, match="all queues are on one broker"):
        find_generations((("a", 4),), (("a", 8),))


def test_producers_number_queues_in_the_order_of_broker_names() -> None:
    counts = {"b": QueuePair(4, 2), "a": QueuePair(1, 1), "c": QueuePair(3, 0)}
    assert generation_of_counts(counts) == (("a", 1), ("b", 2))


def test_next_queues_are_not_readable_before_the_previous_ones_are_consumed() -> None:
    stages = list_ordered_stages(even(a=4), even(b=2))
    assert [(stage.kind, stage.order_conf) for stage in stages] == [
        ("pinOrder", "a:4"), ("addQueues", "a:4"), ("switchOrder", "b:2"), ("readOn", "b:2"),
        ("unpinOrder", ""), ("deleteTopic", ""),
    ]  # fmt: skip
    assert stages[1].counts == stages[2].counts == {"a": QueuePair(4, 4), "b": QueuePair(0, 2)}
    assert stages[2].closing_queues == {"a": range(4)}
    assert stages[3].counts == {"a": QueuePair(0, 0), "b": QueuePair(2, 2)}


def test_an_order_configuration_stays_and_names_the_new_queues() -> None:
    stages = list_ordered_stages(even(a=4), even(b=4), "a:4", "b:4")
    assert [(stage.kind, stage.order_conf) for stage in stages] == [
        ("addQueues", "a:4"), ("switchOrder", "b:4"), ("readOn", "b:4"), ("deleteTopic", "b:4"),
    ]  # fmt: skip


def test_queues_outside_the_order_configuration_are_consumed_first() -> None:
    stages = list_ordered_stages({"a": QueuePair(8, 4)}, even(a=4, b=4), "a:4", "a:4;b:4")
    assert [stage.kind for stage in stages[:2]] == ["closeWrites", "closeReads"]
    assert stages[0].closing_queues == {"a": range(4, 8)}


def test_queues_that_nobody_reads_stop_the_move() -> None:
    with pytest.raises(NoOrderedPathError, match="consumers do not read"):
        list_ordered_stages({"a": QueuePair(2, 4)}, even(b=4))


def test_an_ordered_topic_that_is_where_it_should_be_has_no_stages() -> None:
    assert list_ordered_stages(even(a=4), even(a=4)) == ()
