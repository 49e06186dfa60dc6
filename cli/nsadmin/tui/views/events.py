"""The list of events from journals and of changes between polls, newest first. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nsadmin.console.phrases import abbreviate_names, count_noun
from nsadmin.tui.actions.row_actions import RowSubject
from nsadmin.tui.model.change_detection import ChangeNotice
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.views import units
from nsadmin.tui.views.base_view import CellLine, View, open_topic
from nsadmin.tui.views.table import Cell, Column, Tone

MIN_STORM_SIZE = 5
"""Fewer events of a kind stay single rows."""
_STORM_GAP_MS = 30_000
"""Events of one kind belong to one storm if the time between them is not longer than this."""
_MAX_NAMES = 3


def _join_storm(notices: Sequence[ChangeNotice]) -> ChangeNotice:
    """One notice for events of one kind, newest first, with their servers and their first objects."""
    newest, begin_ms = notices[0], notices[-1].at_ms
    addrs = {notice.server_addr for notice in notices}
    first_names = (name for notice in reversed(notices) for name in notice.object_names[:1])
    names = tuple(dict.fromkeys(first_names))
    seconds = (newest.at_ms - begin_ms + 999) // 1000
    names_text = f": {abbreviate_names(names, _MAX_NAMES)}" if names else ""
    return newest._replace(
        server_addr=addrs.pop() if len(addrs) == 1 else f"{len(addrs)} servers",
        description=f"{count_noun(len(notices), 'event')} within {seconds} s{names_text}",
        object_names=names,
        storm_begin_ms=begin_ms,
    )


def collapse_storms(notices: Iterable[ChangeNotice]) -> Sequence[ChangeNotice]:
    """Replace storms by one row each. `notices` are newest first, and so is the result."""
    storms: list[list[ChangeNotice]] = []
    open_storms: dict[tuple[str, bool], list[ChangeNotice]] = {}
    for notice in notices:
        storm_key = (notice.event_kind, notice.is_from_journal)
        storm = open_storms.get(storm_key)
        if storm is None or storm[-1].at_ms - notice.at_ms > _STORM_GAP_MS:
            storm = open_storms[storm_key] = []
            storms.append(storm)
        storm.append(notice)
    rows: list[ChangeNotice] = []
    for storm in storms:
        rows += [_join_storm(storm)] if len(storm) >= MIN_STORM_SIZE else storm
    rows.sort(key=lambda row: -row.at_ms)
    return rows


_BAD_SUFFIXES = ("Gone", "Silent", "Unregistered", "Forgotten", "Refused", "Conflict", "Lost", "Failed")
_WARN_SUFFIXES = ("Wiped", "Deleted", "Gap", "Restarted")
_GOOD_SUFFIXES = ("Back", "Answers", "Registered", "Added", "Recovered")


def notice_tone(notice: ChangeNotice) -> Tone:
    """The tone of a notice, by the ending of its kind."""
    if notice.event_kind.endswith(_BAD_SUFFIXES):
        return "bad"
    if notice.event_kind.endswith(_WARN_SUFFIXES):
        return "warn"
    return "good" if notice.event_kind.endswith(_GOOD_SUFFIXES) else "info"


EVENT_COLUMNS: Sequence[Column[ChangeNotice]] = (
    Column("time", "TIME", 8, "time of the event, or of the poll that showed it",
           lambda notice: notice.at_ms, show=units.format_clock, tone="dim"),
    Column("kind", "EVENT", 18, "type of the event",
           lambda notice: notice.event_kind,
           cell=lambda notice: Cell(notice.event_kind, notice_tone(notice))),
    Column("said", "WHAT", 30, "before and after", lambda notice: notice.description, grow=True),
    Column("server", "SEEN AT", 21, "server that reported it",
           lambda notice: notice.server_addr, tone="dim", drop=1),
    Column("source", "BY", 7, "journal: from a name server's or collector's journal; polls: from two polls",
           lambda notice: notice.is_from_journal,
           cell=lambda notice: Cell("journal" if notice.is_from_journal else "polls", "dim"), drop=2),
)  # fmt: skip


def notices_about(model: ClusterModel, name: str, addr: str = "") -> list[ChangeNotice]:
    """The notices that concern this broker, topic or key, newest first."""
    notices = reversed(model.notices)
    return [n for n in notices if name in n.object_names or (addr and addr == n.server_addr)]


class EventListView(View):
    """The base class of lists of events, in which the newest event comes first."""

    key_fields = ("at_ms", "server_addr", "event_kind", "description")
    puts_problems_first = False
    columns = EVENT_COLUMNS

    def open_row(self, row: ChangeNotice) -> View | None:
        """The notices of the object that the row concerns."""
        return ObjectEventsView(row.object_names[0]) if row.object_names else None


class EventsView(EventListView):
    """The notices of all servers. A storm of one kind of events is one row, and Enter shows its events."""

    name = "events"
    title = "Events"
    empty_text = "no change since this screen was opened"

    def build_rows(self, model: ClusterModel) -> Sequence[ChangeNotice]:
        notices = model.notices
        edge_notices = (notices[0], notices[-1]) if notices else ()
        version = (len(notices), edge_notices)
        return model.compute_once("event rows", version, lambda: collapse_storms(reversed(notices)))

    def row_key(self, row: ChangeNotice) -> str:
        if row.storm_begin_ms is not None:
            return f"storm {row.event_kind} {row.storm_begin_ms}"
        return super().row_key(row)

    def subject_of_row(self, row: ChangeNotice) -> RowSubject:
        is_broker = row.storm_begin_ms is None and row.object_names and "Broker" in row.event_kind
        return RowSubject(broker_name=row.object_names[0]) if is_broker else RowSubject()

    def render_headline(self, model: ClusterModel) -> CellLine:
        journaled_count = sum(1 for notice in model.notices if notice.is_from_journal)
        polled_count = len(model.notices) - journaled_count
        return [
            Cell(count_noun(len(model.notices), "event"), "strong"),
            Cell(f"  {journaled_count} from journals, {polled_count} from polls", "dim"),
        ]

    def open_row(self, row: ChangeNotice) -> View | None:
        if row.storm_begin_ms is not None:
            return StormEventsView(row.event_kind, row.storm_begin_ms, row.at_ms)
        return super().open_row(row)


class StormEventsView(EventListView):
    name = "storm"

    def __init__(self, event_kind: str, begin_ms: int, end_ms: int) -> None:
        self.event_kind = self.title = event_kind
        self.begin_ms, self.end_ms = begin_ms, end_ms

    def build_rows(self, model: ClusterModel) -> Sequence[ChangeNotice]:
        notices = (notice for notice in reversed(model.notices) if notice.event_kind == self.event_kind)
        return [notice for notice in notices if self.begin_ms <= notice.at_ms <= self.end_ms]


class ObjectEventsView(EventListView):
    name = "about"

    def __init__(self, object_name: str) -> None:
        self.object_name = self.title = object_name

    def build_rows(self, model: ClusterModel) -> Sequence[ChangeNotice]:
        return notices_about(model, self.object_name)

    def subject_of_row(self, row: ChangeNotice) -> RowSubject:
        return RowSubject(broker_name=self.object_name)

    def open_row(self, row: ChangeNotice) -> View | None:
        return open_topic(self.object_name) if row.event_kind.startswith("Topic") else None
