"""The views of differences between name servers: their number, the objects, and the probable causes. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from nsadmin.tui import units
from nsadmin.tui.agreement import ASPECTS, Difference, differences, pairs
from nsadmin.tui.model import Model, NameServer, Silence
from nsadmin.tui.polls import Found
from nsadmin.tui.questions import Question
from nsadmin.tui.views.servers import Servers
from nsadmin.tui.views.table import Cell, Column, placed
from nsadmin.tui.views.view import Line, View, clipped

_TOO_FEW = "unknown: fewer than two name servers answer"


_WIDEST, _NARROWEST = 22, 8
"""The width of a matrix column: from the word `equal` or the end of an address up to an address with port."""


class Matrix(View):
    """The number of differences between each pair of name servers."""

    name = "matrix"
    title = "Servers"
    is_drawing = True

    def tabs(self) -> Sequence[View]:
        return Servers().tabs()

    def draw(self, model: Model, width: int, height: int) -> list[Line]:
        servers = list(model.servers.values())
        found = pairs([server for server in servers if server.is_fresh])
        room = max(min((width - 2) // (len(servers) + 1), _WIDEST), _NARROWEST)
        most = max((width - room - 2) // room, 1)
        head = [
            Cell(" " * (room + 2)),
            *(Cell(_end(s.addr, room - 1).rjust(room - 1) + " ", "dim") for s in servers[:most]),
        ]
        lines: list[Line] = [[], head]
        if len(servers) > most:
            lines[0] = [Cell(f"  … and {len(servers) - most} more columns: a wider screen has them", "warn")]
        for one in servers:
            cells = [Cell("  " + _end(one.addr, room - 1).ljust(room), "strong" if one.is_fresh else "dim")]
            for other in servers[:most]:
                cells.append(_pair(one, other, found.get((one.addr, other.addr)), room - 1))
            lines.append(cells)
        lines += [[], [Cell("  by what they tell", "dim")]]
        fresh = model.fresh()
        for aspect in ASPECTS:
            number = None
            if len(aspect.able(fresh)) > 1:
                number = sum(1 for _ in differences(fresh, aspect.what))
            lines.append([Cell(f"  {aspect.what:<14}"), _agreement(number)])
        lines += [[], [Cell("  Tab: what differs, and why", "dim")]]
        return clipped(lines, height)


def _end(addr: str, room: int) -> str:
    """An address, cut at its start if it is too long, because addresses differ at their ends."""
    return addr if len(addr) <= room else "…" + addr[1 - room :]


def _agreement(number: int | None) -> Cell:
    if number is None:
        return Cell("unknown", "warn")
    return Cell("equal", "good") if number == 0 else Cell(f"{number} differ", "bad")


def _pair(one: NameServer, other: NameServer, number: int | None, room: int) -> Cell:
    if one is other:
        return Cell(placed("·", room, True) + " ", "dim")
    if number is None:
        return Cell(placed("?", room, True) + " ", "warn")
    return Cell(
        placed("equal" if number == 0 else str(number), room, True) + " ", "good" if number == 0 else "bad"
    )


class Differences(View):
    """The objects on which the last polls of the name servers differ."""

    name = "differences"
    title = "Servers"
    empty = "those that answer tell the same brokers, permissions, names of topics and keys"
    columns = (
        Column("what", "WHAT", 11, lambda d: d.what, lambda d: Cell(d.what, "info")),
        Column("name", "NAME", 24, lambda d: d.name, lambda d: Cell(d.name, "strong"), grows=True),
        Column("sides", "WHAT EACH TELLS", 40, lambda d: _sides(d), lambda d: Cell(_sides(d)), grows=True),
    )

    def tabs(self) -> Sequence[View]:
        return Servers().tabs()

    def nothing(self, model: Model) -> str:
        return self.empty if len(model.fresh()) > 1 else _TOO_FEW

    def items(self, model: Model) -> Sequence[Difference]:
        return list(differences(model.fresh()))

    def key(self, item: Difference) -> str:
        return f"{item.what} {item.name}"

    def enter(self, item: Difference) -> View | None:
        from nsadmin.tui.views.topic import Route

        return Route(item.name) if item.what == "topics" else Sides(item.what, item.name)


def _sides(difference: Difference) -> str:
    """The reported texts, each with the name servers that report it."""
    tellers: dict[str, list[str]] = {}
    for addr, said in difference.sides.items():
        tellers.setdefault(said, []).append(addr)
    return "; ".join(f"{said} on {' '.join(addrs)}" for said, addrs in tellers.items())


class Sides(View):
    """One difference, with the text that each name server reports."""

    name = "sides"
    columns = (
        Column("addr", "NAME SERVER", 22, lambda s: s[0], lambda s: Cell(s[0], "strong")),
        Column(
            "said",
            "TELLS",
            40,
            lambda s: s[1],
            lambda s: Cell(s[1], "bad" if s[1] == "absent" else ""),
            grows=True,
        ),
    )
    empty = "they agree by now"

    def __init__(self, what: str, thing: str) -> None:
        self.what = what
        self.thing = thing

    @property
    def title(self) -> str:
        return self.thing

    def nothing(self, model: Model) -> str:
        return self.empty if len(model.fresh()) > 1 else _TOO_FEW

    def items(self, model: Model) -> Sequence[tuple[str, str]]:
        for each in differences(model.fresh(), self.what):
            if each.name == self.thing:
                return list(each.sides.items())
        return []

    def key(self, item: tuple[str, str]) -> str:
        return item[0]


class Causes(View):
    """The findings of the command `divergence`, which compares all routes and suggests causes."""

    name = "causes"
    title = "Servers"
    empty = "no difference was found; every route of every name server is compared, which takes a while"
    columns = (
        Column("what", "WHAT", 8, lambda f: f.what, lambda f: Cell(f.what, "info")),
        Column(
            "name",
            "NAME",
            20,
            lambda f: f.name,
            lambda f: Cell(f.name if f.count == 1 else f"{f.name} and {f.count - 1} more", "strong"),
            grows=True,
        ),
        Column(
            "state",
            "STATE",
            6,
            lambda f: f.state,
            lambda f: Cell(f.state, "bad" if f.state == "drift" else "warn"),
            help="new: it may go by itself; drift: it would have gone by now",
        ),
        Column("age", "SEEN", 7, lambda f: f.age, lambda f: Cell(units.age(f.age)), right=True),
        Column("cause", "CAUSE", 30, lambda f: f.cause, lambda f: Cell(f.cause), grows=True),
        Column(
            "differs",
            "DIFFERS",
            30,
            lambda f: f.differs,
            lambda f: Cell(f.differs, "dim"),
            rank=1,
            grows=True,
        ),
    )

    def tabs(self) -> Sequence[View]:
        return Servers().tabs()

    def questions(self, model: Model, visible: Sequence[object], current: object | None) -> list[Question]:
        return [Question("divergence")]

    def items(self, model: Model) -> Sequence[Found]:
        return list(model.divergence.last.found) if model.divergence.last is not None else []

    def key(self, item: Found) -> str:
        return f"{item.what} {item.place} {item.name} {item.cause}"

    def silence(self, model: Model) -> Silence | None:
        return model.divergence.silence

    def headline(self, model: Model) -> Line:
        known = model.divergence
        if known.last is None and known.error is not None:
            return [Cell("it is not known whether they differ", "warn")]
        if known.last is None:
            return [Cell(model.awaited("every route of every name server is"), "dim")]
        return [Cell("divergence says: "), Cell(known.last.verdict or "", "strong")]

    def enter(self, item: Found) -> View:
        return Advice(item.what, item.name, item.cause)


class Advice(View):
    """One finding: the value of each name server, the cause, and the advice."""

    name = "advice"
    is_drawing = True

    def __init__(self, what: str, thing: str, cause: str) -> None:
        self.what = what
        self.thing = thing
        self.cause = cause

    @property
    def title(self) -> str:
        return self.thing

    def questions(self, model: Model, visible: Sequence[object], current: object | None) -> list[Question]:
        return [Question("divergence")]

    def draw(self, model: Model, width: int, height: int) -> list[Line]:
        found = model.divergence.last.found if model.divergence.last is not None else ()
        mine = [
            each
            for each in found
            if (each.what, each.name, each.cause) == (self.what, self.thing, self.cause)
        ]
        if not mine:
            return [[], [Cell("  this difference has gone", "good")]]
        lines: list[Line] = [[]]
        for addr, said in mine[0].sides.items():
            lines.append([Cell(f"  {addr:<22}", "strong"), Cell(f" {said}")])
        lines += [[], [Cell("  cause   ", "accent"), Cell(mine[0].cause)]]
        lines += [[Cell("  to do   ", "accent"), Cell(mine[0].advice)]]
        return clipped(lines, height)
