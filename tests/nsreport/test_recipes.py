"""Recipes for reports on tables of a run; `make recipes` runs them with the real programs."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from nsreport.reports import table_catalogue
from tests.support import gold_tables, recipes
from tests.support.name_servers import ROOT

FILES = ROOT / "tests" / "golden" / "report_files"
"""What `report export` wrote of the tables of `make demo-report`."""
FULL = os.environ.get("NSADMIN_RECIPES")
"""The Python of an environment with Airflow, if the recipes shall run with the real programs."""
full_only = pytest.mark.skipif(not FULL, reason="make recipes runs it")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with tables that have the rows of these files."""
    for file in FILES.glob("*.parquet"):
        with duckdb.connect() as connection:
            rows = connection.read_parquet(str(file))
            types = dict(zip(rows.columns, map(str, rows.types), strict=True))
            if file.stem != "data_quality":
                gold_tables.table(tmp_path / "tables" / "gold" / file.stem, types, rows.fetchall())
    return tmp_path


def ask(folder: Path, title: str) -> list[tuple[Any, ...]]:
    """The rows of a query of the dashboard, for all clusters and all time."""
    with duckdb.connect() as connection:
        queries = recipes.read_queries()
        [clusters] = connection.sql(queries["cluster"].replace("${folder:raw}", str(folder))).fetchall()
        since, until = datetime(2020, 1, 1), datetime(2030, 1, 1)
        rows = connection.sql(recipes.fill_query(queries[title], folder, [*clusters], since, until))
        assert rows is not None
        # The plugin has no converter for these types.
        assert not [kind for kind in map(str, rows.types) if kind.endswith("]") or kind == "HUGEINT"]
        return rows.fetchall()


def test_the_dashboard_answers_from_the_files_of_a_run() -> None:
    answers = {title: ask(FILES, title) for title in recipes.read_queries() if title != "cluster"}
    assert answers["Availability"] == [(99.251,)]
    assert answers["Undone drains"] == [(2,)]
    assert answers["Unreadable lines"] == [(0.0,)]
    assert len(answers["Availability per broker and day"]) == len(answers["Size of registrations"]) == 12
    assert (datetime(2025, 2, 2), "broker-a-1:0", pytest.approx(99.14, abs=0.01)) in answers[
        "Availability per broker and day"
    ]
    assert answers["When brokers were lost"][0][2:5] == ("cluster-a", "broker-a-1:0", 3)
    assert {row[4] for row in answers["Drains"]} == {"undone", "restarted"}
    assert len(answers["Differences between name servers"]) == 45


def test_the_files_have_the_columns_of_this_release() -> None:
    for file in FILES.glob("*.parquet"):
        table = table_catalogue.find_table(file.stem)
        assert table is not None
        assert duckdb.read_parquet(str(file)).columns == [column.name for column in table.columns]


def test_the_cells_of_the_notebook_run(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPORT_HOME", str(home))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("MPLBACKEND", "agg")
    check = """
assert worst.columns[:3] == ["cluster", "brokerName", "brokerId"] and worst.fetchall()
assert len(axes.lines) == len({row[0] for row in growth}) == 4
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
    names = {path.name for path in (out / "files").glob("[!.]*.parquet")}
    assert names == {file.name for file in FILES.iterdir()}
    for title in recipes.read_queries().keys() - {"cluster"}:
        ask(out / "files", title)
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
