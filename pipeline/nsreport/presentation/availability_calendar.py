"""Availability calendar: a line for each broker and a cell for each day, as HTML."""

from collections.abc import Iterator, Sequence
from datetime import date
from html import escape

from nsreport.presentation import pages, verdict
from nsreport.presentation.charts import broker_labeler
from nsreport.presentation.report_reader import ReportRow

_STATE_LABELS = {
    "up": "99.99 % or more",
    "partly": "99 % or more",
    "down": "less than 99 %",
    "planned": "drained",
    "unknown": "no data",
}
MAX_DAYS = 92
"""A calendar shows this many days, the last ones."""
_MAX_FIGURE_DAYS = 7
"""The cells of a longer calendar have no room for figures."""
_MAX_LINES = 200


def render_calendar(report_rows: Sequence[ReportRow]) -> Iterator[str]:
    """Yield a table of the brokers that were down, the longest first, and a folded one of the others."""
    days = sorted({row["date"] for row in report_rows})[-MAX_DAYS:]
    shown_rows = [row for row in report_rows if row["date"] >= days[0]]
    label_broker = broker_labeler(shown_rows)
    by_downtime = sorted(
        verdict.group_rows(shown_rows, label_broker),
        key=lambda item: (-verdict.sum_seconds(item[1], "downSeconds"), item[0]),
    )
    down = [item for item in by_downtime if verdict.sum_seconds(item[1], "downSeconds")]
    others = by_downtime[len(down) :]
    used_states = {state for row in shown_rows for state in (_find_state(row), *_find_parts(row))}
    yield '<ul class="legend">'
    yield from (
        f'<li><i class="{state}"></i>{label}</li>'
        for state, label in _STATE_LABELS.items()
        if state in used_states
    )
    yield "</ul>"
    if down:
        yield from _table_lines("calendar-down", _count_brokers(down, "with"), down, days)
    if others:
        title = _count_brokers(others, "without")
        yield f"<details{'' if down else ' open'}><summary>{title}</summary>"
        yield from _table_lines("calendar-others", title, others, days)
        yield "</details>"


def _count_brokers(brokers: Sequence[object], relation: str) -> str:
    omitted_count = max(0, len(brokers) - _MAX_LINES)
    omission_text = f"; {omitted_count:,} more: nsadmin report show broker_availability"
    title = f"{verdict.count(len(brokers), 'broker')} {relation} downtime"
    return title + omission_text if omitted_count else title


def _table_lines(
    caption_id: str, title: str, brokers: Sequence[tuple[str, list[ReportRow]]], days: Sequence[date]
) -> Iterator[str]:
    has_figures = len(days) <= _MAX_FIGURE_DAYS
    yield f'<div class="table" role="region" aria-labelledby="{caption_id}" tabindex="0">'
    yield f'<table class="calendar{"" if has_figures else " narrow"}">'
    yield f'<caption id="{caption_id}">{title}</caption>'
    yield '<thead><tr><th scope="col" rowspan="2">broker</th>'
    for month, month_days in verdict.group_rows(
        [{"date": day} for day in days], lambda row: f"{row['date']:%Y-%m}"
    ):
        yield f'<th scope="colgroup" colspan="{len(month_days)}">{month}</th>'
    yield "</tr><tr>"
    yield from (f'<th scope="col"><time datetime="{day}">{day:%d}</time></th>' for day in days)
    yield "</tr></thead><tbody>"
    for broker_label, broker_rows in brokers[:_MAX_LINES]:
        rows_by_day = {row["date"]: row for row in broker_rows}
        cells = "".join(_render_cell(rows_by_day.get(day), has_figures) for day in days)
        yield f'<tr><th scope="row">{escape(pages.format_value(broker_label))}</th>{cells}</tr>'
    yield "</tbody></table></div>"


def _render_cell(row: ReportRow | None, has_figures: bool) -> str:
    """Render a day: its right end shows the drained and the unknown part, each as wide as its share."""
    if row is None:
        return '<td tabindex="-1"><span>not known on this day</span></td>'
    parts = ";".join(f"--{state}-part:{share:.2%}" for state, share in _find_parts(row).items())
    style = f' style="{parts}"' if parts and row["availability"] is not None else ""
    figure = _format_availability(row)
    seconds_texts = [
        f"{state_text} {verdict.format_seconds(row[f'{state}Seconds'])}"
        for state, state_text in (("down", "down"), ("planned", "drained"), ("unknown", "no data for"))
        if row[f"{state}Seconds"]
    ]
    content = (
        f"{figure}<span>{''.join(f', {text}' for text in seconds_texts)}</span>"
        if has_figures
        else f"<span>{', '.join([figure, *seconds_texts])}</span>"
    )
    return f'<td class="{_find_state(row)}"{style} tabindex="-1">{content}</td>'


def _find_state(row: ReportRow) -> str:
    availability = row["availability"]
    if availability is None:
        return "planned" if row["plannedSeconds"] > row["unknownSeconds"] else "unknown"
    return "up" if availability >= 99.99 else "partly" if availability >= 99 else "down"


def _find_parts(row: ReportRow) -> dict[str, float]:
    """Return the drained and the unknown share of a day, unless they are zero."""
    total = sum(row[f"{state}Seconds"] for state in ("up", "down", "planned", "unknown"))
    return {
        state: row[f"{state}Seconds"] / total for state in ("planned", "unknown") if row[f"{state}Seconds"]
    }


def _format_availability(row: ReportRow) -> str:
    # Rounding must not show 100 % for a broker that was down for a moment.
    availability = row["availability"]
    return (
        "–"
        if availability is None
        else "100 %"
        if not row["downSeconds"]
        else f"{min(availability, 99.99):.4g} %"
    )
