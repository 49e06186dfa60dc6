"""The tabs of one broker process: figures, settings, topics, producers and history. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar, NamedTuple

from namesrv_core.protocol.codes import perm_text
from nsadmin.operations.config_diff import Defaults, KnownDefaults, is_own
from nsadmin.tui import units
from nsadmin.tui.model import Broker, Known, Model, Silence
from nsadmin.tui.questions import Question
from nsadmin.tui.views import events, states
from nsadmin.tui.views.figures import Figure, figures
from nsadmin.tui.views.table import Cell, Column, Sort
from nsadmin.tui.views.view import About, Line, View

_MOST_PEERS = 8


class BrokerView(View):
    """The base class of all tabs of a broker."""

    def __init__(self, name: str, broker_id: int, addr: str, cluster: str) -> None:
        self.broker_name = name
        self.broker_id = broker_id
        self.addr = addr
        self.cluster = cluster

    @property
    def title(self) -> str:
        return f"{self.broker_name} {'master' if self.broker_id == 0 else f'slave {self.broker_id}'}"

    def tabs(self) -> Sequence[View]:
        place = (self.broker_name, self.broker_id, self.addr, self.cluster)
        return [tab(*place) for tab in (Figures, Config, BrokerTopics, ProducersOf, History)]

    def about(self, item: Any) -> About:
        return About(broker_name=self.broker_name, broker_addr=self.addr, cluster=self.cluster)

    def broker(self, model: Model) -> Broker | None:
        return model.brokers.get((self.broker_name, self.broker_id, self.addr))

    def headline(self, model: Model) -> Line:
        broker = self.broker(model)
        if broker is None:
            return [Cell(f"{self.addr} is not there any more", "bad")]
        state = states.of_broker(broker)
        shown = [
            Cell(f"{state.sign} {state.word}", state.tone),
            Cell(f"  {self.cluster}  {self.addr}", "dim"),
        ]
        if broker.error is not None:
            since = units.age(model.now - (broker.since or model.now))
            shown += [Cell(f"  {broker.error}", "bad"), Cell(f"  these figures are {since} old", "warn")]
        return shown


class Figures(BrokerView):
    """All runtime figures that the broker reports."""

    name = "figures"
    empty = "it has told nothing yet"
    columns = (
        Column("group", "", 9, lambda f: f.group, lambda f: Cell(f.lead, "accent"), rank=1),
        Column("key", "FIGURE", 38, lambda f: f.key.lower(), lambda f: Cell(f.key)),
        Column(
            "value",
            "VALUE",
            30,
            lambda f: f.value,
            lambda f: Cell(f.value, "strong"),
            flashes=False,
            grows=True,
            help="with its unit; – where there is none yet",
        ),
        Column("note", "", 32, lambda f: f.note, lambda f: Cell(f.note, "dim"), rank=2),
    )

    def items(self, model: Model) -> Sequence[Figure]:
        broker = self.broker(model)
        table = broker.last.table if broker is not None and broker.last is not None else None
        return figures(table, model.now) if table else []

    def key(self, item: Figure) -> str:
        return item.key


class Setting(NamedTuple):
    """A setting, the default of the broker's release, and the peers that have another value."""

    key: str
    value: str
    default: str | None
    peers: tuple[str, ...]

    @property
    def is_own(self) -> bool:
        return self.default is not None and self.default != self.value


class AskedFor(BrokerView):
    """A tab whose detail query runs while the tab is open.

    `awaited_phrase` names the missing data before the first answer, such as "its topics are".
    """

    awaited: ClassVar[str]

    def known(self, model: Model) -> Known[Any] | None:
        """The last answer to the query of this tab."""
        raise NotImplementedError

    def silence(self, model: Model) -> Silence | None:
        known = self.known(model)
        return None if known is None else known.silence

    def nothing(self, model: Model) -> str:
        return model.awaited(self.awaited) if self.known(model) is None else super().nothing(model)


class Config(AskedFor):
    """The broker's current settings. Settings that differ come first."""

    name = "config"
    awaited = "its settings are"
    empty = "it has told none"
    sort = Sort("differs")
    columns = (
        Column("key", "SETTING", 40, lambda s: s.key.lower(), lambda s: Cell(s.key)),
        Column(
            "value",
            "VALUE",
            22,
            lambda s: s.value,
            lambda s: Cell(s.value, "strong" if s.is_own else ""),
            grows=True,
            flashes=True,
        ),
        Column(
            "differs",
            "",
            4,
            lambda s: (not s.peers, not s.is_own),
            lambda s: _marks(s),
            help="≠ where peers have it otherwise, * where it is not the default",
        ),
        Column(
            "default",
            "DEFAULT",
            16,
            lambda s: s.default,
            lambda s: Cell(s.default if s.is_own and s.default else "", "dim"),
            rank=1,
            help="of its release, where it is another one",
        ),
        Column(
            "peers",
            "OTHERWISE ON",
            26,
            lambda s: s.peers,
            lambda s: Cell(", ".join(s.peers), "warn"),
            rank=2,
            help="brokers of the cluster with the same role that have another value",
        ),
    )

    def questions(self, model: Model, visible: Sequence[object], current: object | None) -> list[Question]:
        return [Question("config", addr) for addr in [self.addr, *self._peers(model)]]

    def known(self, model: Model) -> Known[Any] | None:
        return model.configs.get(self.addr)

    def _peers(self, model: Model) -> list[str]:
        """The brokers of the cluster with the same role. Masters and slaves differ on purpose."""
        same = [
            broker.place[2]
            for broker in model.brokers.values()
            if broker.cluster == self.cluster
            and (broker.place[1] == 0) == (self.broker_id == 0)
            and broker.place[2] != self.addr
            and broker.is_fresh
        ]
        return sorted(same)[:_MOST_PEERS]

    def items(self, model: Model) -> Sequence[Setting]:
        own = _config_of(model, self.addr)
        if own is None:
            return []
        broker = self.broker(model)
        known = _defaults(broker.text("brokerVersionDesc") if broker is not None else None)
        names = {place[2]: f"{place[0]}:{place[1]}" for place in model.brokers}
        peers = {
            addr: config for addr in self._peers(model) if (config := _config_of(model, addr)) is not None
        }
        return [
            Setting(
                key,
                value,
                None if is_own(key) else known.get(key),
                ()
                if is_own(key)
                else tuple(
                    names.get(addr, addr) for addr, table in peers.items() if table.get(key, value) != value
                ),
            )
            for key, value in own.items()
        ]

    def key(self, item: Setting) -> str:
        return item.key

    def about(self, item: Setting) -> About:
        return super().about(item)._replace(key=item.key, value=item.value)


def _marks(setting: Setting) -> Cell:
    return Cell(
        ("≠" if setting.peers else " ") + ("*" if setting.is_own else ""), "warn" if setting.peers else "info"
    )


def _config_of(model: Model, addr: str) -> dict[str, str] | None:
    known = model.configs.get(addr)
    if known is None or known.last is None or known.last.config is None:
        return None
    return dict(known.last.config)


@cache
def _defaults(version: str | None) -> Defaults:
    """The default settings of a broker release, or none for an unknown release."""
    release = (version or "").removeprefix("V").replace("_", ".").lower()
    return KnownDefaults().of("broker", release) if release else {}


class OwnTopic(NamedTuple):
    """A topic in the broker's own configuration."""

    name: str
    read: int
    write: int
    perm: int


class BrokerTopics(AskedFor):
    """The topics in the broker's own configuration."""

    name = "topics"
    awaited = "its topics are"
    empty = "it has none"
    columns = (
        Column("topic", "TOPIC", 30, lambda t: t.name, lambda t: Cell(t.name, "strong"), grows=True),
        Column(
            "perm",
            "PERM",
            5,
            lambda t: t.perm,
            lambda t: Cell(perm_text(t.perm), "" if t.perm & 2 else "warn"),
            flashes=True,
            help="r read, w write, i inherit",
        ),
        Column(
            "write",
            "WRITE",
            6,
            lambda t: t.write,
            lambda t: Cell(str(t.write)),
            right=True,
            flashes=True,
            help="queues that are written",
        ),
        Column(
            "read",
            "READ",
            6,
            lambda t: t.read,
            lambda t: Cell(str(t.read)),
            right=True,
            flashes=True,
            help="queues that are read",
        ),
    )

    def questions(self, model: Model, visible: Sequence[object], current: object | None) -> list[Question]:
        return [Question("brokerTopics", self.addr)]

    def known(self, model: Model) -> Known[Any] | None:
        return model.broker_topics.get(self.addr)

    def items(self, model: Model) -> Sequence[OwnTopic]:
        known = self.known(model)
        topics = known.last.topics if known is not None and known.last is not None else None
        return [OwnTopic(name, each.read, each.write, each.perm) for name, each in (topics or {}).items()]

    def key(self, item: OwnTopic) -> str:
        return item.name

    def about(self, item: OwnTopic) -> About:
        return super().about(item)._replace(topic=item.name)

    def enter(self, item: OwnTopic) -> View | None:
        from nsadmin.tui.views.topic import Route

        return Route(item.name)


class ProducersOf(AskedFor):
    """The producers that are connected to the broker."""

    name = "producers"
    awaited = "its producers are"
    empty = "nobody is connected"
    columns = (
        Column("group", "PRODUCER GROUP", 26, lambda p: p[0], lambda p: Cell(p[0], "strong"), grows=True),
        Column("client", "CLIENT", 34, lambda p: p[1].client_id, lambda p: Cell(p[1].client_id)),
        Column("addr", "ADDRESS", 21, lambda p: p[1].addr, lambda p: Cell(p[1].addr, "dim"), rank=2),
        Column(
            "language", "LANGUAGE", 8, lambda p: p[1].language, lambda p: Cell(p[1].language, "dim"), rank=1
        ),
        Column("version", "VERSION", 8, lambda p: p[1].version, lambda p: Cell(p[1].version, "dim"), rank=1),
    )

    def questions(self, model: Model, visible: Sequence[object], current: object | None) -> list[Question]:
        return [Question("connections", self.addr)]

    def known(self, model: Model) -> Known[Any] | None:
        return model.connections.get(self.addr)

    def items(self, model: Model) -> Sequence[object]:
        known = self.known(model)
        producers = known.last.producers if known is not None and known.last is not None else None
        return [(group, member) for group, members in (producers or {}).items() for member in members]

    def key(self, item: object) -> str:
        assert isinstance(item, tuple)
        return f"{item[0]} {item[1].client_id} {item[1].addr}"


class History(BrokerView):
    """The detected changes and the journal events that concern the broker."""

    name = "history"
    empty = "nothing was noticed since this screen was opened"

    columns = events.COLUMNS

    def items(self, model: Model) -> Sequence[object]:
        return events.concerning(model, self.broker_name, self.addr)
