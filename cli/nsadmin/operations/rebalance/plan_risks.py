"""Finds the risks of a rebalance plan, which the operator should check before it is run. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from nsadmin.operations.rebalance.rebalance_plan import QueuePair, RebalancePlan

_MAX_SHOWN = 3
_FIXED_REMEDIES = {
    "static": "static topics, which nsadmin remappingStaticTopic moves",
    "lite": "lite topics",
    "closed": "topics without read and write permission on every broker",
    "not selected": "topics that --topics does not select",
}


class PlannedTopic(NamedTuple):
    """A topic of users in a plan: its queues by broker, and its kind.

    `fixed_reason` says why its queues stay: "static", "lite", "closed" or "not selected"; None if they may
    move.
    """

    queues: Mapping[str, QueuePair]
    is_ordered: bool = False
    order_conf: str | None = None
    message_type: str = ""
    perm: int = 6
    fixed_reason: str | None = None

    @property
    def queue_total(self) -> int:
        """The write queues on all brokers."""
        return sum(counts.write for counts in self.queues.values())


def find_risks(
    plan: RebalancePlan, planned_topics: Mapping[str, PlannedTopic], left_topics: Iterable[str]
) -> tuple[str, ...]:
    """One line for each risk."""
    moved = {move.topic: planned_topics[move.topic] for move in plan.moves}
    kinds = {
        "ordered topics, which run moves only with --ordered": [
            topic for topic, planned in moved.items() if planned.is_ordered
        ],
        "topics with an order configuration, which run changes on every name server": [
            topic for topic, planned in moved.items() if planned.order_conf is not None
        ],
        "topics of transactions, which the old brokers check until they end": [
            topic for topic, planned in moved.items() if planned.message_type == "TRANSACTION"
        ],
        "topics of delayed messages, which the old brokers still deliver": [
            topic for topic, planned in moved.items() if planned.message_type == "DELAY"
        ],
    }
    risks = [f"{text}: {len(topics)} ({_shorten_list(topics)})" for text, topics in kinds.items() if topics]
    risks += [
        f"consumer groups that {broker} lacks and run creates: {len(groups)} ({_shorten_list(groups)})"
        for broker, groups in sorted(plan.groups_to_create.items())
    ]
    return (*risks, *_find_left_risks(plan, planned_topics, left_topics))


def _find_left_risks(
    plan: RebalancePlan, planned_topics: Mapping[str, PlannedTopic], left_topics: Iterable[str]
) -> Iterator[str]:
    """The risks of topics that stay on brokers that should be empty."""
    left_by_reason: dict[str | None, list[str]] = {}
    for topic in left_topics:
        left_by_reason.setdefault(planned_topics[topic].fixed_reason, []).append(topic)
    removed_names = ", ".join(plan.removed)
    for reason, topics in sorted(left_by_reason.items(), key=lambda item: item[0] or ""):
        remedy = "topics beyond --max-topics or --max-share" if reason is None else _FIXED_REMEDIES[reason]
        yield f"{removed_names} keeps {remedy}: {len(topics)} ({_shorten_list(topics)})"
    if plan.removed:
        yield f"{removed_names} keeps its retry and dead-letter topics: replay dead letters before it stops"


def _shorten_list(names: Iterable[str]) -> str:
    sorted_names = sorted(names)
    shown_names = ", ".join(sorted_names[:_MAX_SHOWN])
    return shown_names if len(sorted_names) <= _MAX_SHOWN else f"{shown_names}, ..."
