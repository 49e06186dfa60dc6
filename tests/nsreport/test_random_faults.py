"""Random faults that overlap: each report made from journals says what truth.jsonl says.

`make truth` does the same with 200 seeds, also with Java's logs, and with complete runs of the pipeline.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.truth.comparison import compare_report
from tests.truth.recorded_view import JOURNAL, RecordedView
from tests.truth.report_rows import RowsByReport, query_reports
from tests.truth.simulated_input import simulate_seed

SEEDS = range(1, 6)
REPORT_NAMES = (
    "broker_availability", "broker_flaps", "drain_audit", "heartbeat_gaps", "ns_health", "config_changes",
    "ns_convergence", "topic_growth", "route_as_of",
)  # fmt: skip
"""The reports whose queries take little work, and that have rows with these seeds."""


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("random-faults")


@pytest.fixture(scope="module")
def views(run_folder: Path) -> Sequence[RecordedView]:
    return [view for seed in SEEDS for view in simulate_seed(seed, run_folder, (JOURNAL,)).views]


@pytest.fixture(scope="module")
def rows(spark: SparkSession, run_folder: Path, views: Sequence[RecordedView]) -> RowsByReport:
    return query_reports(spark, run_folder, REPORT_NAMES)


@pytest.mark.parametrize("report_name", REPORT_NAMES)
def test_a_report_says_what_really_happened(
    report_name: str, rows: RowsByReport, views: Sequence[RecordedView]
) -> None:
    for score in compare_report(report_name, rows[report_name], views):
        print(score.describe())
        assert score.expected_count > 0
        assert not score.misses
