"""Where the logical queues of a static topic come to lie."""

import pytest

from nsadmin.client.mappings import Item, Share
from nsadmin.client.results import NotApplied
from nsadmin.operations.static_topics.planning import (
    Move,
    Plan,
    Shares,
    adopted,
    continued,
    created,
    decided,
    leaders,
    moves,
    remapped,
    undecided,
)

ALL = ("a", "b", "c")


def lie(plan: Plan) -> dict[int, str]:
    """The broker of each queue."""
    return {
        queue: name
        for name, share in sorted(plan.shares.items())
        for queue, items in share.hosted.items()
        if items[-1].bname == name
    }


def topic(total: int, *targets: str) -> Plan:
    return created("T", {}, targets, ALL, total, 5000)


def settled(plan: Plan) -> Shares:
    return decided(plan, dict.fromkeys(undecided(plan), 10_000)).shares


def test_new_queues_lie_evenly_and_everybody_knows_of_them() -> None:
    plan = topic(5, "a", "b")
    assert lie(plan) == {0: "a", 2: "a", 4: "a", 1: "b", 3: "b"}
    assert [(name, share.queues, share.epoch, share.total) for name, share in plan.shares.items()] == [
        ("a", 3, 5000, 5),
        ("b", 2, 5000, 5),
        ("c", 0, 5000, 5),
    ]
    assert plan.shares["a"].hosted[2] == (Item(0, 1, "a", 0),)
    assert leaders(plan.shares).keys() == {0, 1, 2, 3, 4}


def test_more_queues_go_to_who_has_fewest_and_leave_the_others() -> None:
    before = topic(3, "a").shares
    plan = created("T", before, ("a", "c"), ALL, 6, 1)
    assert lie(plan) == {0: "a", 1: "a", 2: "a", 3: "c", 4: "c", 5: "c"}
    assert plan.epoch == 6000
    assert moves(before, plan) == [Move(queue, None, "c", at, 0) for at, queue in enumerate((3, 4, 5))]


def test_no_fewer_queues_and_no_change_for_the_same() -> None:
    before = topic(3, "a").shares
    with pytest.raises(NotApplied, match="T has 3 queues: a static topic cannot have fewer"):
        created("T", before, ("a",), ALL, 2, 1)
    assert created("T", before, ("b",), ALL, 3, 1).shares is before
    assert created("T", before, ("a",), (*ALL, "d"), 3, 1).shares["d"].total == 3


def test_queues_move_as_little_as_possible() -> None:
    before = topic(6, "a", "b").shares
    plan = remapped("T", before, ("b", "c"), ALL, 1)
    assert lie(plan) == {1: "b", 3: "b", 5: "b", 0: "c", 2: "c", 4: "c"}
    assert (plan.map_in, plan.map_out, plan.epoch) == (("c",), ("a",), 6000)
    part = Item(1, 0, "c", -1)
    assert plan.shares["c"].hosted[0] == plan.shares["a"].hosted[0] == (Item(0, 0, "a", 0), part)
    assert (plan.shares["c"].queues, plan.shares["a"].queues) == (3, 3)
    assert moves(before, plan)[0] == Move(0, "a", "c", 0, -1)
    assert remapped("T", settled(plan), ("c", "b"), ALL, 1).kind == "REMAPPING"
    assert remapped("T", settled(plan), ("c", "b"), ALL, 1).map_in == ()


def test_who_has_most_keeps_one_more() -> None:
    plan = remapped("T", topic(5, "b").shares, ("a", "b"), ALL, 1)
    assert lie(plan) == {0: "b", 1: "b", 2: "b", 3: "a", 4: "a"}


def test_where_queues_go_on() -> None:
    old = Item(0, 0, "a", 10_000, 0)
    assert [continued(old, end) for end in (0, 4_999, 5_000, 10_000)] == [20_000, 20_000, 30_000, 30_000]
    with pytest.raises(NotApplied, match="ends at 3, before 5"):
        continued(old._replace(start_offset=5), 3)
    plan = remapped("T", topic(2, "a").shares, ("b",), ALL, 1)
    assert undecided(plan).keys() == {0, 1}
    fixed = decided(plan, {0: 10_000})
    assert (
        fixed.shares["a"].hosted[0][-1].logic_offset == fixed.shares["b"].hosted[0][-1].logic_offset == 10_000
    )
    assert undecided(fixed).keys() == {1}


def test_what_a_stopped_run_had_decided_is_taken_over() -> None:
    plan = remapped("T", topic(2, "a").shares, ("b",), ALL, 1)
    live = {"b": decided(plan, {1: 20_000}).shares["b"]}
    assert undecided(adopted(plan, live)).keys() == {0}
    of_another = {"b": live["b"]._replace(epoch=1)}
    assert adopted(plan, of_another) == plan


def damaged(shares: Shares, name: str, share: Share) -> Shares:
    return {**shares, name: share}


def test_mappings_that_are_not_clear() -> None:
    shares = topic(2, "a", "b").shares
    a, b = shares["a"], shares["b"]
    for broken, text in (
        (damaged(shares, "b", b._replace(epoch=7)), r"brokers have different mappings \(a: epoch 5000"),
        (damaged(shares, "b", b._replace(hosted={})), "nobody takes what is written to queue 1"),
        (
            damaged(shares, "b", b._replace(hosted={0: (Item(0, 0, "b", 0),)})),
            "queue 0 is written on a and on b",
        ),
        (damaged(shares, "a", a._replace(hosted={0: (Item(0, 0, "a", -1),)})), "queue 0 is being moved"),
        (
            damaged(
                topic(2, "a").shares, "a", a._replace(hosted=dict.fromkeys((0, 1), (Item(0, 0, "a", 0),)))
            ),
            "two logical queues have the same queue of a broker",
        ),
    ):
        with pytest.raises(NotApplied, match=text):
            leaders(broken)
