"""The list of topics of all name servers, with routes and rates of the visible rows. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from namesrv_core.protocol.codes import perm_text
from nsadmin.client.topics import SYSTEM_PREFIX, SYSTEM_TOPICS
from nsadmin.tui import units
from nsadmin.tui.model import Model, Silence
from nsadmin.tui.polls import TopicPolled
from nsadmin.tui.questions import Question
from nsadmin.tui.views.table import Cell, Column
from nsadmin.tui.views.view import About, Line, View

_ASKED = 60


class TopicRow(NamedTuple):
    """A row of the list. nsadmin queries the topic's routes and rates only while the row is visible."""

    name: str
    model: Model

    @property
    def poll(self) -> TopicPolled | None:
        return self.model.topics.get(self.name)

    @property
    def kind(self) -> str:
        return kind_of(self.name)

    @property
    def known_to(self) -> tuple[int, int]:
        """The number of name servers that list the topic, and of those that report their topics."""
        fresh = [server for server in self.model.fresh() if "topics" not in server.untold]
        return sum(1 for server in fresh if self.name in server.topics), len(fresh)

    @property
    def perms(self) -> list[int]:
        """The different permissions of the topic over all brokers and name servers."""
        routes = self.poll.routes.values() if self.poll is not None else ()
        return sorted({queues.perm for route in routes if route for queues in route.values()})

    @property
    def brokers(self) -> int | None:
        if self.poll is None or not self.poll.routes:
            return None
        return len({name for route in self.poll.routes.values() if route for name in route})

    @property
    def queues(self) -> int | None:
        """The number of write queues on the first name server that has a route."""
        routes = [route for route in self.poll.routes.values() if route] if self.poll is not None else []
        return sum(queues.write for queues in routes[0].values()) if routes else None

    @property
    def rate(self) -> float | None:
        rates = self.poll.put_tps if self.poll is not None else None
        return sum(rates.values()) if rates else None

    @property
    def differs(self) -> bool | None:
        """Whether name servers have different routes, or None if fewer than two have one."""
        routes = list(self.poll.routes.values()) if self.poll is not None else []
        if any(route != routes[0] for route in routes):
            return True
        return None if len(routes) < 2 or self.model.silence() is not None else False


def kind_of(name: str) -> str:
    """The kind of a topic, derived from its name: "retry", "dead letters", "system" or ""."""
    if name.startswith("%RETRY%"):
        return "retry"
    if name.startswith("%DLQ%"):
        return "dead letters"
    is_system = name in SYSTEM_TOPICS or name.lower().startswith(SYSTEM_PREFIX)
    return "system" if is_system else ""


def _perms(row: TopicRow) -> Cell:
    perms = row.perms
    if not perms:
        is_told = row.poll is not None and bool(row.poll.routes)
        return Cell("none", "bad") if is_told else Cell(units.NOTHING, "dim")
    text = "/".join(perm_text(perm) for perm in perms)
    return Cell(text, "" if all(perm & 2 for perm in perms) else "warn")


def _known(row: TopicRow) -> Cell:
    known, all_ = row.known_to
    if not all_:
        return Cell(units.NOTHING, "dim")
    return Cell(f"{known}/{all_}", "" if known == all_ else "bad")


def _same(row: TopicRow) -> Cell:
    if row.poll is None:
        return Cell("", "dim")
    if row.differs is None:
        return Cell(units.NOTHING, "dim")
    return Cell("≠", "bad") if row.differs else Cell("equal", "dim")


COLUMNS = (
    Column("topic", "TOPIC", 24, lambda t: t.name, lambda t: Cell(t.name, "strong"), grows=True),
    Column(
        "kind",
        "KIND",
        12,
        lambda t: t.kind,
        lambda t: Cell(t.kind, "dim"),
        rank=3,
        help="system, retry, dead letters; nothing for those of applications",
    ),
    Column(
        "known",
        "NS",
        4,
        lambda t: t.known_to[0],
        _known,
        right=True,
        flashes=True,
        rank=1,
        help="name servers that list it, of those that answer",
    ),
    Column(
        "brokers",
        "BROKERS",
        7,
        lambda t: t.brokers,
        lambda t: Cell(units.count(t.brokers)),
        right=True,
        flashes=True,
        help="broker groups that have it",
    ),
    Column(
        "queues",
        "QUEUES",
        7,
        lambda t: t.queues,
        lambda t: Cell(units.count(t.queues)),
        right=True,
        rank=2,
        flashes=True,
        help="queues that are written, over all brokers",
    ),
    Column(
        "perm",
        "PERM",
        9,
        lambda t: t.perms,
        _perms,
        flashes=True,
        help="each permission that any name server has for any of its brokers",
    ),
    Column(
        "same",
        "ROUTES",
        7,
        lambda t: None if t.differs is None else not t.differs,
        _same,
        rank=4,
        flashes=True,
        help="≠ where name servers tell different routes, – where fewer than two tell any",
    ),
    Column(
        "rate",
        "IN/s",
        7,
        lambda t: t.rate,
        lambda t: Cell(units.rate(t.rate)),
        right=True,
        help="messages put per second, over a minute; asked while it is to be seen",
    ),
)


class Topics(View):
    """All topics. Only the visible ones are queried, because there may be tens of thousands."""

    name = "topics"
    title = "Topics"
    columns = COLUMNS
    empty = "no name server lists a topic"

    def items(self, model: Model) -> Sequence[TopicRow]:
        names = model.topic_names()
        return model.once("topic rows", (names,), lambda: [TopicRow(name, model) for name in names])

    def key(self, item: TopicRow) -> str:
        return item.name

    def text(self, item: TopicRow) -> str:
        return f"{item.name} {item.kind}"

    def about(self, item: TopicRow) -> About:
        return About(topic=item.name)

    def questions(
        self, model: Model, visible: Sequence[TopicRow], current: TopicRow | None
    ) -> list[Question]:
        first = [current] if current is not None else []
        names = dict.fromkeys(row.name for row in [*first, *visible])
        return [Question("topicRow", name) for name in list(names)[:_ASKED]]

    def enter(self, item: TopicRow) -> View:
        from nsadmin.tui.views.topic import Route

        return Route(item.name)

    def silence(self, model: Model) -> Silence | None:
        return model.silence()

    def headline(self, model: Model) -> Line:
        names = model.topic_names()
        if not names and model.silence() is not None:
            return [Cell(f"{units.NOTHING} topics", "strong")]
        users = model.once("topics of users", (names,), lambda: sum(1 for name in names if not kind_of(name)))
        return [Cell(f"{len(names)} topics", "strong"), Cell(f"  {users} of applications", "dim")]
