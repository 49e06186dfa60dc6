"""Owns journal cat, journal tail, journal stat and journal verify, which read the journal in a folder."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from namesrv_core.history.records import InvalidRecordError, JournalRecord
from namesrv_core.storage.journal import reader, segments
from namesrv_core.storage.journal.reader import RecordFilter
from nsadmin.command_line import time_arguments
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.history.journal_source import describe_unreadable
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.quantities import to_bytes
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session

RECORD_COLUMNS = ("seq", "time", "server", "type", "summary", "cause", "client", "event")
RECORD_TABLE_COLUMNS = ("seq", "time", "type", "summary", "cause", "client")
STAT_COLUMNS = ("type", "records", "plainSize", "firstTime", "lastTime")
VERIFY_COLUMNS = (
    "file", "result", "records", "firstSeq", "lastSeq", "firstTime", "lastTime", "size", "plainSize",
    "problems",
)  # fmt: skip

JournalFolderArgument = Annotated[str, Argument(metavar="DIR", help="Folder of a journal."), Flags("--dir")]
SinceTimeOption = Annotated[
    str | None,
    Option("--since", metavar="TIME", help=f"Only records since this time: {time_arguments.TIME_HELP}"),
]


@command(columns=RECORD_COLUMNS, agent_refusal="it reads local files")
def journal_cat(
    session: Session,
    journal_folder: JournalFolderArgument,
    since_text: SinceTimeOption = None,
    until_text: Annotated[
        str | None, Option("--until", metavar="TIME", help="Only records before this time.")
    ] = None,
) -> ResultRows:
    """Show the records of a name server's journal, oldest first.

    The server may be running. nsadmin decompresses closed segments. A table shows a summary of each event.
    JSON has all fields, which docs/reference/journal.md describes.

    Examples:
        # All events since a time
        nsadmin journal cat namesrv/journal --since 2025-01-31T14:00
        # Removals and restorations of write permission, with their causes
        nsadmin journal cat namesrv/journal --filter type~^WritePerm --json
    """
    begin_ms, end_ms = time_arguments.parse_time_span(since_text, until_text)
    with _journal_path(journal_folder) as folder_path:
        unreadable_errors: list[InvalidRecordError] = []
        all_records = RecordFilter(report_unreadable=unreadable_errors.append)
        record_rows = [
            _record_row(record)
            for record in reader.read_records(folder_path, begin_ms, all_records)
            if begin_ms <= record.time_ms < end_ms
        ]
    unreadable_note = describe_unreadable(len(unreadable_errors), folder_path)
    return _record_rows(record_rows)._replace(notes=[unreadable_note] if unreadable_note else [])


@command(columns=RECORD_COLUMNS, agent_refusal="it reads local files")
def journal_tail(
    session: Session,
    journal_folder: JournalFolderArgument,
    line_count: Annotated[
        int, Option("-l", "--lines", metavar="N", help="Number of records. Default: 10.", min=0)
    ] = 10,
    follow: Annotated[bool, Option("-f", "--follow", help="Follow new records, until Ctrl-C.")] = False,
) -> ResultRows | Iterator[ResultRows]:
    """Show the last records of a name server's journal.

    Examples:
        # The last ten records
        nsadmin journal tail namesrv/journal
        # The last hundred, one JSON object per line; with --follow, new records follow
        nsadmin journal tail namesrv/journal --lines 100 --output jsonl
    """
    with _journal_path(journal_folder) as folder_path:
        last_records = reader.read_last_records(folder_path, max(line_count, 1))
    shown_rows = _record_rows(map(_record_row, last_records if line_count else ()))
    return (
        _follow_journal(session, shown_rows, folder_path, last_records[-1].seq if last_records else 0)
        if follow
        else shown_rows
    )


def _follow_journal(
    session: Session, shown_rows: ResultRows, folder_path: Path, last_seq: int
) -> Iterator[ResultRows]:
    yield shown_rows
    session.continue_table()
    for records in reader.follow_records(folder_path, last_seq):
        yield _record_rows(map(_record_row, records))


@command(columns=STAT_COLUMNS, agent_refusal="it reads local files")
def journal_stat(session: Session, journal_folder: JournalFolderArgument) -> ResultRows:
    """Show the number and size of a journal's records by type.

    Examples:
        # The types with the most bytes first
        nsadmin journal stat namesrv/journal --sort=-plainSize
    """
    with _journal_path(journal_folder) as folder_path:
        type_rows = [
            {
                "type": event_type,
                "records": type_count.record_count,
                "plainSize": to_bytes(type_count.plain_bytes),
                "firstTime": format_utc(type_count.first_time_ms),
                "lastTime": format_utc(type_count.last_time_ms),
            }
            for event_type, type_count in reader.count_records_by_type(folder_path).items()
        ]
        file_sizes = [segment.file_path.stat().st_size for segment in segments.list_segments(folder_path)]
    note = f"{len(file_sizes)} segments, {sum(file_sizes)} bytes on the disk"
    return ResultRows(STAT_COLUMNS, type_rows, notes=[note])


@command(columns=VERIFY_COLUMNS, agent_refusal="it reads local files")
def journal_verify(session: Session, journal_folder: JournalFolderArgument) -> ResultRows:
    """Verify a whole journal: every record, and whether snapshots and events agree.

    Record numbers must have no gaps. The tables of a snapshot plus the events after it must equal the next
    snapshot. An incomplete record at the end is not damage: a killed server leaves it, and the next start
    removes it. The exit code is 1 if the journal is damaged.

    Examples:
        # All segments
        nsadmin journal verify namesrv/journal
        # The problems of each segment, as JSON
        nsadmin journal verify namesrv/journal --columns file,result,problems --json
    """
    with _journal_path(journal_folder) as folder_path:
        checked_segments = list(reader.check_journal(folder_path))
    notes = [
        f"{checked_segment.journal_segment.file_path.name}: {problem}"
        for checked_segment in checked_segments
        for problem in checked_segment.problem_texts
    ]
    notes += [
        f"{checked_segment.journal_segment.file_path.name} ends with "
        f"{checked_segment.torn_bytes} bytes of an incomplete record"
        for checked_segment in checked_segments
        if checked_segment.torn_bytes
    ]
    errors = (
        [RocketMQError("damaged")]
        if any(checked_segment.problem_texts for checked_segment in checked_segments)
        else []
    )
    return ResultRows(
        VERIFY_COLUMNS,
        [_verify_row(checked_segment) for checked_segment in checked_segments],
        errors,
        notes,
        VERIFY_COLUMNS[:-1],
    )


def _verify_row(checked_segment: reader.SegmentCheck) -> ResultRow:
    return {
        "file": checked_segment.journal_segment.file_path.name,
        "result": "damaged"
        if checked_segment.problem_texts
        else "whole"
        if checked_segment.journal_segment.is_closed
        else "open",
        "records": checked_segment.record_count,
        "firstSeq": checked_segment.first_seq,
        "lastSeq": checked_segment.last_seq,
        "firstTime": format_utc(checked_segment.first_time_ms),
        "lastTime": format_utc(checked_segment.last_time_ms),
        "size": to_bytes(checked_segment.file_bytes),
        "plainSize": to_bytes(checked_segment.plain_bytes),
        "problems": checked_segment.problem_texts,
    }


@contextmanager
def _journal_path(journal_folder: str) -> Iterator[Path]:
    """Yield the path of a journal's folder; errors of its files become a one-line UsageError."""
    folder_path = Path(journal_folder).expanduser()
    try:
        if not segments.list_segments(folder_path):
            raise UsageError(
                f"{folder_path} is not a journal: it has no files such as 0000000000000001-*.jsonl"
            )
        yield folder_path
    except OSError as error:
        raise UsageError(f"cannot read {error.filename or folder_path}: {error.strerror}") from None


def _record_rows(record_rows: Iterable[ResultRow]) -> ResultRows:
    return ResultRows(RECORD_COLUMNS, list(record_rows), table_columns=RECORD_TABLE_COLUMNS)


def _record_row(record: JournalRecord) -> ResultRow:
    return {
        "seq": record.seq,
        "time": format_utc(record.time_ms),
        "server": record.server_name,
        "type": record.event_type,
        "summary": _summarize_fields(record.event_fields),
        "cause": record.origin.cause,
        "client": record.origin.client_addr,
        "event": record.event_fields,
    }


def _summarize_fields(event_fields: Any) -> str:
    """Summarize an event on one line; lists become their lengths."""
    return " ".join(
        f"{field_name}={_summarize_value(field_name, field_value)}"
        for field_name, field_value in event_fields.items()
        if not isinstance(field_value, dict)
    )


def _summarize_value(field_name: str, field_value: Any) -> object:
    if not isinstance(field_value, list):
        return field_value
    if field_name == "changes":
        return f"{sum(len(change_group['topics']) for change_group in field_value)} topics"
    return f"({len(field_value)})"
