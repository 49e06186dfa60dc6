"""The beginning of a topic's move."""

import pytest

from nsadmin.operations.rebalance.rebalance_plan import QueuePair, RebalanceMove
from nsadmin.operations.rebalance.run_facts import MovingTopicFacts, TopicAtServer, TopicOnBroker
from nsadmin.operations.rebalance.topic_start import TopicStart, describe_difference, find_stages

OLD, NEW = {"a": QueuePair(4, 4)}, {"b": QueuePair(4, 4)}
MOVE = RebalanceMove("orders", False, OLD, NEW)


def make_start(
    move: RebalanceMove, present: dict[str, QueuePair], conf: str = "", rollback: bool = False
) -> TopicStart:
    on_brokers = {b: TopicOnBroker(None, b in present, present.get(b, QueuePair(0, 0)), 6) for b in "ab"}
    facts = MovingTopicFacts(on_brokers, {"ns": TopicAtServer(None, {}, conf)})
    return TopicStart(move, facts, rollback, None)


def test_a_topic_as_planned_gets_its_stages() -> None:
    stages = find_stages(make_start(MOVE, OLD), False, was_moved=False)
    assert next(stage.kind for stage in stages if not isinstance(stage, str)) == "openReads"


def test_a_rollback_begins_wherever_the_topic_is() -> None:
    halfway = {"a": QueuePair(4, 0), "b": QueuePair(4, 4)}
    stages = find_stages(make_start(MOVE, halfway, rollback=True), False, was_moved=False)
    assert [stage.kind for stage in stages if not isinstance(stage, str)] == [
        "openWrites", "closeWrites", "closeReads", "deleteTopic",
    ]  # fmt: skip


def test_a_rollback_of_a_complete_move_needs_the_state_after_it() -> None:
    text = (
        "orders has 4 read and 4 write queues on a, and the plan expects 0 and 0: another change is in the "
        "way; undo it, and run the command again"
    )
    assert find_stages(make_start(MOVE, OLD, rollback=True), False, was_moved=True) == text


@pytest.mark.parametrize(
    ("move", "conf"),
    [(MOVE._replace(ordered=True), ""), (MOVE._replace(order_conf="b:4"), ""), (MOVE, "a:4")],
    ids=["flag", "configuration after", "configuration now"],
)
def test_an_ordered_topic_needs_the_option(move: RebalanceMove, conf: str) -> None:
    start = make_start(move, OLD, conf)
    assert isinstance(find_stages(start, False, was_moved=False), str)
    stages = find_stages(start, True, was_moved=False)
    assert "switchOrder" in [stage.kind for stage in stages if not isinstance(stage, str)]


def test_an_ordered_topic_without_a_way_says_why() -> None:
    move = RebalanceMove("orders", True, OLD, {"a": QueuePair(8, 8)})
    assert find_stages(make_start(move, OLD), True, was_moved=False) == (
        "orders cannot move in order: all queues are on one broker, and their number changes: add queues on "
        "a second broker, or do not move this topic"
    )


def test_an_absent_topic_is_like_one_without_queues() -> None:
    assert describe_difference("orders", OLD, {**OLD, "b": QueuePair(0, 0)}) is None
