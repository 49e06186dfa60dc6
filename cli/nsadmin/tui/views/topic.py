"""The tabs of one topic: its route on each name server, its consumer groups, and a diagram. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from namesrv_core.protocol.codes import perm_text
from nsadmin.tui import units
from nsadmin.tui.model import Model, Silence
from nsadmin.tui.polls import Queues, TopicPolled
from nsadmin.tui.questions import Question
from nsadmin.tui.views import events, states
from nsadmin.tui.views.table import Cell, Column
from nsadmin.tui.views.view import About, Line, View, clipped


class Side(NamedTuple):
    """A topic on one broker, with the queues on each name server.

    `is_current` means that at least one name server still answers.
    """

    broker_name: str
    by_server: tuple[tuple[str, Queues | None], ...]
    rate: float | None
    writable: bool
    is_told: bool = True

    @property
    def first(self) -> Queues | None:
        return next((queues for _, queues in self.by_server if queues is not None), None)

    @property
    def differs(self) -> bool:
        return len({queues for _, queues in self.by_server}) > 1

    @property
    def are_equal(self) -> bool:
        """Whether at least two name servers report it, and all report the same."""
        return self.is_told and len(self.by_server) > 1 and not self.differs


class TopicView(View):
    """The base class of all tabs of a topic."""

    def __init__(self, topic: str) -> None:
        self.topic = topic

    @property
    def title(self) -> str:
        return self.topic

    def tabs(self) -> Sequence[View]:
        from nsadmin.tui.views.topic_producers import TopicProducers

        views = (Route, Readers, Drawn, TopicProducers, TopicHistory)
        return [view(self.topic) for view in views]

    def about(self, item: Any) -> About:
        return About(topic=self.topic)

    def questions(self, model: Model, visible: Sequence[object], current: object | None) -> list[Question]:
        return [Question("topic", self.topic)]

    def poll(self, model: Model) -> TopicPolled | None:
        return model.topics.get(self.topic)

    def silence(self, model: Model) -> Silence | None:
        return model.silence()

    def nothing(self, model: Model) -> str:
        poll = self.poll(model)
        if poll is None and model.silence() is None:
            return model.awaited("it is")
        if poll is not None and not poll.routes:
            return "unknown: no name server tells its route"
        return super().nothing(model)

    def headline(self, model: Model) -> Line:
        poll = self.poll(model)
        if poll is None:
            return [Cell(model.awaited("its route is"), "dim")]
        if not poll.routes:
            return [Cell("its route is unknown", "warn")]
        known = [addr for addr, route in poll.routes.items() if route]
        missing = [addr for addr, route in poll.routes.items() if not route]
        rate = sum(poll.put_tps.values()) if poll.put_tps else None
        shown = [
            Cell(f"known to {len(known)} of {len(poll.routes) + len(poll.errors)} name servers", "strong")
        ]
        if missing:
            shown.append(Cell(f"  not to {', '.join(missing)}", "bad"))
        if poll.errors:
            shown.append(Cell(f"  silent: {', '.join(poll.errors)}", "warn"))
        return [*shown, Cell("  in "), Cell(f"{units.rate(rate)}/s", "accent")]


def sides(model: Model, poll: TopicPolled) -> list[Side]:
    """A row for each broker in the topic's route on any name server."""
    names = sorted({name for route in poll.routes.values() if route for name in route})
    return [
        Side(
            name,
            tuple((addr, (route or {}).get(name)) for addr, route in poll.routes.items()),
            (poll.put_tps or {}).get(name),
            any(broker.place[1] == 0 and broker.gone is None for broker in model.siblings(name)),
            model.silence() is None,
        )
        for name in names
    ]


def _queues(queues: Queues | None) -> str:
    return "absent" if queues is None else f"{perm_text(queues.perm)} {queues.write}/{queues.read}"


class Route(TopicView):
    """The queues and the permission of the topic, by broker and name server."""

    name = "route"
    empty = "no name server that answers knows a route of it"
    columns = (
        Column(
            "broker",
            "BROKER",
            20,
            lambda s: s.broker_name,
            lambda s: Cell(s.broker_name, "strong"),
            grows=True,
        ),
        Column(
            "perm", "PERM", 5, lambda s: s.first.perm if s.first else None, lambda s: _perm(s), flashes=True
        ),
        Column(
            "write",
            "WRITE",
            6,
            lambda s: s.first.write if s.first else None,
            lambda s: Cell(units.count(s.first.write if s.first else None)),
            right=True,
            flashes=True,
            help="queues that are written",
        ),
        Column(
            "read",
            "READ",
            6,
            lambda s: s.first.read if s.first else None,
            lambda s: Cell(units.count(s.first.read if s.first else None)),
            right=True,
            flashes=True,
            help="queues that are read",
        ),
        Column(
            "rate",
            "IN/s",
            7,
            lambda s: s.rate,
            lambda s: Cell(units.rate(s.rate)),
            right=True,
            help="messages put per second, over a minute",
        ),
        Column(
            "master",
            "MASTER",
            7,
            lambda s: s.writable,
            lambda s: Cell("there" if s.writable else "none", "" if s.writable else "bad"),
            rank=1,
            flashes=True,
        ),
        Column(
            "servers",
            "NAME SERVERS",
            46,
            lambda s: not s.differs,
            lambda s: _servers(s),
            rank=2,
            help="equal where each name server that answers tells the same, – where it is one alone; "
            "else what each tells",
        ),
    )

    def items(self, model: Model) -> Sequence[Side]:
        poll = self.poll(model)
        return sides(model, poll) if poll is not None else []

    def key(self, item: Side) -> str:
        return item.broker_name

    def text(self, item: Side) -> str:
        return item.broker_name

    def about(self, item: Side) -> About:
        return About(topic=self.topic, broker_name=item.broker_name)


def _perm(side: Side) -> Cell:
    if side.first is None:
        return Cell(units.NOTHING, "dim")
    return Cell(perm_text(side.first.perm), "" if side.first.perm & 2 else "warn")


def _servers(side: Side) -> Cell:
    if not side.differs:
        return Cell("equal" if side.are_equal else units.NOTHING, "dim")
    return Cell("≠ " + "  ".join(f"{addr} {_queues(queues)}" for addr, queues in side.by_server), "bad")


class Readers(TopicView):
    """The consumer groups that read the topic."""

    name = "groups"
    empty = "no group reads it, as far as its brokers have told"
    columns = (Column("group", "CONSUMER GROUP", 30, lambda g: g, lambda g: Cell(g, "strong"), grows=True),)

    def items(self, model: Model) -> Sequence[str]:
        poll = self.poll(model)
        return list(poll.groups or ()) if poll is not None else []

    def about(self, item: str) -> About:
        return About(topic=self.topic, group=item)

    def enter(self, item: str) -> View:
        from nsadmin.tui.views.group import GroupQueues

        return GroupQueues(item)


class TopicHistory(TopicView):
    """The detected changes and the journal events that concern the topic."""

    name = "history"
    empty = "nothing was noticed since this screen was opened"

    columns = events.COLUMNS

    def silence(self, model: Model) -> Silence | None:
        """None: past events do not become old when servers stop answering."""
        return None

    def nothing(self, model: Model) -> str:
        return self.empty

    def items(self, model: Model) -> Sequence[object]:
        return events.concerning(model, self.topic)


class Drawn(TopicView):
    """A diagram of the topic's name servers, brokers and consumer groups."""

    name = "drawn"
    is_drawing = True

    def draw(self, model: Model, width: int, height: int) -> list[Line]:
        poll = self.poll(model)
        if poll is None:
            return [[Cell(model.awaited(" its route is"), "dim")]]
        found = sides(model, poll)
        lines: list[Line] = [[], [Cell(f"  {self.topic}", "accent"), Cell("  is known to", "dim")]]
        lines += _tree_of_servers(model, poll)
        lines += [[], [Cell("  and lives on", "dim")]]
        lines += _tree_of_brokers(model, found)
        groups = list(poll.groups or ())
        if groups:
            lines += [[], [Cell("  is read by", "dim")]]
            lines += [
                [Cell("   └─ " if group == groups[-1] else "   ├─ ", "dim"), Cell(group, "strong")]
                for group in groups
            ]
        return clipped(lines, height)


def _tree_of_servers(model: Model, poll: TopicPolled) -> list[Line]:
    addrs = [*poll.routes, *poll.errors]
    lines: list[Line] = []
    for addr in addrs:
        stem = Cell("   └─ " if addr == addrs[-1] else "   ├─ ", "dim")
        if addr in poll.errors:
            lines.append([stem, Cell("✕ ", "bad"), Cell(addr), Cell(f"  {poll.errors[addr]}", "bad")])
            continue
        route = poll.routes[addr]
        known = Cell("● ", "good") if route else Cell("○ ", "bad")
        said = (
            f"  {len(route)} brokers, {sum(each.write for each in route.values())} queues"
            if route
            else "  absent"
        )
        lines.append([stem, known, Cell(addr), Cell(said, "dim" if route else "bad")])
    return lines


def _tree_of_brokers(model: Model, found: list[Side]) -> list[Line]:
    lines: list[Line] = []
    for side in found:
        is_last = side is found[-1]
        perm = _queues(side.first)
        lines.append(
            [
                Cell("   └─ " if is_last else "   ├─ ", "dim"),
                Cell(f"{side.broker_name:<20}", "strong"),
                Cell(f" {perm:<12}", _perm(side).tone),
                Cell(f" {units.rate(side.rate)}/s", "accent"),
                Cell("" if side.writable else "  no master", "bad"),
                Cell("  ≠ name servers differ" if side.differs else "", "bad"),
            ]
        )
        members = list(model.siblings(side.broker_name))
        for broker in members:
            state = states.of_broker(broker)
            stem = ("      " if is_last else "   │  ") + ("└─ " if broker is members[-1] else "├─ ")
            role = "master" if broker.place[1] == 0 else f"slave {broker.place[1]}"
            lines.append(
                [
                    Cell(stem, "dim"),
                    Cell(f"{state.sign} ", state.tone),
                    Cell(f"{role:<9}"),
                    Cell(f"{broker.place[2]:<22}", "dim"),
                    Cell(state.word, state.tone),
                ]
            )
    return lines
