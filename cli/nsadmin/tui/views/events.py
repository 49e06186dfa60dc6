"""The list of events from journals and of changes between polls, newest first. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from nsadmin.tui import units
from nsadmin.tui.model import Model
from nsadmin.tui.noticing import Notice
from nsadmin.tui.views.table import Cell, Column, Tone
from nsadmin.tui.views.view import About, Line, View

_BAD = ("Gone", "Silent", "Unregistered", "Forgotten", "Refused", "Conflict", "Lost", "Failed")
_WARN = ("Wiped", "Deleted", "Gap", "Restarted")


def tone(notice: Notice) -> Tone:
    """The tone of a notice, by the ending of its kind."""
    if notice.kind.endswith(_BAD):
        return "bad"
    if notice.kind.endswith(_WARN):
        return "warn"
    return "good" if notice.kind.endswith(("Back", "Answers", "Registered", "Added", "Recovered")) else "info"


COLUMNS = (
    Column(
        "time",
        "TIME",
        8,
        lambda n: n.at,
        lambda n: Cell(units.clock(n.at), "dim"),
        help="when it happened, or when a poll showed it",
    ),
    Column("kind", "EVENT", 18, lambda n: n.kind, lambda n: Cell(n.kind, tone(n)), help="what kind of thing"),
    Column("said", "WHAT", 30, lambda n: n.said, lambda n: Cell(n.said), grows=True, help="before and after"),
    Column(
        "server",
        "SEEN AT",
        21,
        lambda n: n.server,
        lambda n: Cell(n.server, "dim"),
        rank=1,
        help="the server that it was seen at",
    ),
    Column(
        "source",
        "BY",
        7,
        lambda n: n.recorded,
        lambda n: Cell("journal" if n.recorded else "polls", "dim"),
        rank=2,
        help="journal: a name server or a collector wrote it; polls: two looks differ",
    ),
)


def concerning(model: Model, name: str, addr: str = "") -> list[Notice]:
    """The notices that concern this broker, topic or key, newest first."""
    return [
        notice
        for notice in reversed(model.notices)
        if name in notice.names or (addr and addr == notice.server)
    ]


class Events(View):
    """The notices of all servers."""

    name = "events"
    title = "Events"
    columns = COLUMNS
    empty = "nothing has changed since this screen was opened"

    def items(self, model: Model) -> Sequence[Notice]:
        return list(reversed(model.notices))

    def key(self, item: Notice) -> str:
        return f"{item.at} {item.server} {item.kind} {item.said}"

    def about(self, item: Notice) -> About:
        return About(broker_name=item.names[0]) if item.names and "Broker" in item.kind else About()

    def headline(self, model: Model) -> Line:
        recorded = sum(1 for notice in model.notices if notice.recorded)
        return [
            Cell(f"{len(model.notices)} events", "strong"),
            Cell(f"  {recorded} from journals, {len(model.notices) - recorded} from polls", "dim"),
        ]

    def enter(self, item: Notice) -> View | None:
        """Open the notices of the object that the row concerns."""
        return Object(item.names[0]) if item.names else None


class Object(View):
    """The notices that concern one object."""

    name = "about"
    columns = COLUMNS

    def __init__(self, what: str) -> None:
        self.what = what

    @property
    def title(self) -> str:
        return self.what

    def items(self, model: Model) -> Sequence[Notice]:
        return concerning(model, self.what)

    def key(self, item: Notice) -> str:
        return f"{item.at} {item.server} {item.kind} {item.said}"

    def about(self, item: Notice) -> About:
        return About(broker_name=self.what)

    def enter(self, item: Notice) -> View | None:
        from nsadmin.tui.views.topic import Route

        return Route(self.what) if item.kind.startswith("Topic") else None
