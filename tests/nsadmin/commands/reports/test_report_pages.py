"""report show, report html and report markdown."""

import sys
from datetime import datetime
from pathlib import Path

import pytest

from nsadmin.client.extras import describe_missing
from tests.nsadmin.conftest import Run
from tests.support.examples import ExampleCase, list_cases_elsewhere, split_example
from tests.support.gold_tables import date_commits, table, write_gold_tables

pytest.importorskip("duckdb", reason="reports are the extra nsadmin[spark]")


@pytest.fixture
def folder(tmp_path: Path) -> str:
    write_gold_tables(tmp_path / "out")
    return str(tmp_path / "out")


def test_a_report_is_shown_in_every_form(folder: str, run: Run) -> None:
    result = run("report", "show", "broker_flaps", "--dir", folder, "--json")
    [row] = result.json
    assert (row["ts"], row["servers"], row["date"]) == (
        "2025-02-01T03:04:05.000Z",
        ["n1", "n2"],
        "2025-02-01",
    )
    result = run(
        "reportShow", "broker_availability", "--dir", folder, "--since", "2025-02-02", "--output", "csv"
    )

    assert result.out.splitlines()[1].startswith("2025-02-02,c 1,a,0,0.0,0.0,0.0,86400.0")


def test_a_page_goes_where_it_is_wanted(folder: str, tmp_path: Path, run: Run) -> None:
    result = run("report", "html", "--dir", folder, "--out", str(tmp_path / "page.html"))
    assert (result.code, result.out.strip()) == (0, str(tmp_path / "page.html"))
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    result = run("report", "markdown", "--dir", folder)
    assert result.out.startswith("# Name servers and brokers")


def test_a_folder_gets_an_index_and_a_page_for_each_cluster(folder: str, tmp_path: Path, run: Run) -> None:
    site = tmp_path / "new" / "site"
    result = run("report", "html", "--dir", folder, "--out-folder", str(site))
    assert (result.code, result.err) == (0, "")
    first, second = map(Path, result.out.split())
    assert (first, sorted(site.iterdir())) == (site / "index.html", [second, first])
    assert second.name in first.read_text()
    # A web server must be able to read them.
    assert first.stat().st_mode & 0o044


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["show", "x"], 'unknown table "x": use one of broker_availability'),
        (
            ["show", "drain_audit", "--since", "May"],
            'invalid value "May" for --from: expected a day, for example 2025-01-31',
        ),
        (
            ["show", "ns_health"],
            "ns_health: pass the folder of the reports with --dir, or make them with nsadmin report run",
        ),
        (["html", "--out", "x", "--out-folder", "y"], "use either --out or --out-folder"),
        (["html", "--out-folder", "/dev/null/x"], "cannot write into /dev/null/x: Not a directory"),
        (["html", "--out", "/dev/null/x"], "cannot write /dev/null/x: Not a directory"),
    ],
)
def test_what_cannot_be_is_one_line(folder: str, run: Run, words: list[str], said: str) -> None:
    result = run("report", *words, "--dir", folder)
    assert (result.code, result.out) == (2, "")
    assert said in result.err


def test_what_is_missing_is_said(folder: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    result = run("report", "show", "drain_audit", "--dir", folder)
    assert result.err == f"nsadmin: {describe_missing('duckdb', 'spark')}\n"


@pytest.mark.parametrize(
    "case",
    list_cases_elsewhere("reportShow", "reportHtml", "reportMarkdown"),
    ids=lambda case: case.entry.name,
)
def test_the_examples_do_what_they_say(
    case: ExampleCase, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_gold_tables(tmp_path / "reports")
    table(
        tmp_path / "reports/gold/topic_volume",
        {"topic": "varchar", "date": "date"},
        [("orders", "2025-02-01")],
    )
    # Before the time that an example of --as-of names.
    date_commits(tmp_path / "reports", datetime(2025, 2, 28))
    monkeypatch.chdir(tmp_path)
    for example in case.examples:
        result = run(*split_example(example))
        assert (result.code, result.err) == (example.exit_code, ""), example.command_line
        assert result.out


def test_an_expected_broker_that_is_down_or_in_no_journal_is_named(folder: str, run: Run) -> None:
    words = ("report", "show", "broker_availability", "--dir", folder, "--json")
    report = run(*words)
    assert (report.code, report.err) == (0, "")
    # No journal covers the last day of a, so it is not missing.
    assert run(*words, "--expect", "a").code == 0
    result = run(*words, "--expect", "a,b<1>,zz:1")
    assert (result.code, result.err) == (
        3,
        "nsadmin: b<1>:0 is missing: it was down on the last day\n"
        "nsadmin: zz:1 is missing: the report has no row of it\n",
    )
    *rows, unseen = result.json
    assert rows == report.json
    assert (unseen["brokerName"], unseen["brokerId"], unseen["upSeconds"]) == ("zz", 1, None)


@pytest.mark.parametrize(
    ("report", "expected", "said"),
    [
        ("drain_audit", "a", "--expect applies to broker_availability only"),
        ("broker_availability", "no such file", "report show: --expect "),
    ],
)
def test_an_expectation_that_cannot_be_used_is_refused(
    folder: str, run: Run, report: str, expected: str, said: str
) -> None:
    result = run("report", "show", report, "--dir", folder, "--expect", expected)
    assert (result.code, said in result.err) == (2, True)
