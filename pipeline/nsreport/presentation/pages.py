"""Pages: what a page of reports contains, before it is rendered as HTML or Markdown."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from namesrv_core.printable_text import escape_unsafe
from nsreport.presentation import report_reader
from nsreport.presentation.report_reader import DayRange, ReportRow
from nsreport.reports.catalogue import REPORTS_BY_NAME, ReportDefinition

MAX_TABLE_ROWS = 500
"""A page shows this many rows of a table, the last ones; `report show` shows all of them."""

NO_CLUSTER = "-"
"""The cluster of rows that concern no cluster, or an unknown one."""


class ReportSection(NamedTuple):
    """A report with its rows."""

    report: ReportDefinition
    report_rows: list[ReportRow]


class ReportPage(NamedTuple):
    """The content of a page: time, line counts, a note on unknown broker hours, sections, missing reports."""

    page_title: str
    made_at: str
    quarantined_count: int
    line_count: int
    unknown_note: str
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
        describe_unknown_hours(sections),
        sections,
        missing_reports,
    )


def describe_unknown_hours(sections: Sequence[ReportSection]) -> str:
    """Describe how many broker hours are unknown, and for which days."""
    availability_rows = find_rows(sections, "broker_availability")
    if not availability_rows:
        return "The time without data is unknown, because these days have no broker availability."
    report_days = sorted(report_row["date"] for report_row in availability_rows)
    unknown_hours = sum(report_row["unknownSeconds"] for report_row in availability_rows) / 3600
    hours_text = f"From {report_days[0]} to {report_days[-1]}, {unknown_hours:,.1f} broker hours have no data"
    return f"{hours_text}. The reports do not include them."


def summarize_page(report_page: ReportPage) -> Iterator[str]:
    """Yield the lines at the top of a page, which say how complete the data are."""
    report_days = sorted(
        {
            report_row["date"]
            for section in report_page.sections
            for report_row in section.report_rows
            if report_row.get("date")
        }
    )
    if report_days:
        yield f"From {report_days[0]} to {report_days[-1]}. All times are UTC."
    share_text = (
        f" ({report_page.quarantined_count / report_page.line_count:.2%})" if report_page.line_count else ""
    )
    yield (
        f"{report_page.line_count:,} lines were read; {report_page.quarantined_count:,}{share_text} "
        f"are in the quarantine."
    )
    yield report_page.unknown_note
    if report_page.missing_reports:
        yield f"Missing reports: {', '.join(report_page.missing_reports)}."


def find_rows(sections: Sequence[ReportSection], report_name: str) -> list[ReportRow] | None:
    """Return the rows of a report, or None if the page does not have it."""
    return next((section.report_rows for section in sections if section.report.name == report_name), None)


def describe_omission(section: ReportSection) -> str | None:
    """Describe the rows that a page leaves out, or None if it shows all of them."""
    omitted_count = len(section.report_rows) - MAX_TABLE_ROWS
    if omitted_count <= 0:
        return None
    rows_text = "1 earlier row" if omitted_count == 1 else f"{omitted_count:,} earlier rows"
    return f"{rows_text}: nsadmin report show {section.report.name}"


def format_heading(report: ReportDefinition) -> str:
    """Return the name of a report as a heading."""
    return report.name.replace("_", " ").replace("ns ", "name server ").capitalize()


def format_value(cell_value: object) -> str:
    """Format a value for readers."""
    if cell_value is None:
        return "–"
    if isinstance(cell_value, datetime):
        return cell_value.strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(cell_value, float):
        return f"{cell_value:,.3f}".rstrip("0").rstrip(".")
    if isinstance(cell_value, (list, tuple)):
        return ", ".join(map(format_value, cell_value))
    return escape_unsafe(str(cell_value))
