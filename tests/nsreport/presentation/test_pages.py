"""What a page of reports contains."""

from datetime import date, datetime
from pathlib import Path

import pytest

from nsreport.presentation import pages, report_reader
from nsreport.presentation.pages import ReportPage
from nsreport.reports.catalogue import REPORTS_BY_NAME
from tests.support.gold_tables import write_gold_tables as gold

NOW = datetime(2025, 2, 3, 4, 5)


@pytest.fixture
def page(tmp_path: Path) -> ReportPage:
    gold(tmp_path)
    return pages.collect_page(tmp_path, NOW)


def test_a_page_says_its_days_and_how_many_lines_could_not_be_read(page: ReportPage) -> None:
    assert pages.describe_period(page) == "From 2025-02-01 to 2025-02-02. All times are UTC."
    assert pages.describe_lines(page) == "3 of 200 lines (1.50%) could not be read"
    assert pages.describe_lines(page._replace(quarantined_count=0)) == "all 200 lines could be read"
    assert pages.describe_period(page._replace(sections=[])) == "No row has a date."


def test_of_many_days_of_brokers_those_on_which_something_was_wrong_are_shown(
    page: ReportPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MAX_TABLE_ROWS", 2)
    section = page.sections[0]
    assert [(number, row["brokerName"]) for number, row in pages.select_rows(section)] == [
        (1, "b<1>"),
        (2, "a"),
    ]
    monkeypatch.setattr(pages, "MAX_TABLE_ROWS", 3)
    assert [number for number, _ in pages.select_rows(section)] == [0, 1, 2]


def test_a_long_table_says_where_the_rest_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "MAX_TABLE_ROWS", 2)
    report = REPORTS_BY_NAME["ns_health"]
    notes = [pages.describe_omission(pages.ReportSection(report, [{}] * count)) for count in (2, 3, 2000)]
    assert notes == [
        None,
        "1 more row: nsadmin report show ns_health",
        "1,998 more rows: nsadmin report show ns_health",
    ]


def test_days_can_be_chosen(tmp_path: Path) -> None:
    gold(tmp_path)
    found = pages.collect_page(tmp_path, NOW, report_reader.DayRange(date(2025, 2, 2)))
    assert [len(section.report_rows) for section in found.sections] == [1, 0, 0]


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(report_reader.TableNotMadeError, match="report run"):
        pages.collect_page(tmp_path, NOW)


def test_values_are_for_readers() -> None:
    values = (
        None,
        datetime(2025, 2, 1, 3, 4, 5),
        80_000.0,
        0.12345,
        ["n1", "n2"],
        "a\x1b",
        True,
        date.max,
        51348,
    )
    assert [pages.format_value(value) for value in values] == [
        "–", "2025-02-01 03:04:05", "80,000", "0.123", "n1, n2", r"a\x1b", "yes", "9999-12-31", "51,348",
    ]  # fmt: skip
