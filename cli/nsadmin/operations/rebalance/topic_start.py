"""The beginning of a topic's move: whether it is as the plan expects, and its stages. Pure."""

from collections.abc import Mapping

from nsadmin.console.phrases import count_noun
from nsadmin.operations.rebalance.move_stages import MoveStage, list_move_stages
from nsadmin.operations.rebalance.order_generations import list_ordered_stages
from nsadmin.operations.rebalance.rebalance_plan import NO_QUEUES, QueuePair, RebalanceMove
from nsadmin.operations.rebalance.run_facts import MovingTopicFacts


def find_stages(
    move: RebalanceMove,
    facts: MovingTopicFacts,
    conf_before: str | None,
    *,
    allow_ordered: bool,
    is_rollback: bool,
    was_moved: bool,
) -> tuple[MoveStage, ...] | str:
    """Return the stages of a topic, or the reason why it cannot begin.

    A topic that goes back begins wherever it is, unless its move was complete (`was_moved`). It gets
    `conf_before`, its order configuration before the run.
    """
    if not is_rollback or was_moved:
        expected = move.after if is_rollback else move.before
        difference = describe_difference(move.topic, expected, facts.queues_now)
        if difference is not None:
            return f"{difference}: another change is in the way; undo it, and run the command again"
    target = move.before if is_rollback else move.after
    if not move.is_ordered and not facts.conf_now:
        return list_move_stages(facts.queues_now, target)
    if not allow_ordered:
        how = "with --ordered, rebalance run moves it and keeps the sequence of every key"
        return f"{move.topic} is ordered: {how}"
    conf_after = conf_before if is_rollback else move.order_conf
    try:
        return list_ordered_stages(
            facts.queues_now, target, facts.conf_now or None, conf_after or None, {*move.before, *move.after}
        )
    except ValueError as error:
        return f"{move.topic} cannot move in order: {error}"


def describe_difference(
    topic: str, expected_by_broker: Mapping[str, QueuePair], present_by_broker: Mapping[str, QueuePair]
) -> str | None:
    """Return how a topic differs from what the plan expects; None if it does not."""
    for broker in sorted({*expected_by_broker, *present_by_broker}):
        expected_queues = expected_by_broker.get(broker, NO_QUEUES)
        present_queues = present_by_broker.get(broker, NO_QUEUES)
        if expected_queues != present_queues:
            return (
                f"{topic} has {present_queues.read} read and "
                f"{count_noun(present_queues.write, 'write queue')} on "
                f"{broker}, and the plan expects {expected_queues.read} and {expected_queues.write}"
            )
    return None
