"""Pages: renders all reports of a folder as one self-contained HTML page, or as Markdown."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from html import escape
from pathlib import Path
from typing import NamedTuple

from namesrv_core.printable_text import escape_unsafe
from nsreport.presentation import charts, report_reader
from nsreport.presentation.report_reader import DayRange, ReportRow
from nsreport.reports.catalogue import REPORTS_BY_NAME, ReportDefinition

MAX_TABLE_ROWS = 200
"""A page shows this many rows of a table; `report show` shows all of them."""


class ReportSection(NamedTuple):
    """A report with its rows and its chart."""

    report: ReportDefinition
    report_rows: list[ReportRow]
    chart_svg: str | None


class ReportPage(NamedTuple):
    """The content of a page: time, line counts, a note on unknown broker hours, sections, missing reports."""

    page_title: str
    made_at: str
    quarantined_count: int
    line_count: int
    unknown_note: str
    sections: list[ReportSection]
    missing_reports: list[str]


_CHARTS_BY_REPORT: dict[str, Callable[[Sequence[ReportRow]], str | None]] = {
    "broker_availability": charts.draw_availability_calendar,
    "broker_flaps": lambda report_rows: charts.draw_timeline(report_rows, charts.broker_labeler(report_rows)),
    "heartbeat_gaps": lambda report_rows: charts.draw_timeline(
        report_rows, _silence_labeler(report_rows), "#f2a900"
    ),
    "ns_divergence": lambda report_rows: charts.draw_timeline(report_rows, _difference_label, "#4c6ef5"),
    "topic_growth": lambda report_rows: charts.draw_growth(report_rows, 16 * 2.0**20),
    "registration_forecast": charts.draw_forecast,
    "hot_brokers": lambda report_rows: charts.draw_ranking(
        report_rows, "puts", charts.broker_labeler(report_rows)
    ),
    "topic_volume": lambda report_rows: charts.draw_ranking(
        report_rows, "messagesIn", lambda report_row: str(report_row["topic"])
    ),
}


def collect_page(
    output_folder: Path,
    now: datetime,
    day_range: DayRange = DayRange(),  # noqa: B008 - it is immutable
) -> ReportPage:
    """Read the content of a page. Raises TableNotMadeError if no run wrote to `output_folder`."""
    quarantined_count, line_count = report_reader.count_quarantined_lines(output_folder)
    sections, missing_reports = [], []
    for report in REPORTS_BY_NAME.values():
        try:
            report_rows = report_reader.read_report(output_folder, report.name, day_range)
        except report_reader.TableNotMadeError:
            missing_reports.append(report.name)
            continue
        draw_chart = _CHARTS_BY_REPORT.get(report.name)
        sections.append(ReportSection(report, report_rows, draw_chart(report_rows) if draw_chart else None))
    availability_rows = next(
        (
            report_section.report_rows
            for report_section in sections
            if report_section.report.name == "broker_availability"
        ),
        None,
    )
    made_at = now.strftime("%Y-%m-%d %H:%M UTC")
    return ReportPage(
        "Name servers and brokers",
        made_at,
        quarantined_count,
        line_count,
        _describe_unknown_hours(availability_rows),
        sections,
        missing_reports,
    )


def _describe_unknown_hours(availability_rows: Sequence[ReportRow] | None) -> str:
    """Describe how many broker hours are unknown, and for which days."""
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


def render_markdown(report_page: ReportPage) -> str:
    """Render a page as Markdown, with tables and without charts."""
    return "\n".join(_markdown_lines(report_page)) + "\n"


def _markdown_lines(report_page: ReportPage) -> Iterator[str]:
    yield f"# {report_page.page_title}"
    yield f"\nMade {report_page.made_at}. " + " ".join(summarize_page(report_page))
    for report, report_rows, _ in report_page.sections:
        yield f"\n## {_report_heading(report)}\n\n{report.description}\n"
        if not report_rows:
            yield "Nothing."
            continue
        yield f"| {' | '.join(report.columns)} |"
        yield "|" + "---|" * len(report.columns)
        for report_row in report_rows[:MAX_TABLE_ROWS]:
            cell_texts = (
                _escape_markdown(format_value(report_row[column_name])) for column_name in report.columns
            )
            yield f"| {' | '.join(cell_texts)} |"
        yield from (f"\n{omission_note}" for omission_note in _omission_notes(report, report_rows))


# An underscore inside a word is no markup; names have many of them.
_MARKDOWN_PATTERN = re.compile(r"[\\`*\[\]!|#~$]|(?<!\w)_|_(?!\w)")
# GitHub makes links of these without any markup.
_BARE_LINK_PATTERN = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)


def _escape_markdown(cell_text: str) -> str:
    """Escape a text for a cell of a Markdown table: it adds no cell, link, picture or HTML."""
    escaped_text = _MARKDOWN_PATTERN.sub(r"\\\g<0>", escape(cell_text, quote=False))
    return _BARE_LINK_PATTERN.sub(lambda match: f"&#{ord(match[0])};", escaped_text)


def render_html(report_page: ReportPage) -> str:
    """Render a page as HTML that opens without a network and is readable on a phone."""
    return "\n".join(_html_lines(report_page)) + "\n"


def _html_lines(report_page: ReportPage) -> Iterator[str]:
    page_title = escape(report_page.page_title)
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{page_title}</title><style>{_STYLE_SHEET}</style></head><body>"
    yield f"<h1>{page_title}</h1><p>Made {report_page.made_at}.</p><ul>"
    yield from (f"<li>{escape(summary_line)}</li>" for summary_line in summarize_page(report_page))
    yield "</ul><nav>"
    filled_sections = [section for section in report_page.sections if section.report_rows]
    for report, report_rows, _ in filled_sections:
        yield f'<a href="#{report.name}">{_report_heading(report)} <small>{len(report_rows):,}</small></a>'
    yield "</nav>"
    for section in filled_sections:
        yield from _section_lines(section)
    yield from _empty_report_lines(
        [section.report for section in report_page.sections if not section.report_rows]
    )
    yield "</body></html>"


def _section_lines(report_section: ReportSection) -> Iterator[str]:
    report, report_rows, chart_svg = report_section
    yield f'<section id="{report.name}"><h2>{_report_heading(report)}</h2><p>{escape(report.description)}</p>'
    if chart_svg:
        yield f"<figure>{chart_svg}</figure>"
    row_count_text = "1 row" if len(report_rows) == 1 else f"{len(report_rows):,} rows"
    yield f"<details{' open' if chart_svg is None else ''}><summary>{row_count_text}</summary>"
    yield '<div class="table"><table><thead><tr>'
    yield from (
        f'<th title="{escape(column_meaning)}">{escape(column_name)}</th>'
        for column_name, column_meaning in report.columns.items()
    )
    yield "</tr></thead><tbody>"
    for report_row in report_rows[:MAX_TABLE_ROWS]:
        yield f"<tr>{''.join(_table_cell(report_row[column_name]) for column_name in report.columns)}</tr>"
    yield "</tbody></table></div></details>"
    yield from (f"<p>{escape(omission_note)}</p>" for omission_note in _omission_notes(report, report_rows))
    yield "</section>"


def _table_cell(cell_value: object) -> str:
    class_attribute = (
        ' class="n"' if isinstance(cell_value, (int, float)) and not isinstance(cell_value, bool) else ""
    )
    return f"<td{class_attribute}>{escape(format_value(cell_value))}</td>"


def _empty_report_lines(empty_reports: Sequence[ReportDefinition]) -> Iterator[str]:
    """List the reports without rows: an empty report is a result too."""
    if empty_reports:
        yield '<section id="nothing"><h2>Nothing was found for</h2><ul>'
        yield from (
            f'<li id="{report.name}">{_report_heading(report)}: {escape(report.description)}</li>'
            for report in empty_reports
        )
        yield "</ul></section>"


def _omission_notes(report: ReportDefinition, report_rows: Sequence[ReportRow]) -> Iterator[str]:
    if len(report_rows) > MAX_TABLE_ROWS:
        yield f"{len(report_rows) - MAX_TABLE_ROWS:,} more rows: nsadmin report show {report.name}"


def _report_heading(report: ReportDefinition) -> str:
    return report.name.replace("_", " ").replace("ns ", "name server ").capitalize()


def _silence_labeler(report_rows: Sequence[ReportRow]) -> Callable[[ReportRow], str]:
    """Return a function that labels a silence: with its broker, or with the name server for a pause."""
    label_broker = charts.broker_labeler(report_rows)
    return lambda report_row: (
        str(report_row["server"]) if report_row["brokerName"] is None else label_broker(report_row)
    )


def _difference_label(report_row: ReportRow) -> str:
    """Return the broker name, or the KV key, on which name servers differed."""
    return str(report_row["brokerName"] or report_row["key"])


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


_STYLE_SHEET = """
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:0 auto;padding:1rem}
h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2.5rem;border-bottom:1px solid #8884}
ul{padding-left:1.2rem}
nav{display:flex;flex-wrap:wrap;gap:.4rem}nav a{padding:.2rem .6rem;border:1px solid #8886;border-radius:1rem;
text-decoration:none;color:inherit;font-size:.9rem}small{opacity:.6}
figure{margin:0;max-width:42rem}figure svg{width:100%;height:auto}
.table{overflow-x:auto}table{border-collapse:collapse;font-size:.8rem;white-space:nowrap}
th,td{padding:.2rem .6rem;text-align:left;border-bottom:1px solid #8883}th{cursor:help}
td.n{text-align:right;font-variant-numeric:tabular-nums}
summary{cursor:pointer;padding:.4rem 0}
"""
