"""Figures of consumer groups on one broker: their lag. Pure."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from nsadmin.client.consumers.committed_offsets import CommittedOffsets
from nsadmin.client.consumers.consume_stats import ConsumeStats, GroupQueueLag, measure_delay
from nsadmin.client.consumers.lag import BEYOND_END, BROADCASTS, NEVER_COMMITTED, POPS, sum_lags
from nsadmin.operations.exporter.figures import (
    GROUP_LABELS,
    FigureRow,
    MetricTable,
    ServerIdentity,
    clean_label,
)

LAG_METRICS = MetricTable(
    "groups",
    "groups",
    GROUP_LABELS,
    ("group_lag_messages", "messages", "Messages that the group has not consumed yet."),
    (
        "group_lag_seconds",
        "seconds",
        "Age of the oldest last consumed message of the queues that have a lag; 0 without a lag.",
    ),
    ("group_inflight_messages", "messages", "Pulled messages without acknowledgement (since 5.1)."),
    ("group_committed_messages", "messages", "Sum of the consumer offsets of the queues."),
    ("group_uncommitted_queues", "queues", "Queues without a consumer offset."),
)
UNKNOWN_LAG_METRICS = MetricTable(
    "groups",
    "groups",
    (*GROUP_LABELS, "reason"),
    (
        "group_unknown_lag_queues",
        "queues",
        "Queues of unknown lag. The reason is never_committed, beyond_end (the consumer offset is beyond "
        "the end), pop, or broadcasting. For pop and broadcasting, offsets do not tell the lag.",
    ),
)
_REASON_LABELS = {
    NEVER_COMMITTED: "never_committed",
    BEYOND_END: "beyond_end",
    POPS: "pop",
    BROADCASTS: "broadcasting",
}
RATE_METRICS = MetricTable(
    "groups",
    "groups",
    ("cluster", "broker", "group"),
    ("group_consumed_messages_per_second", "messages/s", "Messages consumed, as the broker counts them."),
)
QUEUE_LAG_METRICS = MetricTable(
    "queues",
    "groups",
    (*GROUP_LABELS, "queue"),
    ("group_queue_lag_messages", "messages", "With --per-queue: the lag on one queue."),
    ("group_queue_lag_seconds", "seconds", "With --per-queue: the lag on one queue as a time."),
)
GROUP_TABLES = (LAG_METRICS, UNKNOWN_LAG_METRICS, RATE_METRICS, QUEUE_LAG_METRICS)


class GroupRows(NamedTuple):
    """The rows of one group on one broker for each of GROUP_TABLES."""

    lag_rows: Sequence[FigureRow]
    unknown_rows: Sequence[FigureRow]
    rate_rows: Sequence[FigureRow]
    queue_rows: Sequence[FigureRow]


def build_group_rows(
    server: ServerIdentity,
    group: str,
    stats: ConsumeStats,
    offsets: CommittedOffsets,
    now_ms: int,
    shows_queues: bool,
    is_broadcasting: bool = False,
    is_popping: bool = False,
) -> GroupRows:
    """Build the rows of a group. A queue whose lag is unknown has none, as in consumerProgress."""
    cluster_name, broker_name, _ = server.broker_labels
    group_label = clean_label(group)
    stats = stats.clear_uncommitted(offsets)
    if is_broadcasting:
        stats = stats.mark_broadcasting({group})
    lags_by_topic: dict[str, list[GroupQueueLag]] = {}
    for queue_lag in (lag._replace(is_popping=is_popping) for lag in stats.queues):
        lags_by_topic.setdefault(queue_lag.queue.topic, []).append(queue_lag)
    lag_rows: list[FigureRow] = []
    unknown_rows: list[FigureRow] = []
    queue_rows: list[FigureRow] = []
    for topic, queue_lags in lags_by_topic.items():
        labels = (cluster_name, broker_name, group_label, clean_label(topic))
        lag_rows.append((labels, _sum_lags(queue_lags, now_ms)))
        reasons = Counter(_REASON_LABELS[lag.lag.reason] for lag in queue_lags if lag.lag.reason is not None)
        unknown_rows += [((*labels, reason), (float(count),)) for reason, count in reasons.items()]
        if shows_queues:
            queue_rows += [
                ((*labels, str(lag.queue.queue_id)), (float(lag.lag.messages), measure_delay([lag], now_ms)))
                for lag in queue_lags
                if lag.lag.messages is not None
            ]
    rate_row = ((cluster_name, broker_name, group_label), (stats.consume_tps,))
    return GroupRows(lag_rows, unknown_rows, [rate_row], queue_rows)


def _sum_lags(queue_lags: Sequence[GroupQueueLag], now_ms: int) -> tuple[float | None, ...]:
    lag_count = sum_lags(queue_lag.lag for queue_lag in queue_lags).messages
    offsets = [lag.consumer_offset for lag in queue_lags if lag.consumer_offset is not None]
    inflight_counts = [lag.inflight_count for lag in queue_lags if lag.inflight_count is not None]
    return (
        None if lag_count is None else float(lag_count),
        None if lag_count is None else measure_delay(queue_lags, now_ms),
        float(sum(inflight_counts)) if inflight_counts else None,
        float(sum(offsets)) if offsets else None,
        float(len(queue_lags) - len(offsets)),
    )
