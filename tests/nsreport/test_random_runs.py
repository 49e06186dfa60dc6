"""Journals that arrive in parts give the tables of one run over all; `make truth` tries many seeds."""

from datetime import UTC, date, datetime
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from nsreport.jobs.batch import PipelineRun, RunRequest
from nsreport.reports.catalogue import REPORTS_BY_NAME
from nsreport.sources.input_files import InputSource
from nsreport.tables import table_versions
from tests.bench.table_comparison import compare_folders, list_tables
from tests.truth import random_runs
from tests.truth.random_runs import compare_runs
from tests.truth.recorded_view import JOURNAL
from tests.truth.simulated_input import simulate_seed

TRENDS = ("gold/registration_forecast",)
"""Reports that change with the number of days."""


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

    def run(out: str, first_day: date = date.min) -> str:
        notes: list[str] = []
        request = RunRequest(
            [InputSource(str(tmp_path / "in"))],
            str(tmp_path / out),
            tuple(REPORTS_BY_NAME),
            first_day=first_day,
        )
        pipeline = PipelineRun(spark, request, datetime.now(UTC), lambda result: None, notes.append)
        pipeline.run_all()
        if first_day > date.min:
            pipeline.forget_days()
        return "; ".join(notes)

    random_runs._let_arrive(files, tmp_path / "in", 0)
    run("parts")
    assert run("parts", first_day).endswith(f"days before {first_day} are forgotten")
    for name in list_tables(tmp_path / "parts"):
        table = table_versions.open_table(str(tmp_path / "parts" / name))
        assert table is not None
        for day in {
            file.partition_values.get("date", first_day) for file in table_versions.list_files(table)
        }:
            assert day >= first_day or name in ("silver/broker_lifecycle", "gold/broker_flaps"), name
    # All files are new to a run, and it takes no line of a forgotten day.
    for path in (tmp_path / "in").rglob("*.jsonl"):
        path.write_bytes(path.read_bytes())
    random_runs._let_arrive(files, tmp_path / "in", 1)
    assert f"day {days[-1][:4]}-" in run("parts")
    run("once")
    differences = {
        name: (only_parts, only_once)
        for name, only_parts, only_once in compare_folders(tmp_path / "parts", tmp_path / "once", first_day)
        if name not in (*TRENDS, "bronze/files") and (only_parts or only_once)
    }
    assert differences == {}
