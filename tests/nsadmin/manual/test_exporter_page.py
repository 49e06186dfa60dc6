"""The reference page of the exporter's metrics."""

from nsadmin.manual.exporter_alerts import ALERT_RULES
from nsadmin.manual.exporter_page import render_metrics_page
from nsadmin.operations.exporter.compat_metrics import COMPAT_METRICS
from nsadmin.operations.exporter.metric_registry import METRICS_BY_NAME

PAGE = render_metrics_page()


def test_it_has_every_metric_and_every_alert() -> None:
    for metric in METRICS_BY_NAME.values():
        labels = f"{{{','.join(metric.labels)}}}" if metric.labels else ""
        assert f"| `{metric.name}{labels}` | {metric.kind} |" in PAGE
    for metric in COMPAT_METRICS:
        assert f"| `{metric.name}` | " in PAGE
    for rule in ALERT_RULES:
        assert f"| `{rule.name}` | {rule.severity} |" in PAGE


def test_each_subject_has_one_heading() -> None:
    headings = [line for line in PAGE.splitlines() if line.startswith("## ")]
    assert len(set(headings)) == len(headings)
