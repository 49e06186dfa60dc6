"""Pages: what a page of reports contains, before it is rendered as HTML or Markdown."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from namesrv_core.printable_text import escape_unsafe
from nsreport.presentation import report_reader
from nsreport.presentation.report_reader import DayRange, ReportRow
from nsreport.reports.catalogue import REPORTS_BY_NAME, ReportDefinition

MAX_TABLE_ROWS = 500
"""A page shows this many rows of a table; `report show` shows all of them."""

NO_CLUSTER = "-"
"""The cluster of rows that concern no cluster, or an unknown one."""


class ReportSection(NamedTuple):
    report: ReportDefinition
    report_rows: list[ReportRow]


class ReportPage(NamedTuple):
    """The content of a page: time, line counts, sections, and the names of reports that no run made."""

    page_title: str
    made_at: str
    quarantined_count: int
    line_count: int
    sections: list[ReportSection]
    missing_reports: list[str]


def collect_page(
    output_folder: Path,
    now: datetime,
    day_range: DayRange = DayRange(),  # noqa: B008 - it is immutable
) -> ReportPage:
    """Read the content of a page. Raises TableNotMadeError if no run wrote to `output_folder`."""
    quarantined_count, line_count = report_reader.count_quarantined_lines(output_folder, day_range.as_of)
    sections, missing_reports = [], []
    for report in REPORTS_BY_NAME.values():
        try:
            report_rows = report_reader.read_report(output_folder, report.name, day_range)
        except report_reader.TableNotMadeError:
            missing_reports.append(report.name)
            continue
        sections.append(ReportSection(report, report_rows))
    made_at = now.strftime("%Y-%m-%d %H:%M UTC")
    return ReportPage(
        "Name servers and brokers",
        made_at,
        quarantined_count,
        line_count,
        sections,
        missing_reports,
    )


def describe_period(report_page: ReportPage) -> str:
    """Say which days a page is about."""
    days = {row["date"] for section in report_page.sections for row in section.report_rows if row.get("date")}
    return f"From {min(days)} to {max(days)}. All times are UTC." if days else "No row has a date."


def describe_lines(report_page: ReportPage) -> str:
    """Say how many of the lines could not be read."""
    unreadable_count, line_count = report_page.quarantined_count, report_page.line_count
    if not unreadable_count:
        return f"all {line_count:,} lines could be read"
    share_text = f"{unreadable_count / line_count:.2%}"
    return f"{unreadable_count:,} of {line_count:,} lines ({share_text}) could not be read"


def find_rows(sections: Sequence[ReportSection], report_name: str) -> list[ReportRow] | None:
    """Return the rows of a report, or None if the page does not have it."""
    return next((section.report_rows for section in sections if section.report.name == report_name), None)


def select_rows(section: ReportSection) -> list[tuple[int, ReportRow]]:
    """Return the rows that a page shows, with their numbers: the last ones.

    Of broker_availability, the days on which nothing was wrong are left out first.
    """
    numbered_rows = list(enumerate(section.report_rows))
    if len(numbered_rows) > MAX_TABLE_ROWS and section.report.name == "broker_availability":
        numbered_rows.sort(key=lambda item: bool(item[1]["downSeconds"] or item[1]["unknownSeconds"]))
    return sorted(numbered_rows[-MAX_TABLE_ROWS:], key=lambda item: item[0])


def describe_omission(section: ReportSection) -> str | None:
    """Describe the rows that a page leaves out, or None if it shows all of them."""
    omitted_count = len(section.report_rows) - MAX_TABLE_ROWS
    if omitted_count <= 0:
        return None
    rows_text = "1 more row" if omitted_count == 1 else f"{omitted_count:,} more rows"
    return f"{rows_text}: nsadmin report show {section.report.name}"


def format_heading(report: ReportDefinition) -> str:
    return report.name.replace("_", " ").replace("ns ", "name server ").capitalize()


def format_value(cell_value: object) -> str:
    if cell_value is None:
        return "–"
    if isinstance(cell_value, datetime):
        return cell_value.strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(cell_value, bool):
        return "yes" if cell_value else "no"
    if isinstance(cell_value, int):
        return f"{cell_value:,}"
    if isinstance(cell_value, float):
        return f"{cell_value:,.3f}".rstrip("0").rstrip(".")
    if isinstance(cell_value, (list, tuple)):
        return ", ".join(map(format_value, cell_value))
    return escape_unsafe(str(cell_value))
