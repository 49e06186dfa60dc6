"""HTML page: renders reports as one HTML file that needs no network and is readable on a phone."""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files

from nsreport.presentation import pages, report_charts
from nsreport.presentation.pages import ReportPage, ReportSection
from nsreport.presentation.report_reader import ReportRow
from nsreport.reports.catalogue import ReportDefinition


def render_page(report_page: ReportPage, index_link: str | None = None) -> str:
    """Render a page with all its reports; `index_link` leads back to the page of all clusters."""
    return render_document(report_page, report_page.sections, index_link=index_link)


def render_document(
    report_page: ReportPage,
    sections: Sequence[ReportSection],
    first_section: Iterable[str] = (),
    index_link: str | None = None,
) -> str:
    """Render an HTML file with these sections; the lines of `first_section` come before them."""
    filled_sections = [section for section in sections if section.report_rows]
    empty_reports = [section.report for section in sections if not section.report_rows]
    page_lines = [
        *_head_lines(report_page.page_title),
        '<a class="skip" href="#content">Skip to the reports</a>',
        *_header_lines(report_page, index_link),
        '<div class="columns">',
        *_navigation_lines(filled_sections, bool(empty_reports)),
        '<main id="content" tabindex="-1">',
        *first_section,
        *(line for section in filled_sections for line in _section_lines(section)),
        *_empty_report_lines(empty_reports),
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
    yield f"<h1>{_escape_text(report_page.page_title)}</h1><p>Made {report_page.made_at}.</p><ul>"
    yield from (f"<li>{escape(summary_line)}</li>" for summary_line in pages.summarize_page(report_page))
    yield "</ul></header>"


def _navigation_lines(sections: Sequence[ReportSection], has_empty_reports: bool) -> Iterator[str]:
    yield '<nav aria-label="Reports"><ul>'
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
    if chart is not None:
        yield f"<figure>{chart.svg_text}<figcaption>{escape(chart.caption)}</figcaption></figure>"
    yield "<div>"
    yield from render_table(
        f"{report.name}-caption",
        # Regions of a page need different names.
        f"{pages.format_heading(report)}: {pages.describe_omission(section) or _count_rows(report_rows)}",
        report.columns,
        [
            [render_cell(report_row[column_name]) for column_name in report.columns]
            for report_row in report_rows[-pages.MAX_TABLE_ROWS :]
        ],
    )
    yield from _column_meanings(report.columns)
    yield "</div></section>"


def render_table(
    caption_id: str, caption: str, columns: Mapping[str, str], table_rows: Iterable[Sequence[str]]
) -> Iterator[str]:
    """Yield the lines of a sortable table; `columns` has meanings by name, and rows are cells in HTML."""
    # A region that scrolls must take the focus, or a keyboard cannot scroll it.
    yield f'<div class="table" role="region" aria-labelledby="{caption_id}" tabindex="0"><table>'
    yield f'<caption id="{caption_id}">{escape(caption)}</caption><thead><tr>'
    yield from (
        f'<th scope="col" title="{escape(column_meaning)}">{escape(column_name)}</th>'
        for column_name, column_meaning in columns.items()
    )
    yield "</tr></thead><tbody>"
    yield from (f"<tr>{''.join(table_cells)}</tr>" for table_cells in table_rows)
    yield "</tbody></table></div>"


def render_cell(cell_value: object) -> str:
    """Render a value as a cell; numbers are on the right."""
    is_number = isinstance(cell_value, (int, float)) and not isinstance(cell_value, bool)
    start_tag = '<td class="n">' if is_number else "<td>"
    return f"{start_tag}{escape(pages.format_value(cell_value))}</td>"


def _column_meanings(columns: Mapping[str, str]) -> Iterator[str]:
    """List the meanings of columns: a phone and a keyboard show no tooltips."""
    yield "<details><summary>Meaning of the columns</summary><dl>"
    yield from (
        f"<dt>{escape(column_name)}</dt><dd>{escape(column_meaning)}</dd>"
        for column_name, column_meaning in columns.items()
    )
    yield "</dl></details>"


def _empty_report_lines(empty_reports: Sequence[ReportDefinition]) -> Iterator[str]:
    """List the reports without rows: an empty report is a result too."""
    if empty_reports:
        yield '<section id="nothing" aria-labelledby="nothing-heading">'
        yield '<h2 id="nothing-heading">Reports without rows</h2><ul>'
        yield from (
            f'<li id="{report.name}">{pages.format_heading(report)}: {escape(report.description)}</li>'
            for report in empty_reports
        )
        yield "</ul></section>"


def _count_rows(report_rows: Sequence[ReportRow]) -> str:
    return "1 row" if len(report_rows) == 1 else f"{len(report_rows):,} rows"


def _escape_text(text: str) -> str:
    """Escape a text that may contain the name of a cluster."""
    return escape(pages.format_value(text))
