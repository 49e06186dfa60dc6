"""Finds the journals that a command reads: those of --journal, else those of the context."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

from typer import Option

from namesrv_core.errors import RocketMQError
from namesrv_core.operator_files import explain_unreadable
from namesrv_core.storage.journal import segments
from namesrv_core.storage.journal.segments import InvalidSegmentError
from nsadmin.client import NotFound
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session
from nsadmin.operations.collector import BROKERS_JOURNAL

T = TypeVar("T")

JournalOption = Annotated[
    list[str] | None,
    Option(
        "--journal",
        metavar="DIR",
        help="Folder of a journal, or of journals, as of `nsadmin collect` or a lab. Repeatable. Default: "
        "the context's.",
    ),
]
JournalServerOption = Annotated[
    str | None,
    Option(
        "--namesrv", metavar="NAME", help="Only the journal of this name server, by its name in the records."
    ),
]


class UnknownPastError(RocketMQError):
    """The journal of a name server does not contain its state at that time; the message explains why."""


class ServerJournal(NamedTuple):
    """The journal of one name server: its folder, and the server's name in its records."""

    folder: Path
    server_name: str


def find_journals(
    session: Session, journal_folders: list[str] | None, server_name: str | None
) -> list[ServerJournal]:
    """Find the journals to read; UsageError without any journal, NotFound if no journal is of that server."""
    folder_names = journal_folders or session.options.journal_folders
    if not folder_names:
        raise UsageError(
            "no journal: record one with nsadmin collect DIR, or pass that of nsadmin's name server "
            "with --journal DIR"
        )
    folders = (f for name in folder_names for f in _find_server_journals(Path(name).expanduser()))
    journals = [_identify_journal(folder) for folder in dict.fromkeys(folders)]
    chosen = [j for j in journals if server_name in (None, j.server_name, j.server_name.rpartition(":")[0])]
    if not chosen:
        names = ", ".join(j.server_name for j in journals)
        raise NotFound(f'no journal of "{server_name}": use one of {names}')
    return chosen


def find_brokers_journal(folder_name: str) -> Path | None:
    """The collector's journal of brokers: in a folder of `collect`, or the folder itself."""
    folder = Path(folder_name).expanduser()
    try:
        return next(
            (f for f in (folder / BROKERS_JOURNAL, folder) if f.is_dir() and segments.list_segments(f)), None
        )
    except OSError as error:
        raise UsageError(explain_unreadable(str(error.filename or folder), error)) from None


def _find_server_journals(folder: Path) -> list[Path]:
    """The journals of name servers in a folder, without the collector's journal of brokers."""
    return [f for f in segments.find_journals(folder) if f == folder or f.name != BROKERS_JOURNAL]


def _identify_journal(folder: Path) -> ServerJournal:
    """Identify the journal in a folder; if its first segment is damaged, its folder replaces the name."""
    nameless_journal = ServerJournal(folder, str(folder))
    try:
        server_name = call_with_usage_errors(nameless_journal, _first_server_name)
    except RocketMQError:
        return nameless_journal
    if server_name is None:
        raise UsageError(f"{folder} is not a journal: it has no files such as 0000000000000001-*.jsonl")
    return ServerJournal(folder, server_name)


def _first_server_name(folder: Path) -> str | None:
    if not segments.list_segments(folder):
        return None
    # Imported late, because it loads the modules that rebuild tables.
    from namesrv_core.storage.journal import reader

    return next((record.server_name for record in reader.read_records(folder)), str(folder))


def call_with_usage_errors(server_journal: ServerJournal, read_journal: Callable[[Path], T]) -> T:
    """Call a function that reads a journal; errors of the journal's files become one-line errors."""
    try:
        return read_journal(server_journal.folder)
    except InvalidSegmentError as error:
        raise RocketMQError(
            f"{error}; run nsadmin journal verify {server_journal.folder} to check the whole journal"
        ) from None
    except OSError as error:
        raise UsageError(explain_unreadable(str(error.filename or server_journal.folder), error)) from None


def describe_unreadable(record_count: int, folder: Path) -> str | None:
    """A line about unreadable records; None without any."""
    if not record_count:
        return None
    unreadable = count_noun(record_count, "unreadable record")
    return f"skipped {unreadable}: run nsadmin journal verify {folder}"
