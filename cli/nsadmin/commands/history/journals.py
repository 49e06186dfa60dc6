"""Owns journal cat, journal tail, journal stat and journal verify, which read the journal in a folder."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from namesrv_core.history.records import InvalidRecordError, JournalRecord
from namesrv_core.operator_files import explain_unreadable
from namesrv_core.storage.journal import reader, segments
from namesrv_core.storage.journal.reader import RecordFilter
from nsadmin.command_line import time_arguments
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.journals import CAUSE, CLIENT, SEQ, SERVER, TIME, TYPE
from nsadmin.commands.history.journal_source import describe_unreadable
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import AnyColumn, Column, Columns, ResultRows, of_part
from nsadmin.console.output.quantities import to_bytes
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.phrases import abbreviate_names, count_noun
from nsadmin.console.session import Session

RECORD_COLUMNS: Columns[JournalRecord] = (
    SEQ,
    TIME,
    SERVER,
    TYPE,
    Column(
        "summary", "the event in short; long lists are counted", lambda r: _summarize_fields(r.event_fields)
    ),
    CAUSE,
    CLIENT,
    Column(
        "event",
        "fields of the event, with the names of nsadmin guide journal",
        lambda r: r.event_fields,
        wide=True,
    ),
)
RECORDS: AnyColumn = Column("records", "number of records", lambda r: r.record_count)
PLAIN_SIZE: AnyColumn = Column("plainSize", "bytes before compression", lambda r: to_bytes(r.plain_bytes))
FIRST_TIME: AnyColumn = Column(
    "firstTime",
    "time of its first record, by the name server's clock (UTC)",
    lambda r: format_utc(r.first_time_ms),
)
LAST_TIME: AnyColumn = Column(
    "lastTime",
    "time of its last record, by the name server's clock (UTC)",
    lambda r: format_utc(r.last_time_ms),
)
STAT_COLUMNS: Columns[tuple[str, reader.RecordTypeCount]] = (
    TYPE.means("type of the event").of(lambda t: t[0]),
    *of_part(lambda t: t[1], (RECORDS, PLAIN_SIZE, FIRST_TIME, LAST_TIME)),
)
VERIFY_COLUMNS: Columns[reader.SegmentCheck] = (
    Column("file", "name of the segment", lambda s: s.journal_segment.file_path.name),
    Column(
        "result",
        "whole, open (a server may be writing to it), or damaged",
        lambda s: "damaged" if s.problem_texts else "whole" if s.journal_segment.is_closed else "open",
    ),
    RECORDS,
    Column("firstSeq", "number of its first record", lambda s: s.first_seq),
    Column("lastSeq", "number of its last record", lambda s: s.last_seq),
    FIRST_TIME,
    LAST_TIME,
    Column("size", "bytes on the disk", lambda s: to_bytes(s.file_bytes)),
    PLAIN_SIZE,
    Column("problems", "the problem in words", lambda s: s.problem_texts, wide=True),
)

JournalFolderArgument = Annotated[str, Argument(metavar="DIR", help="Folder of a journal."), Flags("--dir")]
SinceTimeOption = Annotated[
    str | None,
    Option("--since", metavar="TIME", help=f"Only records since this time: {time_arguments.TIME_HELP}"),
]


@command(columns=RECORD_COLUMNS, agent_refusal="it reads local files", nothing="no records")
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
    JSON has all fields, which nsadmin guide journal describes.

    Examples:
        # All events since a time
        nsadmin journal cat namesrv/journal --from 2025-01-31T14:00
        # Removals and restorations of write permission, with their causes
        nsadmin journal cat namesrv/journal --filter type~^WritePerm --json
    """
    begin_ms, end_ms = time_arguments.parse_window(since_text, until_text)
    with _journal_path(journal_folder) as folder:
        unreadable = list[InvalidRecordError]()
        records = [
            r
            for r in reader.read_records(folder, begin_ms, RecordFilter(report_unreadable=unreadable.append))
            if begin_ms <= r.time_ms < end_ms
        ]
    note = describe_unreadable(len(unreadable), folder)
    return ResultRows.from_records(RECORD_COLUMNS, records, (), [note] if note else [])


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
        nsadmin journal tail namesrv/journal --limit 100 --output jsonl
    """
    with _journal_path(journal_folder) as folder:
        records = reader.read_last_records(folder, max(line_count, 1))
    rows = ResultRows.from_records(RECORD_COLUMNS, records if line_count else ())
    return _follow_journal(session, rows, folder, records[-1].seq if records else 0) if follow else rows


def _follow_journal(session: Session, rows: ResultRows, folder: Path, last_seq: int) -> Iterator[ResultRows]:
    yield rows
    session.continue_table()
    for records in reader.follow_records(folder, last_seq):
        yield ResultRows.from_records(RECORD_COLUMNS, records)


@command(columns=STAT_COLUMNS, agent_refusal="it reads local files")
def journal_stat(session: Session, journal_folder: JournalFolderArgument) -> ResultRows:
    """Show the number and size of a journal's records by type.

    Examples:
        # The types with the most bytes first
        nsadmin journal stat namesrv/journal --sort=-plainSize
    """
    with _journal_path(journal_folder) as folder:
        counts = list(reader.count_records_by_type(folder).items())
        file_sizes = [s.file_path.stat().st_size for s in segments.list_segments(folder)]
    note = f"{count_noun(len(file_sizes), 'segment')}, {sum(file_sizes)} bytes on the disk"
    return ResultRows.from_records(STAT_COLUMNS, counts, notes=[note])


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
    with _journal_path(journal_folder) as folder:
        checks = list(reader.check_journal(folder))
    notes = [f"{c.journal_segment.file_path.name}: {problem}" for c in checks for problem in c.problem_texts]
    notes += [
        f"{c.journal_segment.file_path.name} ends with an incomplete record of {c.torn_bytes} bytes, "
        "which is no damage"
        for c in checks
        if c.torn_bytes
    ]
    errors = [RocketMQError("damaged")] if any(c.problem_texts for c in checks) else []
    return ResultRows.from_records(VERIFY_COLUMNS, checks, errors, notes)


@contextmanager
def _journal_path(journal_folder: str) -> Iterator[Path]:
    """Yield the path of a journal's folder; errors of its files become a one-line UsageError."""
    folder_path = Path(journal_folder).expanduser()
    try:
        journal_path, *others = segments.find_journals(folder_path)
        if others:
            names = abbreviate_names([str(f) for f in (journal_path, *others)], 10)
            raise UsageError(f'"{folder_path}" has several journals: use one of {names}')
        if not segments.list_segments(journal_path):
            raise UsageError(
                f"{folder_path} is not a journal: it has no files such as 0000000000000001-*.jsonl"
            )
        yield journal_path
    except OSError as error:
        raise UsageError(explain_unreadable(str(error.filename or folder_path), error)) from None


def _summarize_fields(fields: Mapping[str, Any]) -> str:
    """Summarize an event on one line; lists become their lengths."""
    return " ".join(
        f"{name}={_summarize_value(name, value)}"
        for name, value in fields.items()
        if not isinstance(value, dict)
    )


def _summarize_value(name: str, value: Any) -> object:
    if not isinstance(value, list):
        return value
    if name == "changes":
        return count_noun(sum(len(change["topics"]) for change in value), "topic")
    return f"({len(value)})"
