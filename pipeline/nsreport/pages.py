"""Pages: renders all reports of a folder as one self-contained HTML page, or as Markdown."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from html import escape
from pathlib import Path
from typing import NamedTuple

from nsreport import charts, reading
from nsreport.reading import Days, Row
from nsreport.reports.catalogue import REPORTS, Report

MOST = 200
"""A page shows this many rows of a table; `report show` shows all of them."""


class Section(NamedTuple):
    """A report with its rows and its chart."""

    report: Report
    rows: list[Row]
    picture: str | None


class Page(NamedTuple):
    """The content of a page: time, line counts, a note on unknown broker hours, sections, missing reports."""

    title: str
    made: str
    quarantined: int
    lines: int
    unknown: str
    sections: list[Section]
    missing: list[str]


_PICTURES: dict[str, Callable[[Sequence[Row]], str | None]] = {
    "broker_availability": charts.availability_calendar,
    "broker_flaps": lambda rows: charts.timeline(rows, charts.brokers(rows)),
    "heartbeat_gaps": lambda rows: charts.timeline(rows, _silent(rows), "#f2a900"),
    "ns_divergence": lambda rows: charts.timeline(rows, _what, "#4c6ef5"),
    "topic_growth": lambda rows: charts.growth(rows, 16 * 2.0**20),
    "registration_forecast": charts.forecast,
    "hot_brokers": lambda rows: charts.bars(rows, "puts", charts.brokers(rows)),
    "topic_volume": lambda rows: charts.bars(rows, "messagesIn", lambda row: str(row["topic"])),
}


def collected(folder: Path, now: datetime, days: Days = Days()) -> Page:  # noqa: B008
    """Read the content of a page. Raises TableNotMadeError if no run wrote to `output_folder`."""
    quarantined, lines = reading.quarantined(folder)
    sections, missing = [], []
    for report in REPORTS.values():
        try:
            rows = reading.report(folder, report.name, days)
        except reading.NotMade:
            missing.append(report.name)
            continue
        picture = _PICTURES.get(report.name)
        sections.append(Section(report, rows, picture(rows) if picture else None))
    available = next((found.rows for found in sections if found.report.name == "broker_availability"), None)
    made = now.strftime("%Y-%m-%d %H:%M UTC")
    return Page("Name servers and brokers", made, quarantined, lines, _unknown(available), sections, missing)


def _unknown(available: Sequence[Row] | None) -> str:
    """Describe how many broker hours are unknown, and for which days."""
    if not available:
        return "For how long nobody looked is not known: there is no broker availability of these days."
    days = sorted(row["date"] for row in available)
    hours = sum(row["unknownSeconds"] for row in available) / 3600
    about = f"Of {days[0]} to {days[-1]} {hours:,.1f} broker hours are unknown"
    return f"{about}: nobody looked then, and nothing is said of them."


def summary(page: Page) -> Iterator[str]:
    """Yield the lines at the top of a page, which say how complete the data are."""
    days = sorted({row["date"] for section in page.sections for row in section.rows if row.get("date")})
    if days:
        yield f"It is about {days[0]} to {days[-1]}. All times are UTC."
    share = f" ({page.quarantined / page.lines:.2%})" if page.lines else ""
    yield f"{page.lines:,} lines were read; {page.quarantined:,}{share} were not understood."
    yield page.unknown
    if page.missing:
        yield f"Not made: {', '.join(page.missing)}."


def markdown(page: Page) -> str:
    """Render a page as Markdown, with tables and without charts."""
    return "\n".join(_markdown(page)) + "\n"


def _markdown(page: Page) -> Iterator[str]:
    yield f"# {page.title}"
    yield f"\nMade {page.made}. " + " ".join(summary(page))
    for report, rows, _ in page.sections:
        yield f"\n## {_heading(report)}\n\n{report.about}\n"
        if not rows:
            yield "Nothing."
            continue
        yield f"| {' | '.join(report.columns)} |"
        yield "|" + "---|" * len(report.columns)
        for row in rows[:MOST]:
            cells = (_marked(shown(row[name])) for name in report.columns)
            yield f"| {' | '.join(cells)} |"
        yield from (f"\n{left}" for left in _left_out(report, rows))


def _marked(text: str) -> str:
    """Escape a text for a cell of a Markdown table."""
    return escape(text, quote=False).replace("|", "\\|").replace("\n", " ")


def html(page: Page) -> str:
    """Render a page as HTML that opens without a network and is readable on a phone."""
    return "\n".join(_html(page)) + "\n"


def _html(page: Page) -> Iterator[str]:
    title = escape(page.title)
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{title}</title><style>{_STYLE}</style></head><body>"
    yield f"<h1>{title}</h1><p>Made {page.made}.</p><ul>"
    yield from (f"<li>{escape(text)}</li>" for text in summary(page))
    yield "</ul><nav>"
    there = [section for section in page.sections if section.rows]
    for report, rows, _ in there:
        yield f'<a href="#{report.name}">{_heading(report)} <small>{len(rows):,}</small></a>'
    yield "</nav>"
    for section in there:
        yield from _section(section)
    yield from _nothing([section.report for section in page.sections if not section.rows])
    yield "</body></html>"


def _section(section: Section) -> Iterator[str]:
    report, rows, picture = section
    yield f'<section id="{report.name}"><h2>{_heading(report)}</h2><p>{escape(report.about)}</p>'
    if picture:
        yield f"<figure>{picture}</figure>"
    number = "1 row" if len(rows) == 1 else f"{len(rows):,} rows"
    yield f"<details{' open' if picture is None else ''}><summary>{number}</summary>"
    yield '<div class="table"><table><thead><tr>'
    yield from (f'<th title="{escape(said)}">{escape(name)}</th>' for name, said in report.columns.items())
    yield "</tr></thead><tbody>"
    for row in rows[:MOST]:
        yield f"<tr>{''.join(_cell(row[name]) for name in report.columns)}</tr>"
    yield "</tbody></table></div></details>"
    yield from (f"<p>{escape(left)}</p>" for left in _left_out(report, rows))
    yield "</section>"


def _cell(value: object) -> str:
    kind = ' class="n"' if isinstance(value, (int, float)) and not isinstance(value, bool) else ""
    return f"<td{kind}>{escape(shown(value))}</td>"


def _nothing(reports: Sequence[Report]) -> Iterator[str]:
    """List the reports without rows: an empty report is a result too."""
    if reports:
        yield '<section id="nothing"><h2>Nothing was found for</h2><ul>'
        yield from (
            f'<li id="{report.name}">{_heading(report)}: {escape(report.about)}</li>' for report in reports
        )
        yield "</ul></section>"


def _left_out(report: Report, rows: Sequence[Row]) -> Iterator[str]:
    if len(rows) > MOST:
        yield f"{len(rows) - MOST:,} more rows: nsadmin report show {report.name}"


def _heading(report: Report) -> str:
    return report.name.replace("_", " ").replace("ns ", "name server ").capitalize()


def _silent(rows: Sequence[Row]) -> Callable[[Row], str]:
    """Return a function that labels a silence: with its broker, or with the name server for a pause."""
    broker = charts.brokers(rows)
    return lambda row: str(row["server"]) if row["brokerName"] is None else broker(row)


def _what(row: Row) -> str:
    """Return the broker name, or the KV key, on which name servers differed."""
    return str(row["brokerName"] or row["key"])


def shown(value: object) -> str:
    """Format a value for readers."""
    if value is None:
        return "–"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(value, float):
        return f"{value:,.3f}".rstrip("0").rstrip(".")
    if isinstance(value, (list, tuple)):
        return ", ".join(map(shown, value))
    return str(value)


_STYLE = """
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
