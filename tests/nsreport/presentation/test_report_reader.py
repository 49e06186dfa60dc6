"""Reading what a run has made."""

from datetime import date, datetime
from pathlib import Path

import pytest

from nsreport.presentation import report_reader
from nsreport.presentation.report_reader import DayRange, TableNotMadeError
from nsreport.reports.catalogue import REPORTS_BY_NAME
from tests.support.gold_tables import DAY, NEXT
from tests.support.gold_tables import write_gold_tables as gold


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    gold(tmp_path)
    return tmp_path


def test_rows_have_the_columns_of_the_report_and_their_order(folder: Path) -> None:
    rows = report_reader.read_report(folder, "broker_availability")
    assert list(rows[0]) == list(REPORTS_BY_NAME["broker_availability"].columns)
    assert [(row["date"], row["cluster"], row["brokerName"], row["availability"]) for row in rows] == [
        (DAY, "c 1", "a", 100.0),
        (DAY, "c 1", "b<1>", 92.5926),
        (NEXT, "c 1", "a", None),
    ]


def test_days_are_both_included(folder: Path) -> None:
    def days(first: date | None, last: date | None) -> set[date]:
        found = report_reader.read_report(folder, "broker_availability", DayRange(first, last))
        return {row["date"] for row in found}

    assert (days(DAY, DAY), days(NEXT, None), days(None, DAY)) == ({DAY}, {NEXT}, {DAY})


@pytest.mark.parametrize("cluster", ["007", "2025-01-01"])
def test_a_cluster_is_called_as_it_is(tmp_path: Path, cluster: str) -> None:
    import duckdb

    part = tmp_path / "gold" / "hot_brokers" / f"cluster={cluster}"
    part.mkdir(parents=True)
    (part.parent / "_schema.json").touch()
    duckdb.sql(f"copy (select DATE '2025-02-01' as date, 'b' as brokerName) to '{part}/0.parquet'")
    [row] = report_reader.read_report(tmp_path, "hot_brokers")
    assert (row["cluster"], row["date"]) == (cluster, DAY)


def test_an_empty_table_has_no_rows(folder: Path) -> None:
    assert report_reader.read_report(folder, "drain_audit") == []


def test_lines_and_those_that_nobody_understood_are_counted(folder: Path) -> None:
    assert report_reader.count_quarantined_lines(folder) == (3, 200)


@pytest.mark.parametrize(
    ("name", "said"),
    [("ns_health", "no table "), ("x", 'unknown report "x": use one of broker_')],
)
def test_what_is_not_there_is_said_with_what_to_do(folder: Path, name: str, said: str) -> None:
    with pytest.raises(TableNotMadeError, match=said):
        report_reader.read_report(folder, name)


def test_values_become_those_of_json() -> None:
    assert report_reader.to_json_value(
        {"at": [datetime(2025, 2, 1, 3, 4, 5, 678_000)], "day": DAY, "n": 1.5}
    ) == {
        "at": ["2025-02-01T03:04:05.678Z"],
        "day": "2025-02-01",
        "n": 1.5,
    }


def test_a_url_is_named_and_asked_for_nothing() -> None:
    with pytest.raises(
        TableNotMadeError, match=r'^cannot read "s3a:/bucket/[^\n]*: copy the tables to a local'
    ):
        report_reader.read_report(Path("s3a://bucket/reports"), "drain_audit")
