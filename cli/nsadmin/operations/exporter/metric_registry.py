"""The registry of the exporter's metrics: what the exporter serves, and what documentation is rendered from.

The order is that of importance: if there are too many series, the last metrics are left out first.
"""

from nsadmin.operations.exporter import (
    broker_figures,
    cluster_figures,
    derived_figures,
    group_figures,
    name_server_figures,
    topic_figures,
)
from nsadmin.operations.exporter.figures import BROKER_LABELS, MetricDefinition, MetricTable

_TABLES = (
    name_server_figures.NAME_SERVER_METRICS,
    name_server_figures.BROKER_COUNT_METRICS,
    name_server_figures.MASTERLESS_METRICS,
    broker_figures.UP_METRICS,
    broker_figures.INFO_METRICS,
    broker_figures.RUNTIME_METRICS,
    broker_figures.PUT_LATENCY_METRICS,
    broker_figures.POOL_METRICS,
    derived_figures.SLAVE_DISTANCE_METRICS,
    broker_figures.REPLICATION_METRICS,
    broker_figures.REGISTRATION_METRICS,
    cluster_figures.PROXY_METRICS,
    cluster_figures.DIFFERENCE_METRICS,
    cluster_figures.DRAIN_METRICS,
    cluster_figures.UNREADABLE_DRAIN_METRICS,
    group_figures.LAG_METRICS,
    group_figures.UNKNOWN_LAG_METRICS,
    group_figures.RATE_METRICS,
    derived_figures.GROUP_CLIENT_METRICS,
    derived_figures.PRODUCER_CLIENT_METRICS,
    derived_figures.CLIENT_METRICS,
    topic_figures.DEAD_LETTER_METRICS,
    topic_figures.TOPIC_METRICS,
    broker_figures.TOPIC_QUEUE_METRICS,
    group_figures.QUEUE_LAG_METRICS,
    topic_figures.QUEUE_METRICS,
)
_OWN_TABLES = (
    MetricTable(
        "exporter",
        "exporter",
        ("source", "server", *BROKER_LABELS),
        ("scrape_age_seconds", "seconds", "Time since the figures of this source were read."),
        ("read_errors_total", "requests", "Failed reads of this source, by server."),
    ),
    MetricTable(
        "exporter",
        "exporter",
        ("pass",),
        ("pass_duration_seconds", "seconds", "Duration of the last pass over all brokers."),
        ("pass_unfinished_servers", "servers", "Brokers that the last pass did not finish in time."),
        ("passes_total", "passes", "Passes since the start."),
    ),
    MetricTable(
        "exporter",
        "exporter",
        (),
        ("series", "series", "Series on this page, without those of the exporter itself."),
        ("series_limit", "series", "The value of --max-series."),
    ),
    MetricTable(
        "exporter",
        "exporter",
        ("metric",),
        ("series_left_out", "series", "Series that this page lacks, because of --max-series."),
        (
            "series_invalid",
            "series",
            "Series that this page lacks, because a server reported no finite number.",
        ),
    ),
    MetricTable(
        "exporter",
        "exporter",
        ("version",),
        ("exporter_info", "1", "1; the label has the release of the exporter."),
    ),
)
_PROBE_TABLE = MetricTable(
    "exporter",
    "exporter",
    (),
    ("probe_success", "bool", "On /probe: 1 if the target answered, else 0."),
    ("probe_duration_seconds", "seconds", "On /probe: duration of the probe."),
)

METRICS: tuple[MetricDefinition, ...] = tuple(metric for table in _TABLES for metric in table.metrics)
EXPORTER_METRICS = tuple(metric for table in _OWN_TABLES for metric in table.metrics)
PROBE_METRICS = _PROBE_TABLE.metrics
METRICS_BY_NAME = {metric.name: metric for metric in (*METRICS, *EXPORTER_METRICS, *PROBE_METRICS)}
