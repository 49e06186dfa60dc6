"""HTML page: renders reports as one HTML file that needs no network and is readable on a phone."""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files

from nsreport.presentation import availability_calendar, pages, report_charts, verdict
from nsreport.presentation.pages import ReportPage, ReportSection
from nsreport.presentation.report_reader import ReportRow
from nsreport.reports.catalogue import ReportDefinition

_INCIDENT_COLUMNS = {
    "what": "what was wrong, with a link to its rows",
    "begin": "time when it began",
    "length": "time until it ended, or until the end of the data",
    "cause": "cause that the report gives",
    "seen by": "name servers that saw it",
}


def render_page(report_page: ReportPage, index_link: str | None = None) -> str:
    """Render a page with all its reports; `index_link` leads back to the page of all clusters."""
    return render_document(
        report_page, report_page.sections, link_rows(report_page.sections), index_link=index_link
    )


def link_rows(sections: Sequence[ReportSection], file_name: str = "") -> dict[int, str]:
    """Return the link to each row by `id(row)`. Rows that the page omits have the link to their report."""
    links: dict[int, str] = {}
    for section in sections:
        name = section.report.name
        links |= {id(row): f"{file_name}#{name}" for row in section.report_rows}
        links |= {id(row): f"{file_name}#{name}-{number}" for number, row in pages.select_rows(section)}
    return links


def render_document(
    report_page: ReportPage,
    sections: Sequence[ReportSection],
    row_links: Mapping[int, str],
    first_section: Iterable[str] = (),
    availability_link: str = "#broker_availability",
    index_link: str | None = None,
) -> str:
    """Render an HTML file with the verdict on a page, the lines of `first_section`, and these sections."""
    filled_sections = [section for section in sections if section.report_rows]
    empty_reports = [section.report for section in sections if not section.report_rows]
    page_lines = [
        *_head_lines(report_page.page_title),
        '<a class="skip" href="#content">Skip to the content</a>',
        *_header_lines(report_page, index_link),
        '<div class="columns">',
        *_navigation_lines(filled_sections, bool(empty_reports or report_page.missing_reports)),
        '<main id="content" tabindex="-1">',
        *_verdict_lines(report_page, row_links, availability_link),
        *first_section,
        *(line for section in filled_sections for line in _section_lines(section)),
        *_empty_report_lines(empty_reports, report_page.missing_reports),
        "</main></div>",
        f"<script>{_read_asset('page.js')}</script></body></html>",
    ]
    return "\n".join(page_lines) + "\n"


@cache
def _read_asset(file_name: str) -> str:
    return files("nsreport.presentation").joinpath(file_name).read_text(encoding="utf-8")


def _head_lines(page_title: str) -> Iterator[str]:
    script_hash = base64.b64encode(hashlib.sha256(_read_asset("page.js").encode()).digest()).decode()
    # The page loads nothing and runs one script, whatever the names in its tables contain.
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{script_hash}'; "
        f"base-uri 'none'; form-action 'none'"
    )
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{_escape_text(page_title)}</title><style>{_read_asset('page.css')}</style></head><body>"


def _header_lines(report_page: ReportPage, index_link: str | None) -> Iterator[str]:
    yield "<header>"
    if index_link is not None:
        yield f'<p><a href="{escape(index_link)}">All clusters</a></p>'
    yield f"<h1>{_escape_text(report_page.page_title)}</h1>"
    yield f'<p class="soft">{pages.describe_period(report_page)} Made {report_page.made_at}.</p></header>'


def _verdict_lines(
    report_page: ReportPage, row_links: Mapping[int, str], availability_link: str
) -> Iterator[str]:
    """Answer whether anything was wrong; each figure is a link to its rows."""
    sections = report_page.sections
    incidents = verdict.find_incidents(sections)
    word, sentence = verdict.answer(sections, incidents)
    yield '<section id="verdict" aria-labelledby="verdict-heading">'
    yield '<h2 id="verdict-heading">Was anything wrong?</h2>'
    yield f'<p class="answer {word.lower()}"><strong>{word}.</strong> {escape(sentence)}</p>'
    broker_rows = pages.find_rows(sections, "broker_availability") or []
    availability = verdict.compute_availability(broker_rows)
    yield '<div class="tiles">'
    yield from _tile_lines(
        "Availability",
        "unknown" if availability is None else render_link(availability_link, f"{availability:g} %"),
        [] if availability is None else ["of all brokers", f"{_sum_time(broker_rows, 'downSeconds')} down"],
    )
    longest_seconds = max((incident.seconds or 0 for incident in incidents), default=0)
    yield from _tile_lines(
        "Incidents",
        render_link("#incidents", f"{len(incidents):,}") if incidents else "none found",
        [
            f"{sum(incident.is_open for incident in incidents):,} still open",
            f"{verdict.format_seconds(longest_seconds)} the longest",
        ]
        if incidents
        else [],
    )
    worst_brokers = [
        f"{render_link(row_links[id(rows[0])], label)} {verdict.compute_availability(rows):g} %, "
        f"{_sum_time(rows, 'downSeconds')} down"
        for label, rows in verdict.rank_brokers(sections)[:3]
    ]
    no_broker = "unknown" if availability is None else "none down"
    yield from _tile_lines("Worst brokers", "" if worst_brokers else no_broker, worst_brokers)
    unknown_days = verdict.rank_unknown_days(sections)
    day_notes = [
        f"{render_link(row_links[id(rows[0])], day.isoformat())} "
        f"{verdict.count(sum(bool(row['unknownSeconds']) for row in rows), 'broker')}, "
        f"{_sum_time(rows, 'unknownSeconds')}"
        for day, rows in unknown_days[:3]
    ]
    if len(unknown_days) > len(day_notes):
        day_notes.append(f"and {verdict.count(len(unknown_days) - len(day_notes), 'day')} more")
    if missing_count := len(report_page.missing_reports):
        missing_text = f"{verdict.count(missing_count, 'report')} not computed"
        day_notes.append(render_link("#nothing", missing_text))
    yield from _tile_lines(
        "No data",
        _sum_time(broker_rows, "unknownSeconds") if broker_rows else "unknown",
        ["of the brokers' time", *day_notes, pages.describe_lines(report_page)],
    )
    yield "</div>"
    if incidents:
        omission = f"; the first {pages.MAX_TABLE_ROWS:,}" if len(incidents) > pages.MAX_TABLE_ROWS else ""
        yield from render_table(
            "incidents",
            f"{verdict.count(len(incidents), 'incident')}, open and serious ones first{omission}",
            _INCIDENT_COLUMNS,
            [
                f"<tr><td>{render_link(row_links[id(incident.row)], incident.subject)}</td>"
                f"{render_cell(incident.begin)}{_render_length(incident)}{render_cell(incident.cause)}"
                f"{render_cell(incident.servers or None)}</tr>"
                for incident in incidents[: pages.MAX_TABLE_ROWS]
            ],
        )
    yield "</section>"


def _render_length(incident: verdict.Incident) -> str:
    if incident.seconds is None:
        return "<td>–</td>"
    open_text = ", still open" if incident.is_open else ""
    length_text = verdict.format_seconds(incident.seconds)
    return f'<td data-value="{incident.seconds:g}">{length_text}{open_text}</td>'


def _tile_lines(title: str, figure: str, notes: Sequence[str]) -> Iterator[str]:
    """Yield a figure with its title and notes; figure and notes are HTML."""
    yield f"<div><h3>{title}</h3>{f'<p>{figure}</p>' if figure else ''}"
    yield f"<ul>{''.join(f'<li>{note}</li>' for note in notes)}</ul></div>" if notes else "</div>"


def _sum_time(rows: Sequence[ReportRow], column_name: str) -> str:
    return verdict.format_seconds(verdict.sum_seconds(rows, column_name))


def _navigation_lines(sections: Sequence[ReportSection], has_empty_reports: bool) -> Iterator[str]:
    yield '<nav aria-label="Reports"><ul><li><a href="#verdict">Was anything wrong?</a></li>'
    for report, report_rows in sections:
        yield (
            f'<li><a href="#{report.name}">{pages.format_heading(report)} '
            f'<span class="count">{len(report_rows):,}</span></a></li>'
        )
    if has_empty_reports:
        yield '<li><a href="#nothing">Reports without rows</a></li>'
    yield "</ul></nav>"


def _section_lines(section: ReportSection) -> Iterator[str]:
    report, report_rows = section
    chart = report_charts.draw_chart(report.name, report_rows)
    yield f'<section class="report" id="{report.name}" aria-labelledby="{report.name}-heading">'
    yield f'<div class="about"><h2 id="{report.name}-heading">{pages.format_heading(report)}</h2>'
    yield f"<p>{escape(report.description)}</p></div>"
    if report.name == "broker_availability":
        yield from availability_calendar.render_calendar(report_rows)
    if chart is not None:
        svg_text, caption = chart
        yield f"<figure>{svg_text}<figcaption>{escape(caption)}</figcaption></figure>"
    count_text = pages.describe_omission(section) or verdict.count(len(report_rows), "row")
    yield "<div>"
    yield from render_table(
        f"{report.name}-caption",
        # Regions of a page need different names.
        f"{pages.format_heading(report)}: {count_text}",
        report.columns,
        [
            f'<tr id="{report.name}-{number}">'
            f"{''.join(render_cell(row[column_name]) for column_name in report.columns)}</tr>"
            for number, row in pages.select_rows(section)
        ],
    )
    yield from _column_meanings(report.columns)
    yield "</div></section>"


def render_table(
    caption_id: str, caption: str, columns: Mapping[str, str], table_rows: Sequence[str]
) -> Iterator[str]:
    """Yield the lines of a sortable table; `columns` has meanings by name, and rows are HTML."""
    # A region that scrolls must take the focus, or a keyboard cannot scroll it.
    table_class = "table long" if len(table_rows) > 100 else "table"
    yield f'<div class="{table_class}" role="region" aria-labelledby="{caption_id}" tabindex="0">'
    yield f'<table class="sortable"><caption id="{caption_id}">{escape(caption)}</caption><thead><tr>'
    yield from (
        f'<th scope="col" title="{escape(column_meaning)}">{escape(column_name)}</th>'
        for column_name, column_meaning in columns.items()
    )
    yield "</tr></thead><tbody>"
    yield from table_rows
    yield "</tbody></table></div>"


def render_cell(cell_value: object) -> str:
    """Render a value as a cell; numbers are on the right."""
    is_number = isinstance(cell_value, (int, float)) and not isinstance(cell_value, bool)
    start_tag = '<td class="n">' if is_number else "<td>"
    return f"{start_tag}{escape(pages.format_value(cell_value))}</td>"


def render_link(target: str, text: str) -> str:
    """Render a link; the text may contain the name of a broker or a cluster."""
    return f'<a href="{escape(target)}">{_escape_text(text)}</a>'


def _column_meanings(columns: Mapping[str, str]) -> Iterator[str]:
    """List the meanings of columns: a phone and a keyboard show no tooltips."""
    yield "<details><summary>Meaning of the columns</summary><dl>"
    yield from (
        f"<dt>{escape(column_name)}</dt><dd>{escape(column_meaning)}</dd>"
        for column_name, column_meaning in columns.items()
    )
    yield "</dl></details>"


def _empty_report_lines(
    empty_reports: Sequence[ReportDefinition], missing_names: Sequence[str]
) -> Iterator[str]:
    """List the reports without rows: an empty report is a result too, and one that no run made is not."""
    if empty_reports or missing_names:
        yield '<section id="nothing" aria-labelledby="nothing-heading">'
        yield '<h2 id="nothing-heading">Reports without rows</h2><ul>'
        yield from (
            f'<li id="{report.name}">{pages.format_heading(report)}: {escape(report.description)}</li>'
            for report in empty_reports
        )
        yield "</ul>"
        if missing_names:
            yield f"<p>No run computed these reports: {', '.join(missing_names)}.</p>"
        yield "</section>"


def _escape_text(text: str) -> str:
    """Escape a text that may contain the name of a cluster."""
    return escape(pages.format_value(text))
