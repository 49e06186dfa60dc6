"""Markdown page: renders the reports of a page as Markdown tables, for a wiki or an issue."""

import re
from collections.abc import Iterator
from html import escape

from nsreport.presentation import pages, verdict
from nsreport.presentation.pages import ReportPage


def render_markdown(report_page: ReportPage) -> str:
    """Render a page as Markdown, with tables and without charts."""
    return "\n".join(_markdown_lines(report_page)) + "\n"


def _markdown_lines(report_page: ReportPage) -> Iterator[str]:
    yield f"# {report_page.page_title}"
    yield f"\n{pages.describe_period(report_page)} Made {report_page.made_at}."
    word, sentence = verdict.answer(report_page.sections, verdict.find_incidents(report_page.sections))
    yield f"\nWas anything wrong? **{word}.** {sentence}"
    unknown_text = verdict.describe_unknown_time(report_page.sections)
    yield f"\nOf the input, {pages.describe_lines(report_page)}. {unknown_text}"
    if report_page.missing_reports:
        yield f"\nNo run computed these reports: {', '.join(report_page.missing_reports)}."
    for section in report_page.sections:
        report, report_rows = section
        yield f"\n## {pages.format_heading(report)}\n\n{report.description}\n"
        if not report_rows:
            yield "Nothing."
            continue
        yield f"| {' | '.join(report.columns)} |"
        yield "|" + "---|" * len(report.columns)
        for _, report_row in pages.select_rows(section):
            cell_texts = (
                _escape_markdown(pages.format_value(report_row[column_name]))
                for column_name in report.columns
            )
            yield f"| {' | '.join(cell_texts)} |"
        if omission_note := pages.describe_omission(section):
            yield f"\n{omission_note}"


# An underscore inside a word is no markup; names have many of them.
_MARKDOWN_PATTERN = re.compile(r"[\\`*\[\]!|#~$]|(?<!\w)_|_(?!\w)")
# GitHub makes links of these without any markup.
_BARE_LINK_PATTERN = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)


def _escape_markdown(cell_text: str) -> str:
    """Escape a text for a cell of a Markdown table: it adds no cell, link, picture or HTML."""
    escaped_text = _MARKDOWN_PATTERN.sub(r"\\\g<0>", escape(cell_text, quote=False))
    return _BARE_LINK_PATTERN.sub(lambda match: f"&#{ord(match[0])};", escaped_text)
