"""The limits of a rebalance run, and the guards that pause it. Pure."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from nsadmin.console.phrases import count_noun
from nsadmin.operations.rebalance.run_facts import BrokerHealth, MovingTopicFacts


class RunRules(NamedTuple):
    """How a rebalance runs.

    Attributes:
        settle_ms: How long clients may need to refresh their routes.
        quiet_checks: How many checks in a row must find no new message in queues that are closed to writes.
        max_topics: How many topics may move at once.
        max_share: The largest part (0 to 1) of the cluster's write queues whose topics may move at once.
        timeout_ms: How long a stage of a topic may take before the run pauses; None for no limit.
        ignored_groups: Groups whose unconsumed messages may become unreadable.
        allow_ordered: Whether ordered topics may move.
        max_lag: The unconsumed messages of a group on a moving topic at which the run pauses; None: no limit.
        max_disk: The disk use (0 to 1) of a broker that gets queues at which the run pauses.
        max_failed_puts: The failed puts of a broker in one minute at which the run pauses.
    """

    settle_ms: int = 60_000
    quiet_checks: int = 2
    max_topics: int = 10
    max_share: float = 0.2
    timeout_ms: int | None = None
    ignored_groups: frozenset[str] = frozenset()
    allow_ordered: bool = False
    max_lag: int | None = None
    max_disk: float = 0.85
    max_failed_puts: int = 60


def find_exceeded_limits(
    rules: RunRules,
    topics: Mapping[str, MovingTopicFacts],
    health: Mapping[str, BrokerHealth],
    earlier_health: Mapping[str, BrokerHealth],
    elapsed_ms: int,
) -> Iterator[str]:
    """Yield a text for each exceeded limit. `earlier_health` is `elapsed_ms` older than `health`."""
    for topic, topic_facts in sorted(topics.items()):
        for group, lag in sorted(topic_facts.group_lags.items()):
            is_watched = rules.max_lag is not None and group not in rules.ignored_groups
            if is_watched and lag.total is not None and lag.total > (rules.max_lag or 0):
                yield (
                    f"group {group} has {count_noun(lag.total, 'unconsumed message')} of {topic}, "
                    f"more than --max-lag {rules.max_lag}"
                )
    for broker, broker_health in sorted(health.items()):
        if broker_health.disk_ratio is not None and broker_health.disk_ratio > rules.max_disk:
            yield (
                f"{broker} uses {broker_health.disk_ratio:.0%} of its disk, more than --max-disk "
                f"{rules.max_disk:.0%}"
            )
        failed_count = _count_failed_puts(earlier_health.get(broker), broker_health)
        if failed_count * 60_000 > rules.max_failed_puts * max(elapsed_ms, 60_000):
            yield (
                f"{broker} failed to store {count_noun(failed_count, 'message')} in "
                f"{max(1, elapsed_ms // 1000)} s, "
                f"more than --max-send-errors {rules.max_failed_puts} per minute"
            )


def _count_failed_puts(previous_health: BrokerHealth | None, later_health: BrokerHealth) -> int:
    if previous_health is None or previous_health.failed_puts is None or later_health.failed_puts is None:
        return 0
    # A restarted broker counts from 0.
    return max(0, later_health.failed_puts - previous_health.failed_puts)
