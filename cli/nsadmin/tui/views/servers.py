"""The list of name servers and the settings of one of them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nsadmin.tui import levels, units
from nsadmin.tui.agreement import differences, verdict
from nsadmin.tui.model import Model, NameServer
from nsadmin.tui.views import states
from nsadmin.tui.views.table import Cell, Column
from nsadmin.tui.views.view import About, Line, View


class ServerRow(NamedTuple):
    """A name server, and the largest number of differences between it and another name server."""

    server: NameServer
    now: int
    differs: int | None

    @property
    def brokers(self) -> int | None:
        poll = self.server.last
        return None if poll is None else sum(len(group.broker_addrs) for group in poll.groups.values())

    @property
    def topics(self) -> int | None:
        return None if self.server.last is None else len(self.server.topics)

    @property
    def keys(self) -> int | None:
        return None if self.server.last is None else sum(len(table) for table in self.server.kv.values())


def _state(row: ServerRow) -> Cell:
    state = states.of_name_server(row.server)
    since = row.server.since
    return Cell(
        f"{state.sign} {state.word}{'' if since is None else ' ' + units.age(row.now - since)}", state.tone
    )


def _old(text: str, row: ServerRow) -> Cell:
    return Cell(text, "" if row.server.is_fresh else "dim")


COLUMNS = (
    Column(
        "addr",
        "NAME SERVER",
        22,
        lambda s: s.server.addr,
        lambda s: Cell(s.server.addr, "strong"),
        grows=True,
    ),
    Column(
        "state",
        "STATE",
        12,
        lambda s: s.server.is_fresh,
        _state,
        flashes=True,
        help="● up, ✕ down and since when",
    ),
    Column(
        "latency",
        "ANSWER",
        8,
        lambda s: s.server.last.millis if s.server.last else None,
        lambda s: Cell(
            units.millis(n := s.server.last.millis if s.server.last else None),
            levels.tone("latency", n) if s.server.is_fresh else "dim",
        ),
        right=True,
        help="how long one request took",
    ),
    Column(
        "latencies",
        "",
        16,
        lambda s: 0,
        lambda s: Cell(units.sparkline(s.server.latencies, 16, 5), "spark"),
        rank=3,
        help="the same over the last looks",
    ),
    Column(
        "brokers",
        "BROKERS",
        8,
        lambda s: s.brokers,
        lambda s: _old(units.count(s.brokers), s),
        right=True,
        flashes=True,
        help="broker processes that it lists",
    ),
    Column(
        "topics",
        "TOPICS",
        8,
        lambda s: s.topics,
        lambda s: _old(units.count(s.topics), s),
        right=True,
        flashes=True,
        help="topics that it lists",
    ),
    Column(
        "keys",
        "KV",
        6,
        lambda s: s.keys,
        lambda s: _old(units.count(s.keys), s),
        right=True,
        flashes=True,
        rank=1,
        help="keys of the KV namespaces that are looked at",
    ),
    Column(
        "differs",
        "DIFFERS",
        8,
        lambda s: s.differs,
        lambda s: Cell(units.count(s.differs), "bad" if s.differs else "good" if s.differs == 0 else "dim"),
        right=True,
        flashes=True,
        help="things that it tells otherwise than any other that answers",
    ),
    Column("error", "", 30, lambda s: s.server.error, lambda s: Cell(s.server.error or "", "bad"), rank=2),
)


class Servers(View):
    """One row for each name server."""

    name = "servers"
    title = "Servers"
    columns = COLUMNS
    empty = "no name server is known"

    def tabs(self) -> Sequence[View]:
        from nsadmin.tui.views.divergence import Causes, Differences, Matrix

        return [Servers(), Matrix(), Differences(), Causes()]

    def items(self, model: Model) -> Sequence[ServerRow]:
        fresh = model.fresh()
        return [
            ServerRow(
                server,
                model.now,
                max(
                    (sum(1 for _ in differences((server, other))) for other in fresh if other is not server),
                    default=None,
                )
                if server.is_fresh
                else None,
            )
            for server in model.servers.values()
        ]

    def key(self, item: ServerRow) -> str:
        return item.server.addr

    def text(self, item: ServerRow) -> str:
        return item.server.addr

    def about(self, item: ServerRow) -> About:
        return About(name_server=item.server.addr)

    def headline(self, model: Model) -> Line:
        found = verdict(model)
        silent = [server.addr for server in model.servers.values() if not server.is_fresh]
        shown = [Cell(f"{len(model.servers)} name servers", "strong")]
        if silent:
            shown.append(Cell(f"  {len(silent)} silent", "bad"))
        words = {"agree": ("  those that answer agree", "good"), "diverge": ("  they diverge: ", "bad")}
        text, tone = words.get(found.word, ("  whether they agree is not known", "warn"))
        more = ", ".join(found.why) if found.word == "diverge" else ""
        return [*shown, Cell(text + more, tone)]

    def enter(self, item: ServerRow) -> View:
        return Settings(item.server.addr)


class Settings(View):
    """The settings of one name server."""

    name = "settings"
    empty = "it has not told its settings"
    columns = (
        Column("key", "SETTING", 40, lambda s: s[0], lambda s: Cell(s[0])),
        Column(
            "value", "VALUE", 30, lambda s: s[1], lambda s: Cell(s[1], "strong"), grows=True, flashes=True
        ),
        Column(
            "others",
            "OTHERWISE ON",
            30,
            lambda s: s[2],
            lambda s: Cell(s[2], "warn"),
            rank=1,
            help="name servers that have another value",
        ),
    )

    def __init__(self, addr: str) -> None:
        self.addr = addr

    @property
    def title(self) -> str:
        return self.addr

    def items(self, model: Model) -> Sequence[tuple[str, str, str]]:
        server = model.servers.get(self.addr)
        if server is None:
            return []
        others = [other for other in model.servers.values() if other is not server and other.settings]
        return [
            (key, value, " ".join(other.addr for other in others if other.settings.get(key) != value))
            for key, value in server.settings.items()
        ]

    def key(self, item: tuple[str, str, str]) -> str:
        return item[0]

    def about(self, item: tuple[str, str, str]) -> About:
        return About(name_server=self.addr, key=item[0], value=item[1])
