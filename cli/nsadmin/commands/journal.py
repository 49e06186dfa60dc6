"""journalCat, journalTail, journalStat, journalVerify: read the journal in a folder; ask no server."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from namesrv_core.errors import RocketMQError
from namesrv_core.history.records import Record
from namesrv_core.storage import reading, segments
from nsadmin.commands import moments
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.times import utc
from nsadmin.commands.units import size
from nsadmin.diagnostics import UsageError
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = ("seq", "time", "server", "type", "summary", "cause", "client", "event")
IN_TABLE = ("seq", "time", "type", "summary", "cause", "client")
STAT_COLUMNS = ("type", "records", "plainSize", "firstTime", "lastTime")
VERIFY_COLUMNS = (
    "file", "result", "records", "firstSeq", "lastSeq", "firstTime", "lastTime", "size", "plainSize",
    "problems",
)  # fmt: skip

FolderWord = Annotated[str, Word(("--dir",), "DIR", "Folder of the journal.")]
SinceOption = Annotated[
    str | None, Option("--since", metavar="TIME", help=f"Only from then on: {moments.HELP}")
]


@shows(COLUMNS)
def journal_cat(
    session: Session,
    folder: FolderWord,
    since: SinceOption = None,
    until: Annotated[str | None, Option("--until", metavar="TIME", help="Only before then.")] = None,
) -> Rows:
    """Show the records of a name server's journal, oldest first; closed segments are decompressed.

    The server may be running. A table has a summary of each event; JSON has all of it, as docs/journal.md
    tells.

    Examples:
        # All that happened since then, on a terminal
        nsadmin journalCat namesrv/journal --since 2025-01-31T14:00
        # What took write permission away or gave it back, and whose doing it was
        nsadmin journalCat namesrv/journal --filter type~^WritePerm --json
    """
    begin, end = moments.span("journalCat", since, until)
    with _reading("journalCat", folder) as path:
        found = [_row(one) for one in reading.records(path, begin) if begin <= one.time < end]
    return _rows(found)


@shows(COLUMNS)
def journal_tail(
    session: Session,
    folder: FolderWord,
    lines: Annotated[
        int, Option("-l", "--lines", metavar="N", help="How many; 10 if left out.", minimum=0)
    ] = 10,
    follow: Annotated[bool, Option("-f", "--follow", help="Go on with what comes, until Ctrl-C.")] = False,
) -> Rows | Iterator[Rows]:
    """Show the last records of a name server's journal.

    Examples:
        # The last ten
        nsadmin journalTail namesrv/journal
        # The last hundred, a JSON object on each line; with --follow it goes on with what comes
        nsadmin journalTail namesrv/journal --lines 100 --output jsonl
    """
    with _reading("journalTail", folder) as path:
        found = reading.last(path, max(lines, 1))
    shown = _rows(map(_row, found if lines else ()))
    return _followed(session, shown, path, found[-1].seq if found else 0) if follow else shown


def _followed(session: Session, shown: Rows, folder: Path, after: int) -> Iterator[Rows]:
    yield shown
    session.continue_table()
    for records in reading.follow(folder, after):
        yield _rows(map(_row, records))


@shows(STAT_COLUMNS)
def journal_stat(session: Session, folder: FolderWord) -> Rows:
    """Show how many records of which type a journal has, and how much room they take.

    Examples:
        # The types with the most bytes first
        nsadmin journalStat namesrv/journal --sort=-plainSize
    """
    with _reading("journalStat", folder) as path:
        rows = [
            {
                "type": kind,
                "records": count.records,
                "plainSize": size(count.plain_size),
                "firstTime": utc(count.first),
                "lastTime": utc(count.last),
            }
            for kind, count in reading.counts(path).items()
        ]
        files = [segment.path.stat().st_size for segment in segments.segments(path)]
    note = f"{len(files)} segments, {sum(files)} bytes on the disk"
    return Rows(STAT_COLUMNS, rows, notes=[note])


@shows(VERIFY_COLUMNS)
def journal_verify(session: Session, folder: FolderWord) -> Rows:
    """Look through a whole journal: every record, and whether snapshots and events agree.

    Numbers must have no hole, and the tables that a snapshot and the events behind it give must be those
    of the next snapshot. A record that a killed server left torn at the end is no damage: the next start
    cuts it off. The exit code is 1 where something is damaged.

    Examples:
        # Each segment
        nsadmin journalVerify namesrv/journal
        # What is wrong with which, in words
        nsadmin journalVerify namesrv/journal --columns file,result,problems --json
    """
    with _reading("journalVerify", folder) as path:
        found = list(reading.check(path))
    notes = [f"{one.segment.path.name}: {problem}" for one in found for problem in one.problems]
    notes += [
        f"{one.segment.path.name} ends in {one.torn} bytes of no whole record" for one in found if one.torn
    ]
    errors = [RocketMQError("damaged")] if any(one.problems for one in found) else []
    return Rows(VERIFY_COLUMNS, [_verified(one) for one in found], errors, notes, VERIFY_COLUMNS[:-1])


def _verified(one: reading.Checked) -> Row:
    return {
        "file": one.segment.path.name,
        "result": "damaged" if one.problems else "whole" if one.segment.is_closed else "open",
        "records": one.records,
        "firstSeq": one.first,
        "lastSeq": one.last,
        "firstTime": utc(one.began),
        "lastTime": utc(one.ended),
        "size": size(one.size),
        "plainSize": size(one.plain_size),
        "problems": one.problems,
    }


@contextmanager
def _reading(command: str, folder: str) -> Iterator[Path]:
    """Yield the path of a journal's folder; errors of its files become a one-line UsageError."""
    path = Path(folder).expanduser()
    try:
        if not segments.segments(path):
            raise UsageError(
                f"{command}: {path} has no journal: there are no files such as 0000000000000001-*.jsonl"
            )
        yield path
    except OSError as error:
        raise UsageError(f"{command}: {error.filename or path}: {error.strerror}") from None


def _rows(rows: Iterable[Row]) -> Rows:
    return Rows(COLUMNS, list(rows), in_table=IN_TABLE)


def _row(record: Record) -> Row:
    return {
        "seq": record.seq,
        "time": utc(record.time),
        "server": record.server,
        "type": record.type,
        "summary": _summary(record.fields),
        "cause": record.origin.cause,
        "client": record.origin.client,
        "event": record.fields,
    }


def _summary(fields: Any) -> str:
    """Summarize an event on one line; lists become their lengths."""
    return " ".join(
        f"{name}={_counted(name, value)}" for name, value in fields.items() if not isinstance(value, dict)
    )


def _counted(name: str, value: Any) -> object:
    if not isinstance(value, list):
        return value
    if name == "changes":
        return f"{sum(len(group['topics']) for group in value)} topics"
    return f"({len(value)})"
