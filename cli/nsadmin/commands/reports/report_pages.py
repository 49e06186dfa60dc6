"""reportShow, reportHtml, reportMarkdown: read the reports of a pipeline run without Spark."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from nsadmin.command_line.declarations import Argument, Option, declare_columns
from nsadmin.commands.columns import report_columns
from nsadmin.exit_codes import UsageError
from nsadmin.output import OutputText, ResultRows
from nsadmin.session import Session
from nsreport.reports.catalogue import REPORTS_BY_NAME

if TYPE_CHECKING:
    from nsreport.presentation.report_reader import DayRange

REPORT_COLUMNS = tuple(report_columns.REPORT_MEANINGS["reportShow"])

OutputDirOption = Annotated[
    str, Option("--output-dir", metavar="DIR", help="What `report run --output DIR` wrote.")
]
SinceDayOption = Annotated[
    str | None, Option("--since", metavar="DAY", help="From that day (UTC) on: 2025-01-31.")
]
UntilDayOption = Annotated[
    str | None, Option("--until", metavar="DAY", help="Up to that day, itself included.")
]
TargetFileOption = Annotated[
    str | None, Option("--to", metavar="FILE", help="Write it there; to stdout if left out.")
]


@declare_columns(REPORT_COLUMNS)
def report_show(
    session: Session,
    report_name: Annotated[
        str, Argument(("--report",), "NAME", "The report.", value_source="|".join(REPORTS_BY_NAME))
    ],
    output_dir: OutputDirOption = "reports",
    since_text: SinceDayOption = None,
    until_text: UntilDayOption = None,
) -> ResultRows:
    """Show a report that `report run` has made.

    The columns are those of the report; docs/how-to/make-reports.md describes them. To read a report,
    install nsadmin[spark]; Spark and Java are not started.

    Examples:
        # How available each broker was
        nsadmin reportShow broker_availability --output-dir reports
        # Who closed brokers to writes in February
        nsadmin reportShow drain_audit --output-dir reports --since 2025-02-01 --until 2025-02-28 --json
    """
    from nsreport.presentation import report_reader

    try:
        report_rows = report_reader.read_report(
            Path(output_dir), report_name, _parse_days("reportShow", since_text, until_text)
        )
    except report_reader.TableNotMadeError as error:
        raise UsageError(f"reportShow: {error}") from None
    except ImportError as error:
        raise _missing_extra_error("reportShow", error) from None
    columns = tuple(REPORTS_BY_NAME[report_name].columns)
    return ResultRows(
        columns,
        [
            {column_name: report_reader.to_json_value(cell_value) for column_name, cell_value in row.items()}
            for row in report_rows
        ],
    )


def report_html(
    session: Session,
    output_dir: OutputDirOption = "reports",
    since_text: SinceDayOption = None,
    until_text: UntilDayOption = None,
    target_file: TargetFileOption = None,
) -> OutputText:
    """Write one page with all reports and pictures of them.

    It opens without a network, also on a telephone. How many lines were not understood, and for how long
    nobody looked, stands at its top.

    Examples:
        # For a browser
        nsadmin reportHtml --output-dir reports --to reports.html
    """
    return _write_page(
        "reportHtml", "html", output_dir, _parse_days("reportHtml", since_text, until_text), target_file
    )


def report_markdown(
    session: Session,
    output_dir: OutputDirOption = "reports",
    since_text: SinceDayOption = None,
    until_text: UntilDayOption = None,
    target_file: TargetFileOption = None,
) -> OutputText:
    """Write all reports as one Markdown text, for a wiki or an issue.

    Examples:
        # The last month
        nsadmin reportMarkdown --output-dir reports --since 2025-02-01
    """
    return _write_page(
        "reportMarkdown",
        "markdown",
        output_dir,
        _parse_days("reportMarkdown", since_text, until_text),
        target_file,
    )


def _write_page(
    command_name: str, page_format: str, output_dir: str, day_range: "DayRange", target_file: str | None
) -> OutputText:
    from nsreport.presentation import report_reader

    try:
        from nsreport.presentation import pages

        collected_reports = pages.collect_page(Path(output_dir), datetime.now(UTC), day_range)
        page_text = (
            pages.render_html(collected_reports)
            if page_format == "html"
            else pages.render_markdown(collected_reports)
        )
    except report_reader.TableNotMadeError as error:
        raise UsageError(f"{command_name}: {error}") from None
    except ImportError as error:
        raise _missing_extra_error(command_name, error) from None
    if target_file is None:
        return OutputText(page_text.rstrip("\n"))
    try:
        Path(target_file).write_text(page_text)
    except OSError as error:
        raise UsageError(f"{command_name}: {target_file} cannot be written: {error.strerror}") from None
    return OutputText(target_file)


def _parse_days(command_name: str, since_text: str | None, until_text: str | None) -> "DayRange":
    from nsreport.presentation.report_reader import DayRange

    day_range = DayRange(
        _parse_day(command_name, "--since", since_text), _parse_day(command_name, "--until", until_text)
    )
    if (
        day_range.first_day is not None
        and day_range.last_day is not None
        and day_range.first_day > day_range.last_day
    ):
        raise UsageError(f"{command_name}: --since {since_text} is after --until {until_text}")
    return day_range


def _parse_day(command_name: str, option_flag: str, day_text: str | None) -> date | None:
    try:
        return None if day_text is None else date.fromisoformat(day_text)
    except ValueError:
        raise UsageError(
            f"{command_name}: {option_flag} {day_text!r} is no day: give it as 2025-01-31"
        ) from None


def _missing_extra_error(command_name: str, error: ImportError) -> UsageError:
    return UsageError(f"{command_name}: {error.name} is missing: pip install 'nsadmin[spark]'")
