"""Figures of one broker from its answers: runtime, replication, registration. Pure."""

import re
from collections.abc import Mapping

from namesrv_core.protocol.codes import Perm
from nsadmin.client.brokers.broker_numbers import parse_broker_number
from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.brokers.registrations import BrokerRegistrant
from nsadmin.client.brokers.replication import HaStatus
from nsadmin.operations.exporter.figures import FigureRow, FigureTable, ServerIdentity, clean_label
from nsadmin.operations.exporter.name_filter import NameFilter
from nsadmin.operations.registration_size import RegistrationSize

_RUNTIME_FIGURES = (
    ("nsadmin_broker_boot_time_seconds", "bootTimestamp", 0.001),
    # Despite their names, both count from the start of the broker (BrokerStats#getMsgPutTotalTodayNow).
    ("nsadmin_broker_put_messages_total", "msgPutTotalTodayNow", 1),
    ("nsadmin_broker_get_messages_total", "msgGetTotalTodayNow", 1),
    ("nsadmin_broker_put_bytes_total", "putMessageSizeTotal", 1),
    ("nsadmin_broker_put_messages_per_second", "putTps", 1),
    ("nsadmin_broker_commit_log_disk_used_ratio", "commitLogDiskRatio", 1),
    ("nsadmin_broker_consume_queue_disk_used_ratio", "consumeQueueDiskRatio", 1),
    ("nsadmin_broker_commit_log_min_offset_bytes", "commitLogMinOffset", 1),
    ("nsadmin_broker_commit_log_max_offset_bytes", "commitLogMaxOffset", 1),
    ("nsadmin_broker_dispatch_behind_bytes", "dispatchBehindBytes", 1),
    ("nsadmin_broker_page_cache_lock_seconds", "pageCacheLockTimeMills", 0.001),
)
"""Metric, key of the broker's table, and the factor for the unit."""
_POOL_METRICS = (
    "nsadmin_broker_waiting_requests",
    "nsadmin_broker_waiting_requests_limit",
    "nsadmin_broker_request_wait_seconds",
)
_POOL_PATTERN = re.compile(r"(\w+)ThreadPoolQueueSize")
_CAPACITY_PATTERN = re.compile(r"(Total|Free)\s*:\s*([\d.,\u066b]+\s*[KMGTPE]?i?B)")
_SIZE_PATTERN = re.compile(r"([\d.,\u066b]+)\s*([KMGTPE]?)i?B")
_PERCENTILES = (("99", "putLatency99"), ("99.9", "putLatency999"))


def build_runtime_tables(server: ServerIdentity, runtime_info: RuntimeInfo) -> tuple[FigureTable, ...]:
    """Build the figures of GET_BROKER_RUNTIME_INFO. A figure that the release does not report is None."""
    labels = server.broker_labels
    disk_bytes = parse_disk_capacity(runtime_info.table.get("commitLogDirCapacity", ""))
    earliest_ms = runtime_info.get_integer("earliestMessageTimeStamp")
    figures: dict[str, float | None] = {
        metric_name: _scale_number(runtime_info.get_number(table_key), factor)
        for metric_name, table_key, factor in _RUNTIME_FIGURES
    }
    figures |= {
        "nsadmin_broker_active": None if runtime_info.is_active is None else float(runtime_info.is_active),
        "nsadmin_broker_get_messages_per_second": runtime_info.out_tps,
        "nsadmin_broker_unflushed_bytes": parse_size(runtime_info.table.get("remainHowManyDataToFlush", "")),
        "nsadmin_broker_commit_log_disk_size_bytes": disk_bytes.get("Total"),
        "nsadmin_broker_commit_log_disk_free_bytes": disk_bytes.get("Free"),
        # A broker with an empty store reports -1.
        "nsadmin_broker_oldest_message_time_seconds": None
        if earliest_ms is None or earliest_ms < 0
        else earliest_ms / 1000,
    }
    info_labels = (*labels, server.address, clean_label(runtime_info.version or ""))
    return (
        FigureTable(("nsadmin_broker_info",), [(info_labels, (1.0,))]),
        FigureTable(tuple(figures), [(labels, tuple(figures.values()))]),
        FigureTable(
            ("nsadmin_broker_put_latency_seconds",),
            [
                ((*labels, percentile), (_scale_number(runtime_info.get_number(table_key), 0.001),))
                for percentile, table_key in _PERCENTILES
            ],
        ),
        FigureTable(_POOL_METRICS, _build_pool_rows(server, runtime_info)),
    )


def _build_pool_rows(server: ServerIdentity, runtime_info: RuntimeInfo) -> list[FigureRow]:
    pool_names = [
        match[1] for table_key in runtime_info.table if (match := _POOL_PATTERN.fullmatch(table_key))
    ]
    return [
        (
            (*server.broker_labels, clean_label(pool_name)),
            (
                runtime_info.get_number(f"{pool_name}ThreadPoolQueueSize"),
                runtime_info.get_number(f"{pool_name}ThreadPoolQueueCapacity"),
                _scale_number(runtime_info.get_number(f"{pool_name}ThreadPoolQueueHeadWaitTimeMills"), 0.001),
            ),
        )
        for pool_name in pool_names
    ]


def _scale_number(number: float | None, factor: float) -> float | None:
    # A division keeps 0.25 s exact, where a product with 0.001 does not.
    return None if number is None else number if factor == 1 else number / round(1 / factor)


def parse_size(size_text: str) -> float | None:
    """Parse a size such as "239.9 KiB" to bytes; None for a text without a size."""
    match = _SIZE_PATTERN.fullmatch(size_text.strip())
    number = None if match is None else parse_broker_number(match[1])
    return None if match is None or number is None else number * 1024 ** " KMGTPE".index(match[2] or " ")


def parse_disk_capacity(capacity_text: str) -> dict[str, float | None]:
    """Parse the broker's "Total : 78.7 GiB, Free : 20.7 GiB." to bytes, by the words Total and Free."""
    return {word: parse_size(size_text) for word, size_text in _CAPACITY_PATTERN.findall(capacity_text)}


def build_replication_table(server: ServerIdentity, ha_status: HaStatus) -> FigureTable:
    """Build the figures of GET_BROKER_HA_STATUS; no rows for a slave."""
    metric_names = ("nsadmin_broker_connected_slaves", "nsadmin_broker_in_sync_slaves")
    in_sync_count = ha_status.in_sync_slave_nums
    figures = (float(len(ha_status.slaves)), None if in_sync_count is None else float(in_sync_count))
    return FigureTable(metric_names, [(server.broker_labels, figures)] if ha_status.is_master else [])


def build_registration_tables(
    server: ServerIdentity,
    registrant: BrokerRegistrant,
    registration_size: RegistrationSize,
    name_filter: NameFilter,
) -> tuple[FigureTable, ...]:
    """Build the size of the registration, and the queues of each topic that the filter accepts."""
    metric_names = ("nsadmin_broker_registration_bytes", "nsadmin_broker_topics")
    size_row = (server.broker_labels, (float(registration_size.frame_bytes), float(len(registrant.topics))))
    queue_rows = [
        ((*server.broker_labels[:2], clean_label(topic)), _count_queues(topic_config))
        for topic, topic_config in registrant.topics.items()
        if name_filter.accepts_topic(topic, server.broker_labels)
    ]
    queue_metrics = ("nsadmin_topic_write_queues", "nsadmin_topic_read_queues")
    return FigureTable(metric_names, [size_row]), FigureTable(queue_metrics, queue_rows)


def _count_queues(topic_config: Mapping[str, object]) -> tuple[float, float]:
    perm = int(str(topic_config.get("perm", 6)))
    return (
        float(str(topic_config.get("writeQueueNums", 0))) if perm & Perm.WRITE else 0.0,
        float(str(topic_config.get("readQueueNums", 0))) if perm & Perm.READ else 0.0,
    )
