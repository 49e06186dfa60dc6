"""The registry of the exporter's metrics: what the exporter serves, and what documentation is rendered from.

The order is that of importance: if there are too many series, the last metrics are left out first.
"""

from typing import Literal, NamedTuple

from namesrv_core.protocol.frame import MAX_FRAME_BYTES

MetricKind = Literal["gauge", "counter"]
Subject = Literal[
    "name servers", "brokers", "proxies", "groups", "topics", "clients", "cluster", "queues", "exporter"
]


class MetricDefinition(NamedTuple):
    """One metric.

    `name` is the full name; that of a counter ends with "_total". `unit` is that of the figures. `labels` do
    not contain `context`. `source` is the kind of request that gives the figures.
    """

    name: str
    kind: MetricKind
    unit: str
    subject: Subject
    source: str
    labels: tuple[str, ...]
    help: str


NAME_SERVER_LABELS = ("namesrv",)
BROKER_LABELS = ("cluster", "broker", "id")
GROUP_LABELS = ("cluster", "broker", "group", "topic")
TOPIC_LABELS = ("cluster", "broker", "topic")
POOL_LABELS = (*BROKER_LABELS, "pool")

_ROW = tuple[str, MetricKind, str, str]
"""The name without "nsadmin_", the kind, the unit and the help of a metric."""


def _define_metric(
    subject: Subject, source: str, labels: tuple[str, ...], *metric_rows: _ROW
) -> tuple[MetricDefinition, ...]:
    return tuple(
        MetricDefinition(f"nsadmin_{name}", kind, unit, subject, source, labels, help_text)
        for name, kind, unit, help_text in metric_rows
    )


METRICS: tuple[MetricDefinition, ...] = (
    *_define_metric(
        "name servers",
        "tables",
        NAME_SERVER_LABELS,
        ("nameserver_up", "gauge", "bool", "1 if the name server answers, else 0."),
        (
            "nameserver_answer_seconds",
            "gauge",
            "seconds",
            "Time until the name server had answered all requests.",
        ),
        ("nameserver_topics", "gauge", "topics", "Topics that the name server lists."),
    ),
    *_define_metric(
        "name servers",
        "tables",
        (*NAME_SERVER_LABELS, "cluster", "role"),
        ("nameserver_brokers", "gauge", "brokers", "Brokers that the name server lists, by role."),
    ),
    *_define_metric(
        "name servers",
        "tables",
        (*NAME_SERVER_LABELS, "cluster"),
        (
            "nameserver_broker_groups_without_master",
            "gauge",
            "broker groups",
            "Broker names without a master.",
        ),
    ),
    *_define_metric(
        "brokers",
        "up",
        BROKER_LABELS,
        ("broker_up", "gauge", "bool", "1 if the broker answers, else 0."),
        (
            "broker_answer_seconds",
            "gauge",
            "seconds",
            "Time until the broker answered a request or its limit.",
        ),
    ),
    *_define_metric(
        "brokers",
        "runtime",
        (*BROKER_LABELS, "address", "version"),
        ("broker_info", "gauge", "1", "1; the labels have the address and the release of the broker."),
    ),
    *_define_metric(
        "brokers",
        "runtime",
        BROKER_LABELS,
        ("broker_active", "gauge", "bool", "1 if the broker accepts messages (since 5.0)."),
        ("broker_boot_time_seconds", "gauge", "seconds since 1970", "Start of the broker."),
        ("broker_put_messages_total", "counter", "messages", "Messages stored since the start."),
        ("broker_get_messages_total", "counter", "messages", "Messages delivered since the start."),
        ("broker_put_bytes_total", "counter", "bytes", "Bytes of the messages stored since the start."),
        ("broker_put_messages_per_second", "gauge", "messages/s", "Messages stored, mean of the last 10 s."),
        (
            "broker_get_messages_per_second",
            "gauge",
            "messages/s",
            "Messages delivered, mean of the last 10 s.",
        ),
        ("broker_commit_log_disk_used_ratio", "gauge", "ratio", "Used share of the commit log's disk."),
        ("broker_consume_queue_disk_used_ratio", "gauge", "ratio", "Used share of the consume queues' disk."),
        (
            "broker_commit_log_disk_size_bytes",
            "gauge",
            "bytes",
            "Size of the commit log's disk, rounded by the broker.",
        ),
        (
            "broker_commit_log_disk_free_bytes",
            "gauge",
            "bytes",
            "Free space of that disk, rounded by the broker.",
        ),
        ("broker_commit_log_min_offset_bytes", "gauge", "bytes", "Begin of the commit log."),
        ("broker_commit_log_max_offset_bytes", "gauge", "bytes", "End of the commit log."),
        (
            "broker_dispatch_behind_bytes",
            "gauge",
            "bytes",
            "Commit log that is not in the consume queues yet.",
        ),
        ("broker_unflushed_bytes", "gauge", "bytes", "Commit log that is not on disk yet."),
        (
            "broker_oldest_message_time_seconds",
            "gauge",
            "seconds since 1970",
            "Store time of the oldest message.",
        ),
        (
            "broker_page_cache_lock_seconds",
            "gauge",
            "seconds",
            "Time for which a writer has held the store's lock.",
        ),
    ),
    *_define_metric(
        "brokers",
        "runtime",
        (*BROKER_LABELS, "percentile"),
        ("broker_put_latency_seconds", "gauge", "seconds", "Time to store a message (since 5.0)."),
    ),
    *_define_metric(
        "brokers",
        "runtime",
        POOL_LABELS,
        ("broker_waiting_requests", "gauge", "requests", "Requests that wait for a thread of the pool."),
        (
            "broker_waiting_requests_limit",
            "gauge",
            "requests",
            "Number from which on the broker refuses requests.",
        ),
        (
            "broker_request_wait_seconds",
            "gauge",
            "seconds",
            "Age of the request that has waited for longest.",
        ),
    ),
    *_define_metric(
        "brokers",
        "runtime",
        BROKER_LABELS,
        (
            "broker_slave_distance_bytes",
            "gauge",
            "bytes",
            "End of the master's commit log minus the end of this slave's.",
        ),
    ),
    *_define_metric(
        "brokers",
        "replication",
        BROKER_LABELS,
        (
            "broker_connected_slaves",
            "gauge",
            "slaves",
            "Slaves that are connected to this master (since 5.0).",
        ),
        ("broker_in_sync_slaves", "gauge", "slaves", "Slaves of this master that are in sync (since 5.0)."),
    ),
    *_define_metric(
        "brokers",
        "registration",
        BROKER_LABELS,
        (
            "broker_registration_bytes",
            "gauge",
            "bytes",
            f"Size of the largest frame of the broker's registration; name servers accept {MAX_FRAME_BYTES}.",
        ),
        ("broker_topics", "gauge", "topics", "Topics of the broker."),
    ),
    *_define_metric(
        "proxies",
        "proxies",
        ("cluster", "proxy", "mode"),
        ("proxy_up", "gauge", "bool", "1 if the proxy answers, else 0."),
        ("proxy_consumers", "gauge", "clients", "Consumers that are connected to a proxy in cluster mode."),
        ("proxy_grpc_connections", "gauge", "connections", "Connected gRPC clients; needs nsadmin[proxy]."),
        (
            "proxy_last_heartbeat_time_seconds",
            "gauge",
            "seconds since 1970",
            "When the proxy passed on the last heartbeat of a consumer.",
        ),
    ),
    *_define_metric(
        "cluster",
        "divergence",
        ("state",),
        (
            "nameserver_differences",
            "gauge",
            "differences",
            "Differences between name servers: drift, or new (younger than two heartbeats).",
        ),
    ),
    *_define_metric(
        "cluster",
        "drains",
        ("cluster", "broker", "phase"),
        (
            "drain_start_time_seconds",
            "gauge",
            "seconds since 1970",
            "Start of an open drain of this account.",
        ),
    ),
    *_define_metric(
        "cluster",
        "drains",
        (),
        (
            "drains_unreadable",
            "gauge",
            "drains",
            "Saved drains of this account that cannot be read, of any cluster: their brokers may be drained.",
        ),
    ),
    *_define_metric(
        "groups",
        "groups",
        GROUP_LABELS,
        ("group_lag_messages", "gauge", "messages", "Messages that the group has not consumed yet."),
        (
            "group_lag_seconds",
            "gauge",
            "seconds",
            "Age of the oldest last consumed message of the queues that have a lag; 0 without a lag.",
        ),
        (
            "group_inflight_messages",
            "gauge",
            "messages",
            "Delivered messages without acknowledgement (since 5.1).",
        ),
        ("group_committed_messages", "gauge", "messages", "Sum of the committed offsets of the queues."),
        ("group_uncommitted_queues", "gauge", "queues", "Queues without a committed offset."),
        (
            "group_unknown_lag_queues",
            "gauge",
            "queues",
            "Queues whose lag is unknown: without a committed offset, with one beyond their end, or of a "
            "group that broadcasts.",
        ),
    ),
    *_define_metric(
        "groups",
        "groups",
        ("cluster", "broker", "group"),
        (
            "group_consumed_messages_per_second",
            "gauge",
            "messages/s",
            "Messages consumed, as the broker counts them.",
        ),
    ),
    *_define_metric(
        "groups",
        "clients",
        ("cluster", "group"),
        ("group_clients", "gauge", "clients", "Consumers that are connected to any broker or proxy."),
    ),
    *_define_metric(
        "clients",
        "clients",
        ("cluster", "group"),
        ("producer_clients", "gauge", "clients", "Producers that are connected to any broker."),
    ),
    *_define_metric(
        "clients",
        "clients",
        ("cluster", "kind", "language", "version"),
        ("clients", "gauge", "clients", "Connected consumers and producers, by language and release."),
    ),
    *_define_metric(
        "groups",
        "topics",
        ("cluster", "broker", "group"),
        ("group_dead_letters", "gauge", "messages", "Stored dead letters of the group."),
    ),
    *_define_metric(
        "topics",
        "topics",
        TOPIC_LABELS,
        (
            "topic_put_messages_total",
            "counter",
            "messages",
            "Sum of the ends of all queues: messages ever stored.",
        ),
        ("topic_stored_messages", "gauge", "messages", "Messages from the begin to the end of all queues."),
        (
            "topic_last_message_time_seconds",
            "gauge",
            "seconds since 1970",
            "Store time of the newest message.",
        ),
        ("topic_put_messages_per_second", "gauge", "messages/s", "Messages received (since 5.3.3)."),
    ),
    *_define_metric(
        "topics",
        "registration",
        TOPIC_LABELS,
        ("topic_write_queues", "gauge", "queues", "Queues for producers; 0 without write permission."),
        ("topic_read_queues", "gauge", "queues", "Queues for consumers; 0 without read permission."),
    ),
    *_define_metric(
        "queues",
        "groups",
        (*GROUP_LABELS, "queue"),
        ("group_queue_lag_messages", "gauge", "messages", "With --per-queue: the lag on one queue."),
        ("group_queue_lag_seconds", "gauge", "seconds", "With --per-queue: the lag on one queue as a time."),
    ),
    *_define_metric(
        "queues",
        "topics",
        (*TOPIC_LABELS, "queue"),
        ("topic_queue_put_messages_total", "counter", "messages", "With --per-queue: the end of one queue."),
        ("topic_queue_stored_messages", "gauge", "messages", "With --per-queue: the messages of one queue."),
    ),
)

EXPORTER_METRICS: tuple[MetricDefinition, ...] = (
    *_define_metric(
        "exporter",
        "exporter",
        ("source", "server", *BROKER_LABELS),
        ("scrape_age_seconds", "gauge", "seconds", "Time since the figures of this source were read."),
        ("read_errors_total", "counter", "requests", "Failed reads of this source, by server."),
    ),
    *_define_metric(
        "exporter",
        "exporter",
        ("pass",),
        ("pass_duration_seconds", "gauge", "seconds", "Duration of the last pass over all brokers."),
        ("pass_unfinished_servers", "gauge", "servers", "Brokers that the last pass did not finish in time."),
        ("passes_total", "counter", "passes", "Passes since the start."),
    ),
    *_define_metric(
        "exporter",
        "exporter",
        (),
        ("series", "gauge", "series", "Series on this page, without those of the exporter itself."),
        ("series_limit", "gauge", "series", "The value of --max-series."),
    ),
    *_define_metric(
        "exporter",
        "exporter",
        ("metric",),
        ("series_left_out", "gauge", "series", "Series that this page lacks, because of --max-series."),
        (
            "series_invalid",
            "gauge",
            "series",
            "Series that this page lacks, because a server reported no finite number.",
        ),
    ),
    *_define_metric(
        "exporter",
        "exporter",
        ("version",),
        ("exporter_info", "gauge", "1", "1; the label has the release of the exporter."),
    ),
)

PROBE_METRICS: tuple[MetricDefinition, ...] = _define_metric(
    "exporter",
    "exporter",
    (),
    ("probe_success", "gauge", "bool", "On /probe: 1 if the target answered, else 0."),
    ("probe_duration_seconds", "gauge", "seconds", "On /probe: duration of the probe."),
)

METRICS_BY_NAME = {metric.name: metric for metric in (*METRICS, *EXPORTER_METRICS, *PROBE_METRICS)}
