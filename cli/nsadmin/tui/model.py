"""The model of the observed cluster: the last answer of each server, trends, and detected changes.

Rule: it changes only by polls. It reads no clock and asks no server. It keeps the last answer of a silent
server together with the time since when the server is silent.
"""

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from nsadmin.tui import noticing
from nsadmin.tui.noticing import Notice
from nsadmin.tui.polls import (
    AnyPoll,
    BrokerPolled,
    BrokerTopicsPolled,
    ConfigPolled,
    ConnectionsPolled,
    DivergencePolled,
    DrainsPolled,
    EventSeen,
    GroupPolled,
    GroupsPolled,
    NameServerPolled,
    TopicPolled,
)

P = TypeVar("P")
R = TypeVar("R")
Place = tuple[str, int, str]
"""The identity of a broker process: broker name, broker id, address."""

_HOUR_OF_POINTS = 720
_SPARKS = 60
_NOTICES = 5_000
_TOPICS = 2_000


class Silence(NamedTuple):
    """Why data is missing or old, and since when. `since_ms` is None before the first answer."""

    why: str
    since: int | None = None


class Known(Generic[P]):
    """The last answer to one kind of poll, and its error. `silent_since_ms` is None while it is answered."""

    __slots__ = ("error", "kind", "last", "since")

    def __init__(self) -> None:
        self.last: P | None = None
        self.error: str | None = None
        self.kind: str | None = None
        self.since: int | None = None

    def learn(self, poll: P) -> None:
        self.last, self.error, self.kind, self.since = poll, None, None, None

    def fail(self, at: int, error: str, kind: str | None = None) -> None:
        self.error, self.kind = error, kind
        if self.since is None:
            self.since = at

    @property
    def is_fresh(self) -> bool:
        return self.last is not None and self.error is None

    @property
    def silence(self) -> Silence | None:
        return None if self.error is None else Silence(self.error, self.since)


class NameServer(Known[NameServerPolled]):
    """A name server. Fields that a poll omits as unchanged keep the values of earlier polls."""

    __slots__ = ("addr", "kv", "latencies", "settings", "told_topics", "topics", "untold")

    def __init__(self, addr: str) -> None:
        super().__init__()
        self.addr = addr
        self.told_topics: Sequence[str] = ()
        self.topics: frozenset[str] = frozenset()
        self.settings: Mapping[str, str] = {}
        self.kv: Mapping[str, Mapping[str, str | None]] = {}
        self.untold: Mapping[str, str] = {}
        self.latencies: deque[float | None] = deque(maxlen=_SPARKS)

    def hear(self, poll: NameServerPolled) -> None:
        self.latencies.append(None if poll.error is not None else poll.millis)
        if poll.error is not None:
            self.fail(poll.at, poll.error)
            return
        self.learn(poll)
        self.untold = poll.untold
        if poll.topics is not None and poll.topics != self.told_topics:
            # Keep the same object while nothing changes, so that `compute_once` finds its cached results.
            self.told_topics, self.topics = poll.topics, frozenset(poll.topics)
        if poll.settings is not None:
            self.settings = poll.settings
        if poll.kv is not None:
            self.kv = poll.kv


class Broker(Known[BrokerPolled]):
    """A broker process and the name servers that list it.

    `gone_since_ms` is the time since when no name server lists it. `heartbeat_silences` has for each name
    server: the time of the last heartbeat, the expiry time in ms, and the time of the poll.
    """

    __slots__ = ("_numbers", "cluster", "gone", "ins", "listed_by", "millis", "outs", "place", "silences")

    def __init__(self, cluster: str, place: Place) -> None:
        super().__init__()
        self.cluster = cluster
        self.place = place
        self.listed_by: set[str] = set()
        self.gone: int | None = None
        self.millis: float | None = None
        self.silences: dict[str, tuple[int, int, int]] = {}
        self.ins: deque[float | None] = deque(maxlen=_SPARKS)
        self.outs: deque[float | None] = deque(maxlen=_SPARKS)
        self._numbers: dict[tuple[str, ...], float | None] = {}

    def hear(self, poll: BrokerPolled) -> None:
        self.millis = poll.millis
        self._numbers = {}
        if poll.table is None:
            self.fail(poll.at, poll.error or "", poll.kind)
        else:
            self.learn(poll)
        self.ins.append(self.number("putTps") if self.is_fresh else None)
        self.outs.append(self.number("getTransferredTps", "getTransferedTps") if self.is_fresh else None)

    def number(self, *keys: str) -> float | None:
        """The first number of the first of these figures that the broker reports."""
        # Cache the number: each redraw reads it, and only a poll changes it.
        if keys not in self._numbers:
            self._numbers[keys] = self._read(keys)
        return self._numbers[keys]

    def _read(self, keys: Sequence[str]) -> float | None:
        for key in keys:
            words = (self.text(key) or "").split()
            if words:
                try:
                    return float(words[0])
                except ValueError:
                    return None
        return None

    def text(self, key: str) -> str | None:
        return None if self.last is None or self.last.table is None else self.last.table.get(key)


class Trend(NamedTuple):
    """A figure over time: times (ms) and values. Arrays take 16 bytes per point; each group has a trend."""

    times: "array[int]"
    values: "array[float]"

    @classmethod
    def empty(cls) -> "Trend":
        return cls(array("q"), array("d"))

    def add(self, at: int, value: float) -> None:
        self.times.append(at)
        self.values.append(value)
        del self.times[:-_HOUR_OF_POINTS], self.values[:-_HOUR_OF_POINTS]


class Model:
    """Everything that screens show. Only `apply_poll` changes it.

    If `is_replay` is set, nsadmin cannot ask a server for data that the recording lacks.
    """

    def __init__(self, addrs: Iterable[str] = (), *, is_played: bool = False) -> None:
        self.is_played = is_played
        self.servers: dict[str, NameServer] = {addr: NameServer(addr) for addr in addrs}
        self.brokers: dict[Place, Broker] = {}
        self.groups: dict[str, Known[GroupPolled]] = {}
        self.topics: dict[str, TopicPolled] = {}
        self.configs: dict[str, Known[ConfigPolled]] = {}
        self.connections: dict[str, Known[ConnectionsPolled]] = {}
        self.broker_topics: dict[str, Known[BrokerTopicsPolled]] = {}
        self.divergence: Known[DivergencePolled] = Known()
        self.drains: DrainsPolled | None = None
        self.group_names: Known[GroupsPolled] = Known()
        self.notices: deque[Notice] = deque(maxlen=_NOTICES)
        self.puts: dict[str, Trend] = {}
        self.lags: dict[str, Trend] = {}
        self.now = 0
        self.polls = 0
        self._by_addr: dict[str, list[Broker]] = {}
        self._by_name: dict[str, list[Broker]] = {}
        self._put_at = 0
        self._made: dict[str, tuple[tuple[object, ...], Any]] = {}

    def apply(self, poll: AnyPoll) -> None:
        """Update the model with a poll."""
        self.now = max(self.now, poll.at)
        self.polls += 1
        _LEARN[type(poll)](self, poll)

    def _name_server(self, poll: NameServerPolled) -> None:
        server = self.servers.setdefault(poll.addr, NameServer(poll.addr))
        self.notices.extend(noticing.of_name_server(server, poll))
        server.hear(poll)
        if poll.error is None:
            self._place(server, poll)

    def _place(self, server: NameServer, poll: NameServerPolled) -> None:
        """Add the brokers that this name server lists. A broker that no name server lists is gone."""
        listed: set[Place] = set()
        for name, group in poll.groups.items():
            for broker_id, addr in group.broker_addrs.items():
                place = (name, broker_id, addr)
                listed.add(place)
                broker = self._broker(group.cluster_name, place)
                broker.listed_by.add(server.addr)
                if poll.silences is not None and addr in poll.silences:
                    silent, limit = poll.silences[addr]
                    broker.silences[server.addr] = (poll.at - silent, limit, poll.at)
        for place, broker in self.brokers.items():
            if place not in listed:
                broker.listed_by.discard(server.addr)
            self._mark_gone(broker, poll.at)

    def _broker(self, cluster: str, place: Place) -> Broker:
        broker = self.brokers.get(place)
        if broker is None:
            broker = self.brokers[place] = Broker(cluster, place)
            self._replaced(place)
            self._by_addr.setdefault(place[2], []).append(broker)
            self._by_name.setdefault(place[0], []).append(broker)
        broker.cluster = cluster
        return broker

    def _replaced(self, place: Place) -> None:
        """Remove gone brokers with the same name and id: the broker came back at another address."""
        for other in list(self._by_name.get(place[0], ())):
            if other.place[1] == place[1] and other.gone is not None:
                del self.brokers[other.place]
                self._by_addr[other.place[2]].remove(other)
                self._by_name[place[0]].remove(other)

    def _mark_gone(self, broker: Broker, at: int) -> None:
        if broker.listed_by:
            if broker.gone is not None:
                self.notices.append(noticing.back(broker, at))
            broker.gone = None
        elif broker.gone is None:
            broker.gone = at
            self.notices.append(noticing.gone(broker, at))

    def _told(self, poll: BrokerPolled) -> None:
        for broker in self._by_addr.get(poll.addr, ()):
            self.notices.extend(noticing.of_broker(broker, poll))
            broker.hear(poll)
        # Add a point every 5 s at most: broker polls arrive all the time.
        if poll.at - self._put_at >= 5_000:
            self._put_at = poll.at
            for cluster, total in self.rates().items():
                self.puts.setdefault(cluster, Trend.empty()).add(poll.at, total)

    def rates(self) -> dict[str, float]:
        """Messages put per second in each cluster, summed over the masters that answer."""
        totals: dict[str, float] = {}
        for broker in self.brokers.values():
            if broker.place[1] == 0 and broker.gone is None and broker.is_fresh:
                rate = broker.number("putTps")
                if rate is not None:
                    totals[broker.cluster] = totals.get(broker.cluster, 0.0) + rate
        return totals

    def _group(self, poll: GroupPolled) -> None:
        known = self.groups.setdefault(poll.group, Known())
        if poll.error is not None:
            known.fail(poll.at, poll.error)
            return
        known.learn(poll)
        total = sum(lag.diff or 0 for lag in poll.lags)
        self.lags.setdefault(poll.group, Trend.empty()).add(poll.at, total)

    def _group_names(self, poll: GroupsPolled) -> None:
        if poll.errors and not poll.names:
            # No broker answered, so an empty list does not mean that there are no groups.
            self.group_names.fail(poll.at, next(iter(poll.errors.values())))
        else:
            self.group_names.learn(poll)

    def _topic(self, poll: TopicPolled) -> None:
        before = self.topics.get(poll.topic)
        if before is not None and poll.errors and not poll.routes:
            # No name server answers: keep the earlier poll.
            return
        if before is not None and poll.put_tps is None:
            poll = _with(poll, put_tps=before.put_tps, groups=poll.groups or before.groups)
        # Keep only the latest topics: an operator may scroll through twenty thousand of them.
        self.topics.pop(poll.topic, None)
        self.topics[poll.topic] = poll
        while len(self.topics) > _TOPICS:
            del self.topics[next(iter(self.topics))]

    def _config(self, poll: ConfigPolled) -> None:
        known = self.configs.setdefault(poll.addr, Known())
        known.learn(poll) if poll.error is None else known.fail(poll.at, poll.error)

    def _connections(self, poll: ConnectionsPolled) -> None:
        known = self.connections.setdefault(poll.addr, Known())
        known.learn(poll) if poll.error is None else known.fail(poll.at, poll.error)

    def _broker_topics(self, poll: BrokerTopicsPolled) -> None:
        known = self.broker_topics.setdefault(poll.addr, Known())
        known.learn(poll) if poll.error is None else known.fail(poll.at, poll.error)

    def _divergence(self, poll: DivergencePolled) -> None:
        known = self.divergence
        known.learn(poll) if poll.error is None else known.fail(poll.at, poll.error)

    def _drains(self, poll: DrainsPolled) -> None:
        self.drains = poll

    def _event(self, poll: EventSeen) -> None:
        self.notices.append(Notice(poll.at, poll.server, poll.kind, poll.said, tuple(poll.names), True))

    def fresh(self) -> list[NameServer]:
        """The name servers that answer."""
        return [server for server in self.servers.values() if server.is_fresh]

    def silence(self) -> Silence | None:
        """The silence of all name servers, or None while one of them answers."""
        if not self.servers or self.fresh():
            return None
        since = [server.since for server in self.servers.values() if server.since is not None]
        if not since:
            return Silence("name servers are being asked")
        return Silence("no name server answers", max(since))

    def awaited(self, what: str) -> str:
        """The text for data that is not there yet. The phrase ends in a verb: "its route is"."""
        return f"{what} not recorded" if self.is_played else f"{what} being asked for"

    def topic_names(self) -> Sequence[str]:
        """The sorted names of all topics in the last answers of the name servers."""
        listed = tuple(server.topics for server in self.servers.values())
        return self.once("topics", listed, lambda: sorted(frozenset().union(*listed)))

    def once(self, what: str, made_of: tuple[object, ...], make: Callable[[], R]) -> R:
        """Cache a result by name, and compute it again only if its dependencies have changed.

        `dependencies` are compared with ==, which costs nothing for identical objects of any size.
        """
        kept = self._made.get(what)
        if kept is None or kept[0] != made_of:
            kept = self._made[what] = (made_of, make())
        found: R = kept[1]
        return found

    def siblings(self, name: str) -> Iterator[Broker]:
        """The processes of a broker group, ordered by broker id."""
        return iter(sorted(self._by_name.get(name, ()), key=lambda broker: broker.place))


def _with(poll: TopicPolled, **changes: Any) -> TopicPolled:
    import msgspec

    return msgspec.structs.replace(poll, **changes)


_LEARN: dict[type, Callable[[Model, Any], None]] = {
    NameServerPolled: Model._name_server,
    BrokerPolled: Model._told,
    GroupPolled: Model._group,
    GroupsPolled: Model._group_names,
    TopicPolled: Model._topic,
    ConfigPolled: Model._config,
    BrokerTopicsPolled: Model._broker_topics,
    ConnectionsPolled: Model._connections,
    DivergencePolled: Model._divergence,
    DrainsPolled: Model._drains,
    EventSeen: Model._event,
}
