"""report schema and report export."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("duckdb", reason="reports are the extra nsadmin[spark]")

from nsadmin.client.extras import describe_missing
from nsreport.reports.table_catalogue import list_tables
from tests.nsadmin.conftest import Run
from tests.support.examples import ExampleCase, list_cases_elsewhere, split_example
from tests.support.gold_tables import table, write_gold_tables


def test_the_schema_of_a_table_has_types_units_and_meanings(run: Run) -> None:
    rows = run("report", "schema", "broker_availability", "--json").json
    assert {"table": "gold/broker_availability", "column": "downSeconds", "type": "double", "unit": "s",
            "meaning": "s in which no name server listed it"} in rows  # fmt: skip
    assert len(run("report", "schema", "--json").json) == sum(len(table.columns) for table in list_tables())


def test_a_former_name_leads_to_the_present_table(run: Run, tmp_path: Path) -> None:
    [name] = {row["table"] for row in run("report", "schema", "told", "--json").json}
    assert name == "silver/broker_lifecycle"
    # A store that no run has renamed yet, with the former columns.
    events = {"type": "varchar", "witness": "varchar", "place": "bigint"}
    table(tmp_path / "silver" / "told", events, [("Snapshot", "ns-1", 7)], ())
    for word in ("told", "silver/told", "broker_lifecycle"):
        result = run(
            "report", "show", word, "--dir", str(tmp_path), "--columns", "observer,recordOrder", "--json"
        )
        assert result.json == [{"observer": "ns-1", "recordOrder": 7}]


def test_statements_for_views_are_printed(run: Run, tmp_path: Path) -> None:
    write_gold_tables(tmp_path)
    text = run("report", "schema", "hot_brokers", "--sql", "--dir", str(tmp_path)).out
    assert text.startswith(
        'create schema if not exists gold;\ncreate or replace view gold."hot_brokers" as select'
    )
    assert '"source" as "told"' in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["schema", "x"], 'unknown table "x": use one of broker_availability, broker_flaps'),
        (
            ["export", "x", "--out", "x.csv"],
            'unknown table "x": use one of broker_availability, broker_flaps',
        ),
        (
            ["export", "drain_audit"],
            "missing option --out FILE: use a name that ends in .csv, .parquet or .xlsx",
        ),
        (
            ["export", "drain_audit", "--out", "/nowhere/x.csv"],
            "cannot write /nowhere/x.csv: No such file or directory",
        ),
        (["show", "ns_event"], "silver/ns_event has too many columns to show: use nsadmin report export"),
    ],
)
def test_what_cannot_be_is_one_line(tmp_path: Path, run: Run, words: list[str], said: str) -> None:
    write_gold_tables(tmp_path)
    result = run("report", *words, "--dir", str(tmp_path))
    assert (result.code, result.out) == (2, "")
    assert said in result.err


def test_the_extra_that_is_missing_is_named(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_gold_tables(tmp_path)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    result = run("report", "export", "drain_audit", "--dir", str(tmp_path), "--out", str(tmp_path / "x.xlsx"))
    assert result.err == f"nsadmin: {describe_missing('openpyxl', 'excel')}\n"


@pytest.mark.parametrize(
    "case", list_cases_elsewhere("reportSchema", "reportExport"), ids=lambda case: case.entry.name
)
def test_the_examples_do_what_they_say(
    case: ExampleCase, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_gold_tables(tmp_path / "reports")
    table(tmp_path / "reports" / "silver" / "route_interval", {"date": "date"}, [], ())
    monkeypatch.chdir(tmp_path)
    for example in case.examples:
        result = run(*split_example(example))
        assert (result.code, result.err) == (example.exit_code, ""), example.command_line
        assert result.out
