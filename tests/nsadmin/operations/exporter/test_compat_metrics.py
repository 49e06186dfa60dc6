"""The list of rocketmq-exporter's metrics."""

import re
from pathlib import Path

from nsadmin.operations.exporter.compat_metrics import COMPAT_METRICS, NEVER_FILLED

# Family names and labels of RMQMetricsCollector, master branch of 2023-12.
LISTED = Path(__file__).parents[3] / "golden" / "rocketmq-exporter-metrics.txt"


def test_each_metric_of_its_source_is_there_with_its_labels() -> None:
    listed = {}
    for line in LISTED.read_text().splitlines():
        sample_match = re.fullmatch(r"(\w+)\{([\w,]+)\}", line)
        assert sample_match is not None, line
        listed[sample_match[1]] = tuple(sample_match[2].split(","))
    assert {metric.name: metric.labels for metric in COMPAT_METRICS} == {
        name: labels for name, labels in listed.items() if name not in NEVER_FILLED
    }
    assert set(NEVER_FILLED) <= listed.keys()


def test_each_name_occurs_once() -> None:
    assert len({metric.name for metric in COMPAT_METRICS}) == len(COMPAT_METRICS)
