"""Journals that arrive in parts give the tables of one run over all; `make truth` tries many seeds."""

from datetime import UTC, date, datetime
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from nsreport.jobs.batch import PipelineRun, RunRequest
from nsreport.sources.input_files import InputSource
from nsreport.tables import table_versions
from nsreport.tables.table_versions import NO_DAY
from tests.bench.table_comparison import compare_folders, list_tables
from tests.truth import random_runs
from tests.truth.random_runs import compare_runs
from tests.truth.recorded_view import JOURNAL
from tests.truth.simulated_input import simulate_seed


@pytest.mark.parametrize("seed", [2])
def test_parts_give_the_tables_of_one_run(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    assert compare_runs(spark, seed, tmp_path, ("topic_growth", "config_changes"), run_count=2) == []


def test_forgotten_days_change_no_row_of_later_days(spark: SparkSession, tmp_path: Path) -> None:
    simulate_seed(3, tmp_path / "seed", (JOURNAL,))
    files = list(random_runs._plan_files(tmp_path / "seed" / "input", Random("forget"), 2))
    days = sorted({file.path[-25:-17] for file in files})
    assert len(days) > 2, days
    files = [file._replace(run_number=int(days[-1] in file.path), early_length=0) for file in files]
    first_day = date.fromisoformat(days[-2])

    def prepare_run(out: str, first_day: date = NO_DAY) -> PipelineRun:
        sources, names = [InputSource(str(tmp_path / "in"))], ("topic_growth", "broker_availability")
        request = RunRequest(sources, str(tmp_path / out), names, first_day=first_day)
        return PipelineRun(spark, request, datetime.now(UTC), lambda result: None)

    random_runs._let_arrive(files, tmp_path / "in", 0)
    prepare_run("parts").run_all()
    prepare_run("parts", first_day).run_all()
    for name in list_tables(tmp_path / "parts"):
        table = table_versions.open_table(str(tmp_path / "parts" / name))
        assert table is not None
        found = {file.partition_values.get("date", first_day) for file in table_versions.list_files(table)}
        # Of events about brokers, only heartbeats are dropped.
        assert min(found, default=first_day) >= first_day or name == "silver/broker_lifecycle", name
    # All files are new to the next run, and it takes no line of a forgotten day.
    for path in (tmp_path / "in").rglob("*.jsonl"):
        path.write_bytes(path.read_bytes())
    random_runs._let_arrive(files, tmp_path / "in", 1)
    prepare_run("parts").run_all()
    prepare_run("once").run_all()
    differences = {
        name: (only_parts, only_once)
        for name, only_parts, only_once in compare_folders(tmp_path / "parts", tmp_path / "once", first_day)
        if name != "bronze/files" and (only_parts or only_once)
    }
    assert differences == {}
