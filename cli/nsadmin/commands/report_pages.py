"""reportShow, reportHtml, reportMarkdown: read the reports of a pipeline run without Spark."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from nsadmin.commands import report_columns
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.diagnostics import UsageError
from nsadmin.output import Rows, Text
from nsadmin.session import Session
from nsreport.reports.catalogue import REPORTS

if TYPE_CHECKING:
    from nsreport.reading import Days

COLUMNS = tuple(report_columns.COLUMNS["reportShow"])

Folder = Annotated[str, Option("--output-dir", metavar="DIR", help="What `report run --output DIR` wrote.")]
Since = Annotated[str | None, Option("--since", metavar="DAY", help="From that day (UTC) on: 2025-01-31.")]
Until = Annotated[str | None, Option("--until", metavar="DAY", help="Up to that day, itself included.")]
To = Annotated[str | None, Option("--to", metavar="FILE", help="Write it there; to stdout if left out.")]


@shows(COLUMNS)
def report_show(
    session: Session,
    name: Annotated[str, Word(("--report",), "NAME", "The report.", values="|".join(REPORTS))],
    output_dir: Folder = "reports",
    since: Since = None,
    until: Until = None,
) -> Rows:
    """Show a report that `report run` has made.

    The columns are those of the report; docs/pipeline.md says what each means. Reading needs duckdb, a part
    of nsadmin[spark], but neither Spark nor Java.

    Examples:
        # How available each broker was
        nsadmin reportShow broker_availability --output-dir reports
        # Who closed brokers to writes in February
        nsadmin reportShow drain_audit --output-dir reports --since 2025-02-01 --until 2025-02-28 --json
    """
    from nsreport import reading

    try:
        found = reading.report(Path(output_dir), name, _days("reportShow", since, until))
    except reading.NotMade as error:
        raise UsageError(f"reportShow: {error}") from None
    except ImportError as error:
        raise _missing("reportShow", error) from None
    columns = tuple(REPORTS[name].columns)
    return Rows(columns, [{key: reading.plain(value) for key, value in row.items()} for row in found])


def report_html(
    session: Session,
    output_dir: Folder = "reports",
    since: Since = None,
    until: Until = None,
    to: To = None,
) -> Text:
    """Write one page with all reports and pictures of them.

    It opens without a network, also on a telephone. How many lines were not understood, and for how long
    nobody looked, stands at its top.

    Examples:
        # For a browser
        nsadmin reportHtml --output-dir reports --to reports.html
    """
    return _page("reportHtml", "html", output_dir, _days("reportHtml", since, until), to)


def report_markdown(
    session: Session,
    output_dir: Folder = "reports",
    since: Since = None,
    until: Until = None,
    to: To = None,
) -> Text:
    """Write all reports as one Markdown text, for a wiki or an issue.

    Examples:
        # The last month
        nsadmin reportMarkdown --output-dir reports --since 2025-02-01
    """
    return _page("reportMarkdown", "markdown", output_dir, _days("reportMarkdown", since, until), to)


def _page(command: str, form: str, output_dir: str, days: "Days", to: str | None) -> Text:
    from nsreport import reading

    try:
        from nsreport import pages

        page = pages.collected(Path(output_dir), datetime.now(UTC), days)
        text = pages.html(page) if form == "html" else pages.markdown(page)
    except reading.NotMade as error:
        raise UsageError(f"{command}: {error}") from None
    except ImportError as error:
        raise _missing(command, error) from None
    if to is None:
        return Text(text.rstrip("\n"))
    try:
        Path(to).write_text(text)
    except OSError as error:
        raise UsageError(f"{command}: {to} cannot be written: {error.strerror}") from None
    return Text(to)


def _days(command: str, since: str | None, until: str | None) -> "Days":
    from nsreport.reading import Days

    days = Days(_day(command, "--since", since), _day(command, "--until", until))
    if days.first is not None and days.last is not None and days.first > days.last:
        raise UsageError(f"{command}: --since {since} is after --until {until}")
    return days


def _day(command: str, flag: str, text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{command}: {flag} {text!r} is no day: give it as 2025-01-31") from None


def _missing(command: str, error: ImportError) -> UsageError:
    return UsageError(f"{command}: {error.name} is missing: pip install 'nsadmin[spark]'")
