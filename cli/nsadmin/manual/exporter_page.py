"""reference/exporter-metrics.md: the metrics of `nsadmin exporter`, rendered from the registry."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from nsadmin.manual.exporter_alerts import ALERT_RULES
from nsadmin.operations.exporter.compat_metrics import COMPAT_METRICS, NEVER_FILLED
from nsadmin.operations.exporter.figures import MetricDefinition
from nsadmin.operations.exporter.metric_registry import (
    EXPORTER_METRICS,
    METRICS,
    PROBE_METRICS,
)

_PAGE_HEAD = """\
# Metrics of the exporter

`nsadmin exporter` serves these metrics at `/metrics`, in Prometheus's text format or as OpenMetrics.
[Export metrics to Prometheus](../how-to/export-metrics.md) shows how to start and scrape it.

- With `--contexts`, each series also has the label `context`.
- A figure that a server does not report has no series, such as in-sync slaves on brokers of 4.x.
- The column "Read" names the kind of request, as the label `source` of `nsadmin_scrape_age_seconds` does.
- The exporter reads `groups`, `clients`, `topics` and `registration` from one broker of each name: the
  master, or the first slave.
- If a page has more series than `--max-series`, the exporter leaves out those at the end of this list.
"""


def render_metrics_page() -> str:
    """Render the page: a table for each subject, then the metrics of --compat and the alerts."""
    page_parts = [_PAGE_HEAD]
    ordered_metrics = sorted(METRICS, key=lambda metric: _SUBJECT_TITLES.index(metric.subject))
    for subject, subject_metrics in groupby(ordered_metrics, lambda metric: metric.subject):
        page_parts.append(f"## {subject[0].upper()}{subject[1:]}\n")
        page_parts.append(_render_table(subject_metrics))
    page_parts.append("## The exporter itself\n")
    page_parts.append(_render_table((*EXPORTER_METRICS, *PROBE_METRICS)))
    page_parts.append(
        "Besides these, `process_*` has memory, CPU time and file descriptors of the exporter.\n"
    )
    page_parts.append(_render_compat())
    page_parts.append(_render_alerts())
    return "\n".join(page_parts)


_SUBJECT_TITLES = ("name servers", "brokers", "proxies", "cluster", "groups", "clients", "topics", "queues")


def _render_table(metrics: Iterable[MetricDefinition]) -> str:
    lines = ["| Metric | Type | Unit | Read | Meaning |", "|---|---|---|---|---|"]
    lines += [
        f"| `{metric.name}{_format_labels(metric)}` | {metric.kind} | {metric.unit} | `{metric.source}` | "
        f"{metric.help} |"
        for metric in metrics
    ]
    return "\n".join(lines) + "\n"


def _format_labels(metric: MetricDefinition) -> str:
    return f"{{{','.join(metric.labels)}}}" if metric.labels else ""


def _render_compat() -> str:
    lines = [
        "## Metrics of rocketmq-exporter\n",
        "`--compat` adds these metrics with the names, labels and units of rocketmq-exporter.",
        "They need more requests: for each topic, group and client. Differences:",
        "",
        "- `cluster` is the cluster of the broker. rocketmq-exporter writes the first cluster everywhere.",
        "- `rocketmq_brokeruntime_remain_howmanydata_toflush` is in bytes.",
        "  rocketmq-exporter ignores the unit of the broker's figure.",
        f"- {_join_names(NEVER_FILLED)} are missing.",
        "  In rocketmq-exporter, they never have a series.",
        "- `rocketmq_brokeruntime_*` have series for brokers of 5.5.0, too.",
        "  rocketmq-exporter cannot parse their figures.",
        "- A consumer that left disappears in the next pass.",
        "",
        "| Metric | Labels |",
        "|---|---|",
        *(
            f"| `{metric.name}` | {', '.join(f'`{label}`' for label in metric.labels)} |"
            for metric in COMPAT_METRICS
        ),
    ]
    return "\n".join(lines) + "\n"


def _join_names(names: Iterable[str]) -> str:
    quoted_names = [f"`{name}`" for name in names]
    return f"{', '.join(quoted_names[:-1])} and {quoted_names[-1]}"


def _render_alerts() -> str:
    return (
        "\n".join(
            [
                "## Alerts\n",
                "[exporter-alerts.yml](../monitoring/exporter-alerts.yml) has these rules:\n",
                "| Alert | Severity | What to do |",
                "|---|---|---|",
                *_render_alert_rows(),
            ]
        )
        + "\n"
    )


def _render_alert_rows() -> Iterator[str]:
    for rule in ALERT_RULES:
        yield f"| `{rule.name}` | {rule.severity} | {rule.action} |"
