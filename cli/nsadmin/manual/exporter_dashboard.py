"""docs/monitoring/exporter-dashboard.json: a Grafana dashboard with a panel for each metric."""

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from nsadmin.manual.exporter_alerts import JOB_NAME
from nsadmin.operations.exporter.figures import MetricDefinition
from nsadmin.operations.exporter.metric_registry import EXPORTER_METRICS, METRICS

_DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
_UNITS = {
    "bool": "bool_yes_no",
    "bytes": "bytes",
    "messages": "short",
    "messages/s": "cps",
    "ratio": "percentunit",
    "seconds": "s",
    "seconds since 1970": "dateTimeFromNow",
}
_PANEL_WIDTH, _PANEL_HEIGHT, _COLUMNS = 8, 7, 3
_BUSIEST = 15
"""The most series in a panel about topics or groups. A cluster can have thousands of them."""
_SCALED_SUBJECTS = ("groups", "topics")


def render_dashboard() -> str:
    """Render the dashboard as JSON. Metrics per queue have no panel."""
    dashboard = {
        "title": "RocketMQ clusters (nsadmin exporter)",
        "uid": "nsadmin-exporter",
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "tags": ["rocketmq", "nsadmin"],
        "time": {"from": "now-6h", "to": "now"},
        "refresh": "30s",
        "timezone": "",
        "graphTooltip": 1,
        "annotations": {"list": []},
        "links": [],
        "templating": {"list": [_DATASOURCE_VARIABLE, *map(_make_variable, _VARIABLES)]},
        "panels": list(_place_panels()),
    }
    return json.dumps(dashboard, indent=1) + "\n"


_DATASOURCE_VARIABLE = {
    "name": "datasource",
    "type": "datasource",
    "query": "prometheus",
    "label": "Prometheus",
    "current": {},
    "hide": 0,
}
_VARIABLES = (
    ("job", "Job", "label_values(nsadmin_exporter_info, job)"),
    ("cluster", "Cluster", 'label_values(nsadmin_broker_up{job="$job"}, cluster)'),
    ("broker", "Broker", 'label_values(nsadmin_broker_up{job="$job",cluster=~"$cluster"}, broker)'),
    ("group", "Group", 'label_values(nsadmin_group_clients{job="$job",cluster=~"$cluster"}, group)'),
    ("topic", "Topic", 'label_values(nsadmin_topic_write_queues{job="$job",cluster=~"$cluster"}, topic)'),
)
_FILTERED_LABELS = ("cluster", "broker", "group", "topic")


def _make_variable(variable: tuple[str, str, str]) -> dict[str, Any]:
    name, label, query = variable
    has_all = name != "job"
    return {
        "name": name,
        "type": "query",
        "label": label,
        "datasource": _DATASOURCE,
        "query": {"query": query, "refId": name},
        "refresh": 2,
        "sort": 1,
        "current": {"text": JOB_NAME, "value": JOB_NAME} if name == "job" else {},
        "includeAll": has_all,
        "multi": has_all,
        **({"allValue": ".*"} if has_all else {}),
    }


def _place_panels() -> Iterator[dict[str, Any]]:
    """Yield a row per subject with the panels of its metrics, three side by side."""
    panel_id, top = 0, 0
    shown_metrics = [metric for metric in (*METRICS, *EXPORTER_METRICS) if metric.subject != "queues"]
    shown_metrics.sort(key=lambda metric: _SUBJECT_ORDER.index(metric.subject))
    for subject, subject_metrics in groupby(shown_metrics, lambda metric: metric.subject):
        panel_id += 1
        yield {
            "type": "row",
            "title": subject[0].upper() + subject[1:],
            "collapsed": False,
            "gridPos": {"h": 1, "w": _PANEL_WIDTH * _COLUMNS, "x": 0, "y": top},
            "id": panel_id,
            "panels": [],
        }
        top += 1
        panel_index = -1
        for panel_index, metric in enumerate(subject_metrics):
            panel_id += 1
            row_index, column_index = divmod(panel_index, _COLUMNS)
            grid_position = (column_index * _PANEL_WIDTH, top + row_index * _PANEL_HEIGHT)
            yield _make_panel(metric, panel_id, grid_position)
        top += (panel_index // _COLUMNS + 1) * _PANEL_HEIGHT


_SUBJECT_ORDER = ("cluster", "name servers", "brokers", "proxies", "groups", "clients", "topics", "exporter")


def _make_panel(metric: MetricDefinition, panel_id: int, grid_position: tuple[int, int]) -> dict[str, Any]:
    unit = _UNITS.get(metric.unit, "short")
    return {
        "type": "timeseries",
        "title": metric.name.removeprefix("nsadmin_").removesuffix("_total").replace("_", " "),
        "description": metric.help,
        "id": panel_id,
        "datasource": _DATASOURCE,
        "gridPos": {"h": _PANEL_HEIGHT, "w": _PANEL_WIDTH, "x": grid_position[0], "y": grid_position[1]},
        "fieldConfig": {
            "defaults": {"unit": "cps" if metric.kind == "counter" else unit},
            "overrides": [],
        },
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}},
        "targets": [
            {
                "refId": "A",
                "expr": build_expression(metric),
                "legendFormat": " ".join(f"{{{{{label}}}}}" for label in metric.labels),
                "datasource": _DATASOURCE,
            }
        ],
    }


def build_expression(metric: MetricDefinition) -> str:
    """The query of a metric's panel: its rate if it is a counter, and only the largest series of many."""
    matchers = ['job="$job"', *_match_labels(metric.labels)]
    expression = f"{metric.name}{{{','.join(matchers)}}}"
    if metric.kind == "counter":
        expression = f"rate({expression}[$__rate_interval])"
    return f"topk({_BUSIEST}, {expression})" if metric.subject in _SCALED_SUBJECTS else expression


def _match_labels(labels: Sequence[str]) -> list[str]:
    # Series of the exporter itself have empty labels for name servers, and "All" matches them too.
    return [f'{label}=~"${label}"' for label in labels if label in _FILTERED_LABELS]
