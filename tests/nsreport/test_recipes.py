"""Recipes for reports on the tables of a run; `make recipes` runs them with the real programs."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pyspark.sql import SparkSession

from nsreport import command
from nsreport.presentation import table_export
from nsreport.presentation.report_reader import DayRange
from nsreport.reports import table_catalogue
from tests.support import recipes

REPORTS = "broker_availability,broker_flaps,drain_audit,ns_divergence,topic_growth"
FULL = os.environ.get("NSADMIN_RECIPES")
"""The Python of an environment with Airflow, if the recipes shall run with the real programs."""
full_only = pytest.mark.skipif(not FULL, reason="make recipes runs it")


@pytest.fixture(scope="module")
def home(
    spark: SparkSession, played: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder with the tables of a run, and with the files that the script exports."""
    home = tmp_path_factory.mktemp("report")

    @contextmanager
    def started(flags: Any) -> Iterator[SparkSession]:
        yield spark

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(command, "open_spark_session", started)
        line = ["run", "--source", f"*={played('undone-wipe')}/ns-*/journal", "--reports", REPORTS]
        assert command.main([*line, "--dir", str(home / "tables")]) == command.EXIT_DONE
    (home / "files").mkdir()
    for name in (*REPORTS.split(","), "data_quality"):
        table = table_catalogue.find_table(name)
        assert table is not None
        table_export.export_table(home / "tables", table, DayRange(), home / "files" / f"{name}.parquet")
    return home


def ask(home: Path, title: str) -> list[tuple[Any, ...]]:
    """The rows of a query of the dashboard, for all clusters and all time."""
    with duckdb.connect() as connection:
        queries = recipes.read_queries()
        clusters = [
            row[0]
            for row in connection.sql(queries["cluster"].replace("${folder:raw}", f"{home}/files")).fetchall()
        ]
        since, until = datetime(2020, 1, 1), datetime(2030, 1, 1)
        rows = connection.sql(recipes.fill_query(queries[title], home / "files", clusters, since, until))
        assert rows is not None
        # The plugin has no converter for these types.
        assert not [kind for kind in map(str, rows.types) if kind.endswith("]") or kind == "HUGEINT"]
        return rows.fetchall()


def test_the_dashboard_answers_from_the_files_of_a_run(home: Path) -> None:
    answers = {title: ask(home, title) for title in recipes.read_queries() if title != "cluster"}
    [(availability,)], [(undone,)] = answers["Availability"], answers["Undone drains"]
    assert 0 < availability <= 100
    assert undone > 0
    assert answers["Unreadable lines"] == [(0.0,)]
    assert answers["Availability per broker and day"]
    assert "undone" in {row[4] for row in answers["Drains"]}
    assert {row[2] for row in answers["When brokers were lost"]} == {"cluster-a"}
    assert answers["Differences between name servers"]


def test_the_cells_of_the_notebook_run(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPORT_HOME", str(home))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("MPLBACKEND", "agg")
    check = """
assert worst.columns[:3] == ["cluster", "brokerName", "brokerId"] and worst.fetchall()
assert len(axes.lines) == len({row[0] for row in growth})
"""
    subprocess.run([sys.executable, "-c", "\n".join([*recipes.read_cells(), check])], check=True, timeout=300)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return os.environ | {
        "PATH": path, "AIRFLOW_HOME": str(tmp_path / "airflow"), "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGS_FOLDER": str(recipes.FOLDER), "REPORT_HOME": str(tmp_path / "out"),
    }  # fmt: skip


def assert_all_made(out: Path) -> None:
    names = {path.stem for path in (out / "files").glob("[!.]*.parquet")}
    assert names == {*REPORTS.split(","), "data_quality"}
    assert len(list((out / "pages").glob("*.html"))) == 2


@full_only
def test_the_script_makes_tables_files_and_pages(
    played: Callable[[str], Path], tmp_path: Path, environment: dict[str, str]
) -> None:
    environment["REPORT_SOURCES"] = f"*={played('undone-wipe')}/ns-*/journal"
    for _ in range(2):
        subprocess.run(["sh", recipes.SCRIPT], env=environment, check=True, timeout=900)
        assert_all_made(tmp_path / "out")


@full_only
def test_airflow_executes_the_dag(
    played: Callable[[str], Path], tmp_path: Path, environment: dict[str, str]
) -> None:
    airflow = [str(FULL), "-m", "airflow"]
    subprocess.run([*airflow, "db", "migrate"], env=environment, check=True, timeout=300)
    params = {"sources": f"*={played('undone-wipe')}/ns-*/journal", "home": str(tmp_path / "out")}
    line = [*airflow, "dags", "test", "nsadmin_reports", "--conf", json.dumps(params)]
    subprocess.run(line, env=environment, check=True, timeout=900)
    assert_all_made(tmp_path / "out")


@full_only
def test_jupyter_executes_the_notebook(home: Path, environment: dict[str, str]) -> None:
    code = (
        "import nbclient, nbformat, sys; notebook = nbformat.read(sys.argv[1], 4); "
        "nbformat.validate(notebook); nbclient.execute(notebook)"
    )
    environment["REPORT_HOME"] = str(home)
    subprocess.run([sys.executable, "-c", code, recipes.NOTEBOOK], env=environment, check=True, timeout=300)
