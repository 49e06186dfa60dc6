"""Owns report show, report html and report markdown, which read computed reports without Spark."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from namesrv_core.storage.atomic_write import replace_file
from nsadmin.command_line.broker_expectation import ExpectedBrokersOption, parse_expected_brokers
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.columns.files import write_or_show
from nsadmin.commands.reports.report_options import (
    EVENT_TABLE,
    TABLE_NAMES,
    AsOfOption,
    ReportFolderOption,
    SinceDayOption,
    UntilDayOption,
    find_known_table,
    missing_extra_error,
    parse_days,
)
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, OutputText, ResultRow, ResultRows
from nsadmin.console.session import Session
from nsadmin.operations.inventory.keeper import BrokerMissingError
from nsadmin.operations.inventory.records import ExpectedBroker
from nsreport.dictionary.table_definitions import DATA_QUALITY_TABLE, DEFINITIONS_BY_NAME
from nsreport.reports.catalogue import REPORTS_BY_NAME

if TYPE_CHECKING:
    from nsreport.presentation.pages import ReportPage
    from nsreport.presentation.report_reader import DayRange

AVAILABILITY_REPORT = "broker_availability"


def _table_column(name: str, meaning: str) -> Column[Mapping[str, object]]:
    return Column(name, meaning, lambda row: row.get(name))


def _list_columns() -> "Iterator[Column[Mapping[str, object]]]":
    """The columns of all tables; if several tables explain one differently, it has all explanations."""
    meanings: dict[str, dict[str, None]] = {}
    for report in REPORTS_BY_NAME.values():
        for name, meaning in report.columns.items():
            meanings.setdefault(name, {})[meaning] = None
    for table in (DATA_QUALITY_TABLE, *DEFINITIONS_BY_NAME.values()):
        for column in table.columns:
            meanings.setdefault(column.name, {})[column.meaning] = None
    return (_table_column(name, "; or: ".join(texts)) for name, texts in meanings.items())


REPORT_COLUMNS = tuple(_list_columns())

TargetFileOption = Annotated[
    str | None, Option("--out", metavar="FILE", help="Write to this file instead of stdout.")
]
TargetFolderOption = Annotated[
    str | None,
    Option(
        "--out-folder",
        metavar="FOLDER",
        help="Write index.html and a page for each cluster into this folder.",
    ),
]


@command(
    columns=REPORT_COLUMNS,
    agent_refusal="it reads local files",
    examples=("elsewhere", "the lab has made no tables"),
)
def report_show(
    session: Session,
    report_name: Annotated[
        str,
        Argument(metavar="NAME", help="Name of a report or table."),
        Flags("--report"),
        Values("|".join(TABLE_NAMES)),
    ],
    report_folder: ReportFolderOption = "reports",
    since_text: SinceDayOption = None,
    until_text: UntilDayOption = None,
    as_of_text: AsOfOption = None,
    expectation: ExpectedBrokersOption = None,
) -> ResultRows:
    """Show a report, or another table, that `nsadmin report run` computed.

    Among the reports are broker_availability, topic_volume, consumer_lag_trend (the lag of past weeks) and
    drain_audit. Each has its own columns: see `nsadmin report schema NAME`. A table that was renamed is also
    found by its former name. The command needs nsadmin[spark], but starts neither Spark nor Java.

    With --expect, the report broker_availability also names the expected brokers that were down on the last
    day. An expected broker that the report does not have gets a row without values. The exit code is then 3.

    Examples:
        # The availability of each broker
        nsadmin report show broker_availability --dir reports
        # The drains of February
        nsadmin report show drain_audit --dir reports --from 2025-02-01 --until 2025-02-28 --json
        # Messages and bytes of a topic on each day, from the stats.log of its brokers
        nsadmin report show topic_volume --dir reports --filter topic=orders
        # The figures before the last run
        nsadmin report show broker_availability --dir reports --as-of 2025-03-01T02:00Z
    """
    if expectation is not None and report_name != AVAILABILITY_REPORT:
        raise UsageError(f"--expect applies to {AVAILABILITY_REPORT} only")
    expected_brokers = parse_expected_brokers("report show", expectation)
    from nsreport.presentation import report_reader, table_reader

    try:
        table = find_known_table(report_name)
        if table.name == EVENT_TABLE:
            raise UsageError(f"{EVENT_TABLE} has too many columns to show: use nsadmin report export")
        day_range = parse_days(since_text, until_text, as_of_text)
        report_rows = table_reader.read_table(Path(report_folder), table, day_range)
    except report_reader.TableNotMadeError as error:
        raise UsageError(str(error)) from None
    except ImportError as error:
        raise missing_extra_error(error) from None
    shown_rows = [
        {name: report_reader.to_json_value(value) for name, value in row.items()} for row in report_rows
    ]
    notes = [_describe_missing(b, shown_rows) for b in expected_brokers if _is_missing(b, shown_rows)]
    unseen_rows: list[ResultRow] = [
        {"brokerName": b.broker_name, "brokerId": b.broker_id}
        for b in expected_brokers
        if not _rows_of_broker(b, shown_rows)
    ]
    return ResultRows.from_records(
        [_table_column(column.name, column.meaning) for column in table.columns],
        [*shown_rows, *unseen_rows],
        [None, *map(BrokerMissingError, notes)],
        notes,
    )


def _rows_of_broker(broker: ExpectedBroker, rows: Sequence[ResultRow]) -> list[ResultRow]:
    """The rows of a broker. Logs of Java servers do not contain the id of a broker."""
    ids = (broker.broker_id, None)
    return [row for row in rows if row["brokerName"] == broker.broker_name and row["brokerId"] in ids]


def _is_missing(broker: ExpectedBroker, rows: Sequence[ResultRow]) -> bool:
    """Whether a broker was down on the whole last day. A day that no journal covers proves nothing."""
    last_day = max((str(row["date"]) for row in rows), default="")
    return not any(
        str(row["date"]) == last_day
        and (row["upSeconds"] or row["plannedSeconds"] or (row["unknownSeconds"] and not row["downSeconds"]))
        for row in _rows_of_broker(broker, rows)
    )


def _describe_missing(broker: ExpectedBroker, rows: Sequence[ResultRow]) -> str:
    if not _rows_of_broker(broker, rows):
        return f"{broker.label} is missing: the report has no row of it"
    return f"{broker.label} is missing: it was down on the last day"


@command(agent_refusal="it reads local files", examples=("elsewhere", "the lab has made no tables"))
def report_html(
    session: Session,
    report_folder: ReportFolderOption = "reports",
    since_text: SinceDayOption = None,
    until_text: UntilDayOption = None,
    as_of_text: AsOfOption = None,
    target_file: TargetFileOption = None,
    target_folder: TargetFolderOption = None,
) -> OutputText:
    """Write all reports as HTML pages with charts and sortable tables.

    Without --out-folder, one page has the reports of all clusters. With it, index.html compares the clusters,
    and each cluster has a page. Each file needs no other file and no network. The pages suit phones and wide
    screens, and are light or dark like the system of the reader.

    A page first answers whether anything was wrong: availability, incidents, the worst brokers, and what has
    no data. A table shows its last 500 rows; the days of brokers with downtime or without data come before
    the others.

    Examples:
        # A page for a browser
        nsadmin report html --dir reports --out reports.html
        # A page for each cluster, and an index
        nsadmin report html --dir reports --out-folder site
    """
    if target_file is not None and target_folder is not None:
        raise UsageError("use either --out or --out-folder")
    report_page = _collect_page(report_folder, parse_days(since_text, until_text, as_of_text))
    if target_folder is not None:
        return _write_site(report_page, Path(target_folder))
    try:
        from nsreport.presentation import html_page

        return write_or_show(html_page.render_page(report_page), target_file)
    except ImportError as error:
        raise missing_extra_error(error) from None


@command(agent_refusal="it reads local files", examples=("elsewhere", "the lab has made no tables"))
def report_markdown(
    session: Session,
    report_folder: ReportFolderOption = "reports",
    since_text: SinceDayOption = None,
    until_text: UntilDayOption = None,
    as_of_text: AsOfOption = None,
    target_file: TargetFileOption = None,
) -> OutputText:
    """Write all reports as Markdown, for a wiki or an issue.

    Examples:
        # The reports since February
        nsadmin report markdown --dir reports --from 2025-02-01
    """
    from nsreport.presentation import markdown_page

    report_page = _collect_page(report_folder, parse_days(since_text, until_text, as_of_text))
    return write_or_show(markdown_page.render_markdown(report_page), target_file)


def _collect_page(report_folder: str, day_range: "DayRange") -> "ReportPage":
    from nsreport.presentation import pages, report_reader

    try:
        return pages.collect_page(Path(report_folder), datetime.now(UTC), day_range)
    except report_reader.TableNotMadeError as error:
        raise UsageError(str(error)) from None
    except ImportError as error:
        raise missing_extra_error(error) from None


def _write_site(report_page: "ReportPage", target_folder: Path) -> OutputText:
    """Write the files of a site; a web server that reads one meanwhile gets the old or the new one."""
    file_names = []
    try:
        from nsreport.presentation import html_site

        for file_name, page_text in html_site.render_site(report_page):
            replace_file(target_folder / file_name, page_text.encode(), keeps_backup=False, is_private=False)
            file_names.append(file_name)
    except OSError as error:
        raise UsageError(f"cannot write into {target_folder}: {error.strerror}") from None
    except ImportError as error:
        raise missing_extra_error(error) from None
    return OutputText("\n".join(str(target_folder / file_name) for file_name in reversed(file_names)))
