"""Finds the risks of a rebalance plan, which the operator should check before it is run. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from nsadmin.console.phrases import abbreviate_names, count_noun
from nsadmin.operations.rebalance.rebalance_plan import QueuePair, RebalancePlan

ORDERED_RISK = "ordered topics, which `rebalance run` moves only with --ordered"
_KEPT_BECAUSE = {
    None: "because of --max-topics or --max-share",
    "static": "static, see `nsadmin remappingStaticTopic --help`",
    "lite": "of the type LITE",
    "closed": "not rw- on all brokers; let consumers read it before the broker stops",
    "not selected": "not selected by --topics",
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
        ORDERED_RISK: [topic for topic, planned in moved.items() if planned.is_ordered],
        "topics with an order configuration, which `rebalance run` changes on every name server": [
            topic for topic, planned in moved.items() if planned.order_conf is not None
        ],
        "topics of transactions (let the old brokers run until open ones are decided)": [
            topic for topic, planned in moved.items() if planned.message_type == "TRANSACTION"
        ],
        "topics of delayed messages (let the old brokers run until they have delivered theirs)": [
            topic for topic, planned in moved.items() if planned.message_type == "DELAY"
        ],
    }
    kinds |= {
        f"consumer groups that {broker} lacks and `rebalance run` creates": [*groups]
        for broker, groups in sorted(plan.groups_to_create.items())
    }
    risks = (f"{text}: {len(names)} ({_list_first(names)})" for text, names in kinds.items() if names)
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
        names = _list_first(topics)
        yield f"{removed_names} keeps {count_noun(len(topics), 'topic')} ({names}): {_KEPT_BECAUSE[reason]}"
    if plan.removed:
        yield f"{removed_names} keeps its retry and dead-letter topics: replay dead letters before it stops"


def _list_first(names: Iterable[str]) -> str:
    return abbreviate_names(sorted(names), 3)
