"""Which journals a command about the past reads: those it names, else those of the context."""

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
    """What a name server had then is not written in its journal; the text says why."""


class Found(NamedTuple):
    """The journal of one name server."""

    folder: Path
    server: str


def journals(session: Session, command: str, given: list[str] | None, server: str | None) -> list[Found]:
    """The journals to read; UsageError where there is none, NotFound where none is that server's."""
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
    """A journal by its folder; of one whose first segment is damaged, the folder stands for its name."""
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
    # Imported late: it brings what rebuilds tables.
    from namesrv_core.storage import reading

    return next((record.server for record in reading.records(folder)), str(folder))


def attempt(command: str, journal: Found, step: Callable[[Path], T]) -> T:
    """What a step that reads a journal returns; one line for whatever is wrong with its files."""
    try:
        return step(journal.folder)
    except BadSegment as error:
        raise RocketMQError(f"{error}; nsadmin journalVerify {journal.folder} looks through all") from None
    except OSError as error:
        raise UsageError(f"{command}: {error.filename or journal.folder}: {error.strerror}") from None
