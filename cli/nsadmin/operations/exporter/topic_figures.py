"""Figures of topics on one broker, from the offsets of their queues. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from namesrv_core.protocol.resource_names import DLQ_PREFIX
from nsadmin.client.topics.topic_stats import TopicStats
from nsadmin.operations.exporter.figures import (
    TOPIC_LABELS,
    FigureRow,
    MetricTable,
    ServerIdentity,
    clean_label,
)

TOPIC_METRICS = MetricTable(
    "topics",
    "topics",
    TOPIC_LABELS,
    ("topic_put_messages_total", "messages", "Sum of the ends of all queues: messages ever stored."),
    ("topic_stored_messages", "messages", "Messages from the begin to the end of all queues."),
    ("topic_last_message_time_seconds", "seconds since 1970", "Store time of the newest message."),
    ("topic_put_messages_per_second", "messages/s", "Messages received (since 5.3.3)."),
)
DEAD_LETTER_METRICS = MetricTable(
    "groups",
    "topics",
    ("cluster", "broker", "group"),
    ("group_dead_letters", "messages", "Stored dead letters of the group."),
)
QUEUE_METRICS = MetricTable(
    "queues",
    "topics",
    (*TOPIC_LABELS, "queue"),
    ("topic_queue_put_messages_total", "messages", "With --per-queue: the end of one queue."),
    ("topic_queue_stored_messages", "messages", "With --per-queue: the messages of one queue."),
)
TOPIC_TABLES = (TOPIC_METRICS, DEAD_LETTER_METRICS, QUEUE_METRICS)


class TopicRows(NamedTuple):
    """The rows of one topic on one broker for each of TOPIC_TABLES."""

    topic_rows: Sequence[FigureRow]
    dead_letter_rows: Sequence[FigureRow]
    queue_rows: Sequence[FigureRow]


def build_topic_rows(server: ServerIdentity, topic: str, stats: TopicStats, shows_queues: bool) -> TopicRows:
    """Build the rows of a topic. Nothing is known about the time of the newest message if there is none."""
    cluster_name, broker_name, _ = server.broker_labels
    labels = (cluster_name, broker_name, clean_label(topic))
    stored_counts = [float(queue.max_offset - (queue.min_offset or 0)) for queue in stats.queues]
    newest_ms = max((queue.last_update_timestamp for queue in stats.queues), default=0)
    topic_figures = (
        float(sum(queue.max_offset for queue in stats.queues)),
        sum(stored_counts),
        newest_ms / 1000 if newest_ms > 0 else None,
        stats.put_tps,
    )
    dead_letter_rows: list[FigureRow] = []
    if topic.startswith(DLQ_PREFIX):
        group_labels = (cluster_name, broker_name, clean_label(topic[len(DLQ_PREFIX) :]))
        dead_letter_rows.append((group_labels, (sum(stored_counts),)))
    queue_rows = [
        ((*labels, str(queue.queue_id)), (float(queue.max_offset), count))
        for queue, count in zip(stats.queues, stored_counts, strict=True)
        if shows_queues
    ]
    return TopicRows([(labels, topic_figures)], dead_letter_rows, queue_rows)
