"""history: shows the events of a topic, a broker, a cluster or a KV key from journals; asks no server."""

from collections.abc import Iterable, Iterator
from heapq import merge
from pathlib import Path
from time import sleep
from typing import Annotated, NamedTuple, cast

from namesrv_core.errors import RocketMQError
from namesrv_core.events import Snapshot
from namesrv_core.history.concerning import ROUTINE, Concerning, Kind, Subject
from namesrv_core.history.records import KINDS, Record
from namesrv_core.storage import reading
from namesrv_core.storage.reading import Sieve
from nsadmin.commands import moments
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.events import in_words
from nsadmin.commands.recorded import Found, JournalOption, ServerOption, attempt, journals
from nsadmin.commands.times import utc
from nsadmin.diagnostics import UsageError
from nsadmin.likeness import like
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = ("seq", "time", "server", "type", "changes", "cause", "client", "event")
IN_TABLE = ("time", "type", "changes", "cause", "client")

_KINDS = ("topic", "broker", "cluster", "kv")
_USUAL = frozenset(KINDS) - ROUTINE
_PAUSE = 0.2


class Wanted(NamedTuple):
    """Which records to show: their subject, times and types.

    The times go from `begin_ms` to before `end_ms` (ms since 1970). `max_records` keeps only the newest
    records; None keeps all.
    """

    subject: Subject | None
    begin: int
    end: int
    types: frozenset[str]
    limit: int | None


@shows(COLUMNS)
def history(
    session: Session,
    kind: Annotated[
        str | None,
        Word(
            ("--kind",),
            "KIND",
            "topic, broker, cluster or kv; all if left out.",
            False,
            values="|".join(_KINDS),
        ),
    ],
    name: Annotated[str | None, Word(("--name",), "NAME", "Its name; of kv, the namespace.", required=False)],
    key: Annotated[str | None, Word(("--key",), "KEY", "Of kv, one key.", required=False, values="")],
    since: Annotated[
        str | None, Option("--since", metavar="TIME", help=f"Only from then on: {moments.HELP}")
    ] = None,
    until: Annotated[str | None, Option("--until", metavar="TIME", help="Only before then.")] = None,
    type_: Annotated[
        list[str] | None,
        Option("--type", metavar="TYPE", help="Only events of this type, such as TopicsChanged. Repeatable."),
    ] = None,
    limit: Annotated[
        int,
        Option(
            "--limit", metavar="N", help="Only the newest so many; 0 for all; 1000 if left out.", minimum=0
        ),
    ] = 1000,
    follow: Annotated[bool, Option("-f", "--follow", help="Go on with what comes, until Ctrl-C.")] = False,
    server: ServerOption = None,
    journal: JournalOption = None,
) -> Rows | Iterator[Rows]:
    """Show what happened, newest last, with what caused it and whose doing it was.

    A topic's history has its changes on each broker, its deletion and its order configuration; a broker's
    has its registrations, silences and end as well. With every history go the starts and stops of the name
    server and losses of its journal: what was known ends with them. Snapshots and proofs of life are left
    out, unless --type names them. Events of several journals stand in the order of their times. That older
    ones were left out because of --limit is said; --until leads to them.

    Examples:
        # The life of a topic
        nsadmin history topic orders --journal namesrv/journal
        # Who took write permission away or gave it back, and when
        nsadmin history --type WritePermWiped --type WritePermAdded --journal namesrv/journal
        # What happened to a broker on a day, as JSON
        nsadmin history broker broker-a --since 2025-02-01 --until 2025-02-02 --journal namesrv/journal --json
    """
    wanted = Wanted(
        _subject(kind, name, key),
        *moments.span("history", since, until),
        _types(type_),
        limit or None,
    )
    found = journals(session, "history", journal, server)
    tellers = [_Teller(one, wanted, follow) for one in found]
    lists = [teller.past() for teller in tellers]
    in_table = IN_TABLE if len(found) == 1 else (IN_TABLE[0], "server", *IN_TABLE[1:])
    errors = [teller.error for teller in tellers]
    notes = [f"{teller.journal.server}: {teller.error}" for teller in tellers if teller.error]
    rows = _rows(lists)
    if limit and len(rows) > limit:
        rows = rows[-limit:]
        notes.append(
            f"the newest {limit} events; --limit 0 shows the older ones too, --until TIME leads there"
        )
    shown = Rows(COLUMNS, rows, errors, notes, in_table)
    return _followed(session, shown, tellers) if follow else shown


def _subject(kind: str | None, name: str | None, key: str | None) -> Subject | None:
    if kind is None:
        return None
    if kind not in _KINDS:
        raise UsageError(f"history: {kind!r} has no history; type one of {', '.join(_KINDS)} and a name")
    if name is None:
        raise UsageError(f"history: which {kind}? Type: nsadmin history {kind} NAME")
    if key is not None and kind != "kv":
        raise UsageError(f"history: {key!r} is one too many; type: nsadmin history {kind} NAME")
    return Subject(cast(Kind, kind), name, key)


def _types(given: list[str] | None) -> frozenset[str]:
    """Parse the event types to show, in any case."""
    by_lower = {name.lower(): name for name in KINDS}
    for text in given or ():
        if text.lower() not in by_lower:
            names = ", ".join(like(text, KINDS, 0.5) or KINDS)
            raise UsageError(f"history: --type {text} is no type of event; there are: {names}")
    return frozenset(by_lower[text.lower()] for text in given or ()) or _USUAL


class _Teller:
    """Reads the matching records of one journal; `read_error` is the error that ended reading."""

    def __init__(self, journal: Found, wanted: Wanted, goes_on: bool) -> None:
        self.journal = journal
        self.error: RocketMQError | None = None
        self._wanted = wanted
        self._concerning = Concerning(wanted.subject)
        self._goes_on = goes_on
        self._reached = 0

    def past(self) -> list[tuple[Record, Row]]:
        """Read the existing records. Of more than `max_records`, it returns at least one more, the newest."""
        try:
            return attempt("history", self.journal, self._past)
        except RocketMQError as error:
            self.error = error
            return []

    def _past(self, folder: Path) -> list[tuple[Record, Row]]:
        wanted = self._wanted
        if self._goes_on:
            # New records that arrive during reading come after this one, or after the last one that was read.
            self._reached = max((record.seq for record in reading.last(folder, 1)), default=0)
        found: list[list[tuple[Record, Row]]] = []
        count = 0
        for records in reading.backwards(folder, wanted.begin, wanted.end, self._sieve()):
            # Each segment begins with a snapshot, so its records need no state from earlier segments.
            concerning = Concerning(wanted.subject)
            if not found:
                self._concerning = concerning
            found.append(list(self._told(concerning, records)))
            count += len(found[-1])
            if wanted.limit is not None and count > wanted.limit:
                break
        return [item for part in reversed(found) for item in part]

    def _sieve(self) -> Sieve:
        wanted, concerning = self._wanted, self._concerning
        if not wanted.types.isdisjoint(ROUTINE):
            return Sieve(concerning.may_be, None, wanted.types)
        if concerning.terms is not None and wanted.types == _USUAL:
            # The search terms select records of all types except the routine ones.
            return Sieve(concerning.may_be, concerning.terms)
        follows_cluster = wanted.subject is not None and wanted.subject.kind == "cluster"
        # A cluster's brokers are learned from snapshots, so these have to pass the sieve.
        learned = {Snapshot.__name__} if follows_cluster else set()
        return Sieve(concerning.may_be, concerning.terms, wanted.types | learned)

    def coming(self) -> Iterator[list[tuple[Record, Row]]]:
        """Yield the new matching records of each poll of the journal."""
        for records in reading.looks(self.journal.folder, self._reached):
            yield list(self._told(self._concerning, records))

    def _told(self, concerning: Concerning, records: Iterable[Record]) -> Iterator[tuple[Record, Row]]:
        wanted = self._wanted
        for record in records:
            self._reached = max(self._reached, record.seq)
            part = concerning.part(record)
            if (
                part is None
                or record.type not in wanted.types
                or not wanted.begin <= record.time < wanted.end
            ):
                continue
            yield (
                record,
                {
                    "seq": record.seq,
                    "time": utc(record.time),
                    "server": record.server,
                    "type": record.type,
                    "changes": in_words(record.type, part),
                    "cause": record.origin.cause,
                    "client": record.origin.client,
                    "event": part,
                },
            )


def _rows(lists: Iterable[list[tuple[Record, Row]]]) -> list[Row]:
    return [row for _, row in merge(*lists, key=lambda item: item[0].time)]


def _looked(journal: Found, coming: Iterator[list[tuple[Record, Row]]]) -> list[tuple[Record, Row]]:
    return attempt("history", journal, lambda _: next(coming))


def _followed(session: Session, shown: Rows, tellers: list[_Teller]) -> Iterator[Rows]:
    coming = [(teller.journal, teller.coming()) for teller in tellers]
    yield shown
    session.continue_table()
    while True:
        rows = _rows([_looked(*one) for one in coming])
        if rows:
            yield shown._replace(rows=rows, errors=(), notes=())
        else:
            sleep(_PAUSE)
