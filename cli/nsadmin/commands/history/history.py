"""Owns history, which shows the events of a topic, broker, cluster or KV key from journals."""

from collections.abc import Iterable, Iterator
from heapq import merge
from pathlib import Path
from time import sleep
from typing import Annotated, NamedTuple, cast

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from namesrv_core.events import EVENT_TYPES_BY_NAME, Snapshot
from namesrv_core.history.records import InvalidRecordError, JournalRecord
from namesrv_core.history.subject_filter import (
    GLOBAL_EVENT_TYPES,
    ROUTINE_EVENT_TYPES,
    JournalSubject,
    SubjectFilter,
    SubjectKind,
)
from namesrv_core.storage.journal import reader
from namesrv_core.storage.journal.reader import RecordFilter
from nsadmin.client import NotFound
from nsadmin.client.advised_command import quote_command
from nsadmin.client.did_you_mean import find_similar_names
from nsadmin.command_line import time_arguments
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.command_line.exclusive_options import refuse_both
from nsadmin.commands.columns.changes import CHANGES
from nsadmin.commands.columns.journals import CAUSE, CLIENT, SEQ, SERVER, TIME, TYPE
from nsadmin.commands.history.event_descriptions import EventFields, describe_event
from nsadmin.commands.history.journal_source import (
    JournalOption,
    JournalServerOption,
    ServerJournal,
    call_with_usage_errors,
    describe_unreadable,
    find_journals,
)
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows, of_part
from nsadmin.console.session import Session


class HistoryEntry(NamedTuple):
    """A record, and the part of its fields that is about the subject."""

    record: JournalRecord
    fields: EventFields


HISTORY_COLUMNS: Columns[HistoryEntry] = (
    *of_part(lambda e: e.record, (SEQ.in_wide(), TIME, SERVER, TYPE)),
    CHANGES.of(lambda e: describe_event(e.record.event_type, e.fields)),
    *of_part(lambda e: e.record, (CAUSE, CLIENT)),
    Column(
        "event",
        "fields of the event; of lists, only the items that match the filters",
        lambda e: e.fields,
        wide=True,
    ),
)

_SUBJECT_KINDS = ("topic", "broker", "cluster", "kv")
_USUAL_TYPES = frozenset(EVENT_TYPES_BY_NAME) - ROUTINE_EVENT_TYPES
_POLL_SECONDS = 0.2


class HistoryQuery(NamedTuple):
    """Which records to show: their subject, times and types.

    The times go from `begin_ms` to before `end_ms` (ms since 1970). `max_records` keeps only the newest
    records; None keeps all.
    """

    subject: JournalSubject | None
    begin_ms: int
    end_ms: int
    event_types: frozenset[str]
    max_records: int | None


@command(columns=HISTORY_COLUMNS, nothing="no events")
def history(
    session: Session,
    subject_kind: Annotated[
        str | None,
        Argument(metavar="KIND", help="topic, broker, cluster or kv. Default: all events."),
        Flags("--kind"),
        Values("|".join(_SUBJECT_KINDS)),
    ],
    subject_name: Annotated[
        str | None,
        Argument(metavar="NAME", help="Name of the subject; for kv, the namespace."),
        Flags("--name"),
    ],
    kv_key: Annotated[
        str | None, Argument(metavar="KEY", help="For kv: only this key."), Flags("--key"), Values("")
    ],
    since_text: Annotated[
        str | None,
        Option("--since", metavar="TIME", help=f"Only events since this time: {time_arguments.TIME_HELP}"),
    ] = None,
    until_text: Annotated[
        str | None, Option("--until", metavar="TIME", help="Only events before this time.")
    ] = None,
    type_names: Annotated[
        list[str] | None,
        Option(
            "--type",
            metavar="TYPE",
            help="Only events of this type, such as TopicsChanged. Repeatable, or a list: A,B.",
        ),
    ] = None,
    max_records: Annotated[
        int, Option("--limit", metavar="N", help="Only the newest N events; 0 for all. Default: 1000.", min=0)
    ] = 1000,
    topic: Annotated[
        str | None, Option("--topic", metavar="TOPIC", help="Only events of this topic, like topic TOPIC.")
    ] = None,
    broker_name: Annotated[
        str | None, Option("--broker", metavar="BROKER", help="Only events of it, like broker BROKER.")
    ] = None,
    follow: Annotated[bool, Option("-f", "--follow", help="Follow new events, until Ctrl-C.")] = False,
    server_name: JournalServerOption = None,
    journal_folders: JournalOption = None,
) -> ResultRows | Iterator[ResultRows]:
    """Show the events of a topic, broker, cluster or KV key with their causes, newest last.

    A topic's history has its changes on each broker, its deletion and its order configuration. A broker's
    history also has its registrations, silences and removal. A history includes starts and stops of the
    name server and losses of its journal, because earlier state is unknown after them. Snapshots and
    heartbeats are not shown, unless --type names them. Events of several journals are sorted by time. If
    --limit hides older events, a line on stderr reports it: use --until to see them.

    Examples:
        # What changed in the cluster, since a time or, with 12h, in the last twelve hours
        nsadmin history --from 2025-02-01
        # When a topic appeared, changed and disappeared
        nsadmin history topic orders
        # When write permission was removed or restored, and by which client
        nsadmin history --type WritePermWiped --type WritePermAdded
        # Timeline of a broker: its events on one day, as JSON
        nsadmin history broker broker-a --from 2025-02-01 --until 2025-02-02 --json
    """
    for kind, name in (("topic", topic), ("broker", broker_name)):
        if name is not None:
            refuse_both(f"--{kind}", name, "KIND", subject_kind)
            subject_kind, subject_name = kind, name
    history_query = HistoryQuery(
        _parse_subject(subject_kind, subject_name, kv_key),
        *time_arguments.parse_window(since_text, until_text),
        _parse_types(type_names),
        max_records or None,
    )
    try:
        server_journals = find_journals(session, journal_folders, server_name)
    except UsageError as error:
        if not (journal_folders or session.options.journal_folders):
            left = quote_command("inventory", "list")
            started = quote_command("brokerStatus", "--filter", "key=bootTimestamp")
            error.add_note(
                f"without a journal: `{left}` shows brokers that left, and `{started}` when they started"
            )
        raise
    histories = [_JournalHistory(journal, history_query, follow) for journal in server_journals]
    entries = _merge_entries([h.read_past() for h in histories])
    has_no_event = subject_kind is not None and all(
        e.record.event_type in GLOBAL_EVENT_TYPES for e in entries
    )
    if has_no_event and not follow:
        # Starts and stops of name servers explain gaps between events, and there are none.
        entries = []
    namespaces = {n for h in histories if subject_kind == "kv" and has_no_event for n in h.read_namespaces()}
    errors = [h.read_error for h in histories]
    notes = [f"{h.server_journal.server_name}: {h.read_error}" for h in histories if h.read_error]
    notes += filter(None, (h.unreadable_note() for h in histories))
    if max_records and len(entries) > max_records:
        entries = entries[-max_records:]
        notes.append(
            f"only the newest {max_records} events are shown: use --limit 0 for all, or --until "
            "TIME for older ones"
        )
    elif has_no_event:
        selection = " that matches the options" if since_text or until_text or type_names else ""
        name = f"{subject_name} {kv_key}" if kv_key else subject_name
        notes.append(f'{subject_kind} "{name}" has no event{selection} in the journal')
        if subject_kind == "kv" and subject_name not in namespaces:
            names = ", ".join(sorted(namespaces)) or "none"
            notes[-1] = (
                f'no KV namespace "{subject_name}": use history kv NAMESPACE [KEY]; the journal has {names}'
            )
        if not (selection or follow or any(errors)):
            raise NotFound("; ".join(notes))
    columns = HISTORY_COLUMNS
    if len(server_journals) > 1:
        columns = tuple(c._replace(wide=False) if c.key == SERVER.key else c for c in columns)
    rows = ResultRows.from_records(columns, entries, errors, notes)
    return _follow_journals(session, rows, columns, histories) if follow else rows


def _parse_subject(
    subject_kind: str | None, subject_name: str | None, kv_key: str | None
) -> JournalSubject | None:
    if subject_kind is None:
        return None
    if subject_kind not in _SUBJECT_KINDS:
        raise UsageError(f'unknown kind "{subject_kind}": use {", ".join(_SUBJECT_KINDS)}, then a name')
    if subject_name is None:
        usage = "KV namespace: run nsadmin history kv NAMESPACE [KEY]"
        if subject_kind != "kv":
            usage = f"{subject_kind}: run nsadmin history {subject_kind} NAME"
        raise UsageError(f"missing name of the {usage}")
    if kv_key is not None and subject_kind != "kv":
        raise UsageError(
            f'unexpected argument "{kv_key}": only kv takes a key; run nsadmin history {subject_kind} NAME'
        )
    return JournalSubject(cast(SubjectKind, subject_kind), subject_name, kv_key)


def _parse_types(type_names: list[str] | None) -> frozenset[str]:
    """Parse the event types to show, in any case."""
    names_by_lower = {type_name.lower(): type_name for type_name in EVENT_TYPES_BY_NAME}
    for type_text in type_names or ():
        if type_text.lower() not in names_by_lower:
            suggested_names = ", ".join(
                find_similar_names(type_text, EVENT_TYPES_BY_NAME, 0.5) or EVENT_TYPES_BY_NAME
            )
            raise UsageError(f'unknown event type "{type_text}" for --type: use {suggested_names}')
    return frozenset(names_by_lower[type_text.lower()] for type_text in type_names or ()) or _USUAL_TYPES


class _JournalHistory:
    """Reads the matching records of one journal; `read_error` is the error that ended reading."""

    def __init__(
        self, server_journal: ServerJournal, history_query: HistoryQuery, is_following: bool
    ) -> None:
        self.server_journal = server_journal
        self.read_error: RocketMQError | None = None
        self._query = history_query
        self._subject_filter = SubjectFilter(history_query.subject)
        self._is_following = is_following
        self._last_seq = 0
        self._unreadable_errors: list[InvalidRecordError] = []

    def unreadable_note(self) -> str | None:
        """A line about the records that cannot be read; None if there were none."""
        note = describe_unreadable(len(self._unreadable_errors), self.server_journal.folder)
        return note and f"{self.server_journal.server_name}: {note}"

    def read_past(self) -> list[HistoryEntry]:
        """Read the existing records; if `max_records` limits them, return at least one more than that."""
        try:
            return call_with_usage_errors(self.server_journal, self._read_segments)
        except RocketMQError as error:
            self.read_error = error
            return []

    def read_namespaces(self) -> set[str]:
        """Read the KV namespaces of the last segment, which begins with a snapshot."""

        def is_about_kv(line: bytes) -> bool:
            return b'"type":"Snapshot"' in line[:512] or b'"namespace"' in line

        def read_last_segment(folder: Path) -> set[str]:
            records = reader.read_records(folder, self._query.end_ms, RecordFilter(is_about_kv))
            return {
                str(name)
                for fields in (record.event_fields for record in records)
                for name in (*fields.get("kv", ()), fields.get("namespace"))
                if name is not None
            }

        try:
            return call_with_usage_errors(self.server_journal, read_last_segment)
        except RocketMQError as error:
            self.read_error = error
            return set()

    def _read_segments(self, folder: Path) -> list[HistoryEntry]:
        query = self._query
        if self._is_following:
            # New records that arrive during reading come after this record, or after the last read record.
            self._last_seq = max((record.seq for record in reader.read_last_records(folder, 1)), default=0)
        entries_by_segment = list[list[HistoryEntry]]()
        entry_count = 0
        for records in reader.read_segments_backwards(
            folder, query.begin_ms, query.end_ms, self._build_sieve()
        ):
            # Each segment begins with a snapshot, so its records need no state from earlier segments.
            subject_filter = SubjectFilter(query.subject)
            if not entries_by_segment:
                self._subject_filter = subject_filter
            entries_by_segment.append(list(self._list_entries(subject_filter, records)))
            entry_count += len(entries_by_segment[-1])
            if query.max_records is not None and entry_count > query.max_records:
                break
        return [entry for entries in reversed(entries_by_segment) for entry in entries]

    def _build_sieve(self) -> RecordFilter:
        query, subject_filter = self._query, self._subject_filter
        report_unreadable = self._unreadable_errors.append
        if not query.event_types.isdisjoint(ROUTINE_EVENT_TYPES):
            return RecordFilter(subject_filter.can_match_line, None, query.event_types, report_unreadable)
        if subject_filter.search_terms is not None and query.event_types == _USUAL_TYPES:
            # The search terms select records of all types except the routine ones.
            return RecordFilter(
                subject_filter.can_match_line,
                subject_filter.search_terms,
                report_unreadable=report_unreadable,
            )
        follows_cluster = query.subject is not None and query.subject.kind == "cluster"
        # A cluster's brokers are learned from snapshots, so snapshots must pass the filter.
        learned_types = {Snapshot.__name__} if follows_cluster else set()
        return RecordFilter(
            subject_filter.can_match_line,
            subject_filter.search_terms,
            query.event_types | learned_types,
            report_unreadable,
        )

    def follow_records(self) -> Iterator[list[HistoryEntry]]:
        """Yield the new matching records of each poll of the journal."""
        for records in reader.poll_records(self.server_journal.folder, self._last_seq):
            yield list(self._list_entries(self._subject_filter, records))

    def _list_entries(
        self, subject_filter: SubjectFilter, records: Iterable[JournalRecord]
    ) -> Iterator[HistoryEntry]:
        query = self._query
        for record in records:
            self._last_seq = max(self._last_seq, record.seq)
            fields = subject_filter.matching_fields(record)
            if (
                fields is None
                or record.event_type not in query.event_types
                or not query.begin_ms <= record.time_ms < query.end_ms
            ):
                continue
            yield HistoryEntry(record, fields)


def _merge_entries(entry_lists: Iterable[list[HistoryEntry]]) -> list[HistoryEntry]:
    return list(merge(*entry_lists, key=lambda e: e.record.time_ms))


def _read_next(journal: ServerJournal, batches: Iterator[list[HistoryEntry]]) -> list[HistoryEntry]:
    return call_with_usage_errors(journal, lambda _: next(batches))


def _follow_journals(
    session: Session, rows: ResultRows, columns: Columns[HistoryEntry], histories: list[_JournalHistory]
) -> Iterator[ResultRows]:
    followed = [(h.server_journal, h.follow_records()) for h in histories]
    yield rows
    session.continue_table()
    while True:
        entries = _merge_entries([_read_next(*journal) for journal in followed])
        if entries:
            yield ResultRows.from_records(columns, entries)
        else:
            sleep(_POLL_SECONDS)
