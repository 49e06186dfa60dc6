"""The beginning of a topic's move: whether it is as the plan expects, and its stages. Pure."""

from collections.abc import Mapping
from typing import NamedTuple

from nsadmin.console.phrases import count_noun
from nsadmin.operations.rebalance.move_stages import MoveStage, list_move_stages
from nsadmin.operations.rebalance.order_generations import (
    NoOrderedPathError,
    OrderedMove,
    list_ordered_stages,
)
from nsadmin.operations.rebalance.rebalance_plan import NO_QUEUES, QueuePair, RebalanceMove
from nsadmin.operations.rebalance.run_facts import MovingTopicFacts


class TopicStart(NamedTuple):
    """A topic before its move. `conf_before` is its order configuration before the run, for a rollback."""

    move: RebalanceMove
    facts: MovingTopicFacts
    is_rollback: bool
    conf_before: str | None

    @property
    def queues_now(self) -> dict[str, QueuePair]:
        """The queues on the brokers that have the topic."""
        return {b: on.queues for b, on in sorted(self.facts.on_brokers.items()) if on.exists}

    @property
    def conf_now(self) -> str:
        """The order configuration in force, "" for none."""
        return next((server.order_conf for server in self.facts.at_servers.values() if server.order_conf), "")

    @property
    def was_ordered(self) -> bool:
        """Whether a broker has the topic marked as ordered."""
        return any(broker.is_ordered for broker in self.facts.on_brokers.values())

    @property
    def is_ordered(self) -> bool:
        """Whether the sequence of keys matters."""
        return self.move.is_ordered or bool(self.conf_now)


NEEDS_ORDERED = "is ordered: with --ordered, rebalance run moves it and keeps the sequence of every key"


def find_stages(start: TopicStart, allow_ordered: bool, *, was_moved: bool) -> tuple[MoveStage, ...] | str:
    """Return the stages of a topic, or the reason why it cannot begin.

    A topic that goes back begins wherever it is, unless its move was complete (`was_moved`).
    """
    move = start.move
    if not start.is_rollback or was_moved:
        expected = move.after if start.is_rollback else move.before
        difference = describe_difference(move.topic, expected, start.queues_now)
        if difference is not None:
            return f"{difference}: another change is in the way; undo it, and run the command again"
    if start.is_ordered and not allow_ordered:
        return f"{move.topic} {NEEDS_ORDERED}"
    target = move.before if start.is_rollback else move.after
    if not start.is_ordered:
        return list_move_stages(start.queues_now, target)
    conf_after = start.conf_before if start.is_rollback else move.order_conf
    try:
        return list_ordered_stages(
            OrderedMove(
                start.queues_now,
                target,
                start.conf_now or None,
                conf_after or None,
                tuple(sorted({*move.before, *move.after})),
            )
        )
    except (NoOrderedPathError, ValueError) as error:
        return f"{move.topic} cannot move in order: {error}"


def describe_difference(
    topic: str, expected_by_broker: Mapping[str, QueuePair], present_by_broker: Mapping[str, QueuePair]
) -> str | None:
    """Return how a topic differs from what the plan expects; None if it does not."""
    for broker in sorted({*expected_by_broker, *present_by_broker}):
        expected_queues, present_queues = (
            expected_by_broker.get(broker, NO_QUEUES),
            present_by_broker.get(broker, NO_QUEUES),
        )
        if expected_queues != present_queues:
            return (
                f"{topic} has {present_queues.read} read and "
                f"{count_noun(present_queues.write, 'write queue')} on "
                f"{broker}, and the plan expects {expected_queues.read} and {expected_queues.write}"
            )
    return None
