"""Where the logical queues of a static topic come to lie."""

import pytest

from nsadmin.client.results import NotApplied
from nsadmin.client.topics.queue_mappings import BrokerQueueShare, QueueMappingItem
from nsadmin.operations.static_topics.mapping_planner import (
    MappingPlan,
    QueueMove,
    SharesByBroker,
    adopt_known_offsets,
    find_leaders,
    find_undecided,
    list_moves,
    next_block_offset,
    plan_creation,
    plan_remapping,
    set_offsets,
)

ALL = ("a", "b", "c")


def lie(plan: MappingPlan) -> dict[int, str]:
    """The broker of each queue."""
    return {
        queue: name
        for name, share in sorted(plan.shares.items())
        for queue, items in share.hosted_queues.items()
        if items[-1].bname == name
    }


def topic(total: int, *targets: str) -> MappingPlan:
    return plan_creation("T", {}, targets, ALL, total, 5000)


def settled(plan: MappingPlan) -> SharesByBroker:
    return set_offsets(plan, dict.fromkeys(find_undecided(plan), 10_000)).shares


def test_new_queues_lie_evenly_and_everybody_knows_of_them() -> None:
    plan = topic(5, "a", "b")
    assert lie(plan) == {0: "a", 2: "a", 4: "a", 1: "b", 3: "b"}
    assert [
        (name, share.own_queue_count, share.epoch, share.total_queues) for name, share in plan.shares.items()
    ] == [("a", 3, 5000, 5), ("b", 2, 5000, 5), ("c", 0, 5000, 5)]
    assert plan.shares["a"].hosted_queues[2] == (QueueMappingItem(0, 1, "a", 0),)
    assert find_leaders(plan.shares).keys() == {0, 1, 2, 3, 4}


def test_more_queues_go_to_who_has_fewest_and_leave_the_others() -> None:
    before = topic(3, "a").shares
    plan = plan_creation("T", before, ("a", "c"), ALL, 6, 1)
    assert lie(plan) == {0: "a", 1: "a", 2: "a", 3: "c", 4: "c", 5: "c"}
    assert plan.epoch == 6000
    assert list_moves(before, plan) == [
        QueueMove(queue, None, "c", at, 0) for at, queue in enumerate((3, 4, 5))
    ]


def test_no_fewer_queues_and_no_change_for_the_same() -> None:
    before = topic(3, "a").shares
    with pytest.raises(
        NotApplied, match="T has 3 queues: the number of queues of a static topic cannot decrease"
    ):
        plan_creation("T", before, ("a",), ALL, 2, 1)
    assert plan_creation("T", before, ("b",), ALL, 3, 1).shares is before
    assert plan_creation("T", before, ("a",), (*ALL, "d"), 3, 1).shares["d"].total_queues == 3


def test_queues_move_as_little_as_possible() -> None:
    before = topic(6, "a", "b").shares
    plan = plan_remapping("T", before, ("b", "c"), ALL, 1)
    assert lie(plan) == {1: "b", 3: "b", 5: "b", 0: "c", 2: "c", 4: "c"}
    assert (plan.map_in, plan.map_out, plan.epoch) == (("c",), ("a",), 6000)
    part = QueueMappingItem(1, 0, "c", -1)
    assert (
        plan.shares["c"].hosted_queues[0]
        == plan.shares["a"].hosted_queues[0]
        == (QueueMappingItem(0, 0, "a", 0), part)
    )
    assert (plan.shares["c"].own_queue_count, plan.shares["a"].own_queue_count) == (3, 3)
    assert list_moves(before, plan)[0] == QueueMove(0, "a", "c", 0, -1)
    assert plan_remapping("T", settled(plan), ("c", "b"), ALL, 1).mapping_type == "REMAPPING"
    assert plan_remapping("T", settled(plan), ("c", "b"), ALL, 1).map_in == ()


def test_who_has_most_keeps_one_more() -> None:
    plan = plan_remapping("T", topic(5, "b").shares, ("a", "b"), ALL, 1)
    assert lie(plan) == {0: "b", 1: "b", 2: "b", 3: "a", 4: "a"}


def test_where_queues_go_on() -> None:
    old = QueueMappingItem(0, 0, "a", 10_000, 0)
    assert [next_block_offset(old, end) for end in (0, 4_999, 5_000, 10_000)] == [
        20_000,
        20_000,
        30_000,
        30_000,
    ]
    with pytest.raises(NotApplied, match="ends at 3, before 5"):
        next_block_offset(old._replace(start_offset=5), 3)
    plan = plan_remapping("T", topic(2, "a").shares, ("b",), ALL, 1)
    assert find_undecided(plan).keys() == {0, 1}
    fixed = set_offsets(plan, {0: 10_000})
    assert (
        fixed.shares["a"].hosted_queues[0][-1].logic_offset
        == fixed.shares["b"].hosted_queues[0][-1].logic_offset
        == 10_000
    )
    assert find_undecided(fixed).keys() == {1}


def test_what_a_stopped_run_had_decided_is_taken_over() -> None:
    plan = plan_remapping("T", topic(2, "a").shares, ("b",), ALL, 1)
    live = {"b": set_offsets(plan, {1: 20_000}).shares["b"]}
    assert find_undecided(adopt_known_offsets(plan, live)).keys() == {0}
    of_another = {"b": live["b"]._replace(epoch=1)}
    assert adopt_known_offsets(plan, of_another) == plan


def damaged(shares: SharesByBroker, name: str, share: BrokerQueueShare) -> SharesByBroker:
    return {**shares, name: share}


def test_mappings_that_are_not_clear() -> None:
    shares = topic(2, "a", "b").shares
    a, b = shares["a"], shares["b"]
    for broken, text in (
        (damaged(shares, "b", b._replace(epoch=7)), r"brokers have different mappings \(a: epoch 5000"),
        (damaged(shares, "b", b._replace(hosted_queues={})), "no broker accepts writes for queue 1"),
        (
            damaged(shares, "b", b._replace(hosted_queues={0: (QueueMappingItem(0, 0, "b", 0),)})),
            "queue 0 is writable on a and on b",
        ),
        (
            damaged(shares, "a", a._replace(hosted_queues={0: (QueueMappingItem(0, 0, "a", -1),)})),
            "queue 0 is being moved",
        ),
        (
            damaged(
                topic(2, "a").shares,
                "a",
                a._replace(hosted_queues=dict.fromkeys((0, 1), (QueueMappingItem(0, 0, "a", 0),))),
            ),
            "two logical queues use the same queue of a broker",
        ),
    ):
        with pytest.raises(NotApplied, match=text):
            find_leaders(broken)
