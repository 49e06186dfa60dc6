"""The beginning of a topic's move."""

import pytest

from nsadmin.operations.rebalance.move_stages import MoveStage
from nsadmin.operations.rebalance.rebalance_plan import QueuePair, RebalanceMove
from nsadmin.operations.rebalance.run_facts import MovingTopicFacts, TopicAtServer, TopicOnBroker
from nsadmin.operations.rebalance.topic_start import describe_difference, find_stages

OLD, NEW = {"a": QueuePair(4, 4)}, {"b": QueuePair(4, 4)}
MOVE = RebalanceMove("orders", False, OLD, NEW)


def find(
    move: RebalanceMove,
    present: dict[str, QueuePair],
    conf: str = "",
    *,
    allow_ordered: bool = False,
    is_rollback: bool = False,
    was_moved: bool = False,
) -> tuple[MoveStage, ...] | str:
    on_brokers = {b: TopicOnBroker(None, b in present, present.get(b, QueuePair(0, 0)), 6) for b in "ab"}
    facts = MovingTopicFacts(on_brokers, {"ns": TopicAtServer(None, {}, conf)})
    return find_stages(
        move, facts, None, allow_ordered=allow_ordered, is_rollback=is_rollback, was_moved=was_moved
    )


def test_a_topic_as_planned_gets_its_stages() -> None:
    stages = find(MOVE, OLD)
    assert next(stage.kind for stage in stages if not isinstance(stage, str)) == "openReads"


def test_a_rollback_begins_wherever_the_topic_is() -> None:
    halfway = {"a": QueuePair(4, 0), "b": QueuePair(4, 4)}
    stages = find(MOVE, halfway, is_rollback=True)
    assert [stage.kind for stage in stages if not isinstance(stage, str)] == [
        "openWrites", "closeWrites", "closeReads", "deleteTopic",
    ]  # fmt: skip


def test_a_rollback_of_a_complete_move_needs_the_state_after_it() -> None:
    text = (
        "orders has 4 read and 4 write queues on a, and the plan expects 0 and 0: another change is in the "
        "way; undo it, and run the command again"
    )
    assert find(MOVE, OLD, is_rollback=True, was_moved=True) == text


@pytest.mark.parametrize(
    ("move", "conf"),
    [(MOVE._replace(ordered=True), ""), (MOVE._replace(order_conf="b:4"), ""), (MOVE, "a:4")],
    ids=["flag", "configuration after", "configuration now"],
)
def test_an_ordered_topic_needs_the_option(move: RebalanceMove, conf: str) -> None:
    assert isinstance(find(move, OLD, conf), str)
    stages = find(move, OLD, conf, allow_ordered=True)
    assert "switchOrder" in [stage.kind for stage in stages if not isinstance(stage, str)]


def test_an_ordered_topic_without_a_way_says_why() -> None:
    move = RebalanceMove("orders", True, OLD, {"a": QueuePair(8, 8)})
    assert find(move, OLD, allow_ordered=True) == (
        "orders cannot move in order: all queues are on one broker, and their number changes: add queues on "
        "a second broker, or do not move this topic"
    )


def test_an_absent_topic_is_like_one_without_queues() -> None:
    assert describe_difference("orders", OLD, {**OLD, "b": QueuePair(0, 0)}) is None
