"""Owns the options that the commands about computed reports share, and finds their tables by name."""

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Annotated

from typer import Option

from nsadmin.client.extras import describe_missing
from nsadmin.command_line.time_arguments import require_order
from nsadmin.console.exit_codes import UsageError
from nsreport.dictionary.table_definitions import DEFINITIONS_BY_NAME, TableDefinition
from nsreport.reports.catalogue import REPORTS_BY_NAME

if TYPE_CHECKING:
    from nsreport.presentation.report_reader import DayRange

EVENT_TABLE = "silver/ns_event"
TABLE_NAMES = (*REPORTS_BY_NAME, "data_quality", *DEFINITIONS_BY_NAME, EVENT_TABLE)

ReportFolderOption = Annotated[
    str, Option("--dir", metavar="DIR", help="The folder that report run --dir wrote.")
]
SinceDayOption = Annotated[
    str | None, Option("--since", metavar="DAY", help="First day (UTC), for example 2025-01-31.")
]
UntilDayOption = Annotated[str | None, Option("--until", metavar="DAY", help="Last day (UTC).")]
AsOfOption = Annotated[
    str | None,
    Option(
        "--as-of",
        metavar="TIME",
        help="Read the tables as they were then: ISO 8601 (local time without a zone), or 12h or 2d ago.",
    ),
]


def find_known_table(table_name: str) -> TableDefinition:
    """Find a table by its present or former name. Raises UsageError."""
    from nsreport.reports import table_catalogue

    table = table_catalogue.find_table(table_name)
    if table is None:
        raise UsageError(f'unknown table "{table_name}": use one of {", ".join(TABLE_NAMES)}')
    return table


def parse_days(since_text: str | None, until_text: str | None, as_of_text: str | None = None) -> "DayRange":
    """Parse the options --since, --until and --as-of. Raises UsageError."""
    from nsreport.presentation.report_reader import DayRange

    day_range = DayRange(
        _parse_day("--from", since_text), _parse_day("--until", until_text), _parse_moment(as_of_text)
    )
    if day_range.first_day is not None and day_range.last_day is not None:
        require_order(day_range.first_day, day_range.last_day, since_text, until_text)
    return day_range


def _parse_moment(as_of_text: str | None) -> datetime | None:
    from nsreport.runtime.flags import InvalidFlagError, parse_moment

    try:
        return None if as_of_text is None else datetime.fromtimestamp(parse_moment(as_of_text) / 1000, tz=UTC)
    except InvalidFlagError as error:
        raise UsageError(f"--as-of: {error}") from None


def _parse_day(option_flag: str, day_text: str | None) -> date | None:
    try:
        return None if day_text is None else date.fromisoformat(day_text)
    except ValueError:
        raise UsageError(
            f'invalid value "{day_text}" for {option_flag}: expected a day, for example 2025-01-31'
        ) from None


def missing_extra_error(error: ImportError, extra_name: str = "spark") -> UsageError:
    """Return the error about a missing Python package, with the extra of nsadmin that brings it."""
    return UsageError(describe_missing(error.name or "", extra_name))
