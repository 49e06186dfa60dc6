"""The registry of metrics: names with units, and each metric once."""

import re

from nsadmin.operations.exporter.metric_registry import (
    EXPORTER_METRICS,
    METRICS,
    METRICS_BY_NAME,
    PROBE_METRICS,
)

ALL = (*METRICS, *EXPORTER_METRICS, *PROBE_METRICS)


def test_each_name_occurs_once() -> None:
    assert len(METRICS_BY_NAME) == len(ALL)
    assert len({metric.help for metric in ALL}) == len(ALL)


def test_names_and_labels_follow_the_rules_of_prometheus() -> None:
    for metric in ALL:
        assert re.fullmatch(r"nsadmin_[a-z_]+", metric.name), metric.name
        assert metric.name.endswith("_total") == (metric.kind == "counter"), metric.name
        assert "context" not in metric.labels
        assert not {"le", "quantile", "job", "instance"} & set(metric.labels)


def test_the_unit_is_part_of_the_name() -> None:
    for metric in ALL:
        base = metric.name.removesuffix("_total")
        if metric.unit in ("seconds", "bytes", "ratio"):
            assert base.endswith(metric.unit), metric.name
        if metric.unit == "messages/s":
            assert base.endswith("messages_per_second"), metric.name


def test_metrics_per_queue_are_left_out_first() -> None:
    subjects = [metric.subject for metric in METRICS]
    assert subjects.index("queues") == len(subjects) - subjects.count("queues")
    assert subjects[0] == "name servers"
