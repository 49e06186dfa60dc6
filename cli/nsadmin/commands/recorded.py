"""Finds the journals that a command reads: those of --journal, else those of the context."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

from namesrv_core.errors import RocketMQError
from namesrv_core.storage import segments
from namesrv_core.storage.segments import BadSegment
from nsadmin.client import NotFound
from nsadmin.commands.declared import Option
from nsadmin.diagnostics import UsageError
from nsadmin.session import Session

T = TypeVar("T")

JournalOption = Annotated[
    list[str] | None,
    Option("--journal", metavar="DIR", help="A name server's journal; else the context's. Repeatable."),
]
ServerOption = Annotated[
    str | None,
    Option("--namesrv", metavar="NAME", help="Only the journal of this one, as records name it."),
]


class Unknown(RocketMQError):
    """A name server's journal does not have its state at that time; the message says why."""


class Found(NamedTuple):
    """The journal of one name server: its folder, and the server's name in its records."""

    folder: Path
    server: str


def journals(session: Session, command: str, given: list[str] | None, server: str | None) -> list[Found]:
    """Find the journals to read; UsageError if none is named, NotFound if none is of that server."""
    folders = given or session.options.journals
    if not folders:
        raise UsageError(
            f"{command}: which journal? Add --journal DIR, or let the context know: "
            "nsadmin contextSet NAME --journal DIR"
        )
    found = [_journal(command, Path(folder).expanduser()) for folder in dict.fromkeys(folders)]
    chosen = [one for one in found if server in (None, one.server, one.server.rpartition(":")[0])]
    if not chosen:
        raise NotFound(f"no journal of {server!r}; there are: {', '.join(one.server for one in found)}")
    return chosen


def _journal(command: str, folder: Path) -> Found:
    """Identify the journal in a folder; if its first segment is damaged, its folder replaces the name."""
    nameless = Found(folder, str(folder))
    try:
        server = attempt(command, nameless, _first_name)
    except RocketMQError:
        return nameless
    if server is None:
        raise UsageError(
            f"{command}: {folder} has no journal: there are no files such as 0000000000000001-*.jsonl"
        )
    return Found(folder, server)


def _first_name(folder: Path) -> str | None:
    if not segments.segments(folder):
        return None
    # Imported late, because it loads the modules that rebuild tables.
    from namesrv_core.storage import reading

    return next((record.server for record in reading.records(folder)), str(folder))


def attempt(command: str, journal: Found, step: Callable[[Path], T]) -> T:
    """Call a function that reads a journal; errors of the journal's files become one-line errors."""
    try:
        return step(journal.folder)
    except BadSegment as error:
        raise RocketMQError(f"{error}; nsadmin journalVerify {journal.folder} looks through all") from None
    except OSError as error:
        raise UsageError(f"{command}: {error.filename or journal.folder}: {error.strerror}") from None
