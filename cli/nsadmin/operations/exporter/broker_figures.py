"""Figures of one broker from its answers: runtime, replication, registration. Pure."""

import re
from collections.abc import Callable, Mapping

from namesrv_core.protocol.codes import Perm
from namesrv_core.protocol.frame import MAX_FRAME_BYTES
from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.brokers.registrations import BrokerRegistrant
from nsadmin.client.brokers.replication import HaStatus
from nsadmin.operations.broker_disks import parse_disk_capacity, parse_size
from nsadmin.operations.exporter.figures import (
    BROKER_LABELS,
    TOPIC_LABELS,
    FigureRow,
    FigureTable,
    MetricTable,
    ServerIdentity,
    clean_label,
)
from nsadmin.operations.exporter.name_filter import NameFilter
from nsadmin.operations.registration_size import RegistrationSize

UP_METRICS = MetricTable(
    "brokers",
    "up",
    BROKER_LABELS,
    ("broker_up", "bool", "1 if the broker answers, else 0."),
    ("broker_answer_seconds", "seconds", "Time until the broker answered a request or its limit."),
)
INFO_METRICS = MetricTable(
    "brokers",
    "runtime",
    (*BROKER_LABELS, "address", "version"),
    ("broker_info", "1", "1; the labels have the address and the version of the broker."),
)
PUT_LATENCY_METRICS = MetricTable(
    "brokers",
    "runtime",
    (*BROKER_LABELS, "percentile"),
    ("broker_put_latency_seconds", "seconds", "Time to store a message (since 5.0)."),
)
POOL_METRICS = MetricTable(
    "brokers",
    "runtime",
    (*BROKER_LABELS, "pool"),
    ("broker_waiting_requests", "requests", "Requests that wait for a thread of the pool."),
    ("broker_waiting_requests_limit", "requests", "Number from which on the broker refuses requests."),
    ("broker_request_wait_seconds", "seconds", "Age of the request that has waited for longest."),
)
REPLICATION_METRICS = MetricTable(
    "brokers",
    "replication",
    BROKER_LABELS,
    ("broker_connected_slaves", "slaves", "Slaves that are connected to this master (since 5.0)."),
    ("broker_in_sync_slaves", "slaves", "Slaves of this master that are in sync (since 5.0)."),
)
REGISTRATION_METRICS = MetricTable(
    "brokers",
    "registration",
    BROKER_LABELS,
    (
        "broker_registration_bytes",
        "bytes",
        f"Size of the largest frame of the broker's registration; name servers accept {MAX_FRAME_BYTES}.",
    ),
    ("broker_topics", "topics", "Topics of the broker."),
)
TOPIC_QUEUE_METRICS = MetricTable(
    "topics",
    "registration",
    TOPIC_LABELS,
    ("topic_write_queues", "queues", "Queues for producers; 0 without write permission."),
    ("topic_read_queues", "queues", "Queues for consumers; 0 without read permission."),
)
_POOL_PATTERN = re.compile(r"(\w+)ThreadPoolQueueSize")
_PERCENTILES = (("99", "putLatency99"), ("99.9", "putLatency999"))


def _read_number(table_key: str, factor: float = 1) -> Callable[[RuntimeInfo], float | None]:
    return lambda info: _scale_number(info.get_number(table_key), factor)


def _read_oldest_seconds(info: RuntimeInfo) -> float | None:
    """A broker with an empty store reports -1."""
    earliest_ms = info.get_integer("earliestMessageTimeStamp")
    return None if earliest_ms is None or earliest_ms < 0 else earliest_ms / 1000


def _read_disk_bytes(word: str) -> Callable[[RuntimeInfo], float | None]:
    return lambda info: parse_disk_capacity(info.table.get("commitLogDirCapacity", "")).get(word)


_RUNTIME_FIGURES: tuple[tuple[str, str, str, Callable[[RuntimeInfo], float | None]], ...] = (
    (
        "broker_active",
        "bool",
        "1 if the broker accepts messages (since 5.0).",
        lambda runtime_info: None if runtime_info.is_active is None else float(runtime_info.is_active),
    ),
    (
        "broker_boot_time_seconds",
        "seconds since 1970",
        "Start of the broker.",
        _read_number("bootTimestamp", 0.001),
    ),
    # Despite their names, both count from the start of the broker (BrokerStats#getMsgPutTotalTodayNow).
    (
        "broker_put_messages_total",
        "messages",
        "Messages stored since the start.",
        _read_number("msgPutTotalTodayNow"),
    ),
    (
        "broker_get_messages_total",
        "messages",
        "Messages delivered since the start.",
        _read_number("msgGetTotalTodayNow"),
    ),
    (
        "broker_put_bytes_total",
        "bytes",
        "Bytes of the messages stored since the start.",
        _read_number("putMessageSizeTotal"),
    ),
    (
        "broker_put_messages_per_second",
        "messages/s",
        "Messages stored, mean of the last 10 s.",
        _read_number("putTps"),
    ),
    (
        "broker_get_messages_per_second",
        "messages/s",
        "Messages delivered, mean of the last 10 s.",
        lambda runtime_info: runtime_info.out_tps,
    ),
    (
        "broker_commit_log_disk_used_ratio",
        "ratio",
        "Used share of the commit log's disk.",
        _read_number("commitLogDiskRatio"),
    ),
    (
        "broker_consume_queue_disk_used_ratio",
        "ratio",
        "Used share of the consume queues' disk.",
        _read_number("consumeQueueDiskRatio"),
    ),
    (
        "broker_commit_log_disk_size_bytes",
        "bytes",
        "Size of the commit log's disk, rounded by the broker.",
        _read_disk_bytes("Total"),
    ),
    (
        "broker_commit_log_disk_free_bytes",
        "bytes",
        "Free space of that disk, rounded by the broker.",
        _read_disk_bytes("Free"),
    ),
    (
        "broker_commit_log_min_offset_bytes",
        "bytes",
        "Begin of the commit log.",
        _read_number("commitLogMinOffset"),
    ),
    (
        "broker_commit_log_max_offset_bytes",
        "bytes",
        "End of the commit log.",
        _read_number("commitLogMaxOffset"),
    ),
    (
        "broker_dispatch_behind_bytes",
        "bytes",
        "Commit log that is not in the consume queues yet.",
        _read_number("dispatchBehindBytes"),
    ),
    (
        "broker_unflushed_bytes",
        "bytes",
        "Commit log that is not on disk yet.",
        lambda runtime_info: parse_size(runtime_info.table.get("remainHowManyDataToFlush", "")),
    ),
    (
        "broker_oldest_message_time_seconds",
        "seconds since 1970",
        "Store time of the oldest message.",
        _read_oldest_seconds,
    ),
    (
        "broker_page_cache_lock_seconds",
        "seconds",
        "Time for which a writer has held the store's lock.",
        _read_number("pageCacheLockTimeMills", 0.001),
    ),
)
"""Metric, unit, help, and how to read the figure. A figure that the release does not report is None."""
RUNTIME_METRICS = MetricTable("brokers", "runtime", BROKER_LABELS, *(row[:3] for row in _RUNTIME_FIGURES))


def build_runtime_tables(server: ServerIdentity, info: RuntimeInfo) -> tuple[FigureTable, ...]:
    """Build the figures of GET_BROKER_RUNTIME_INFO. A figure that the release does not report is None."""
    labels = server.broker_labels
    info_labels = (*labels, server.address, clean_label(info.version or ""))
    return (
        INFO_METRICS.with_rows([(info_labels, (1.0,))]),
        RUNTIME_METRICS.with_rows([(labels, tuple(read(info) for *_, read in _RUNTIME_FIGURES))]),
        PUT_LATENCY_METRICS.with_rows(
            [
                ((*labels, percentile), (_scale_number(info.get_number(key), 0.001),))
                for percentile, key in _PERCENTILES
            ]
        ),
        POOL_METRICS.with_rows(_build_pool_rows(server, info)),
    )


def _build_pool_rows(server: ServerIdentity, info: RuntimeInfo) -> list[FigureRow]:
    pool_names = [match[1] for key in info.table if (match := _POOL_PATTERN.fullmatch(key))]
    return [
        (
            (*server.broker_labels, clean_label(name)),
            (
                info.get_number(f"{name}ThreadPoolQueueSize"),
                info.get_number(f"{name}ThreadPoolQueueCapacity"),
                _scale_number(info.get_number(f"{name}ThreadPoolQueueHeadWaitTimeMills"), 0.001),
            ),
        )
        for name in pool_names
    ]


def _scale_number(number: float | None, factor: float) -> float | None:
    # A division keeps 0.25 s exact, where a product with 0.001 does not.
    return None if number is None else number if factor == 1 else number / round(1 / factor)


def build_replication_table(server: ServerIdentity, ha_status: HaStatus) -> FigureTable:
    """Build the figures of GET_BROKER_HA_STATUS; no rows for a slave."""
    in_sync_count = ha_status.in_sync_slave_nums
    figures = (float(len(ha_status.slaves)), None if in_sync_count is None else float(in_sync_count))
    return REPLICATION_METRICS.with_rows([(server.broker_labels, figures)] if ha_status.is_master else [])


def build_registration_tables(
    server: ServerIdentity,
    registrant: BrokerRegistrant,
    registration_size: RegistrationSize,
    name_filter: NameFilter,
) -> tuple[FigureTable, ...]:
    """Build the size of the registration, and the queues of each topic that the filter accepts."""
    size_row = (server.broker_labels, (float(registration_size.frame_bytes), float(len(registrant.topics))))
    queue_rows = [
        ((*server.broker_labels[:2], clean_label(topic)), _count_queues(config))
        for topic, config in registrant.topics.items()
        if name_filter.accepts_topic(topic, server.broker_labels)
    ]
    return REGISTRATION_METRICS.with_rows([size_row]), TOPIC_QUEUE_METRICS.with_rows(queue_rows)


def _count_queues(topic_config: Mapping[str, object]) -> tuple[float, float]:
    perm = int(str(topic_config.get("perm", 6)))
    return (
        float(str(topic_config.get("writeQueueNums", 0))) if perm & Perm.WRITE else 0.0,
        float(str(topic_config.get("readQueueNums", 0))) if perm & Perm.READ else 0.0,
    )
