"""The model of the observed cluster: the last answer of each server, trends, and detected changes.

Rule: it changes only by polls. It reads no clock and asks no server. It keeps the last answer of a silent
server together with the time since when the server is silent.
"""

from array import array
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from math import isnan, nan
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from msgspec import structs

from nsadmin.tui.model import change_detection
from nsadmin.tui.model.change_detection import ChangeNotice
from nsadmin.tui.model.server_states import (
    BrokerProcessKey,
    LatestAnswer,
    ObservedBroker,
    ObservedNameServer,
    Silence,
    is_number,
)
from nsadmin.tui.polling.poll_records import (
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
    MessagesPolled,
    MissingBrokersPolled,
    NameServerPolled,
    ProblemsPolled,
    ReplicasPolled,
    TopicPolled,
    TopicRatesPolled,
)

if TYPE_CHECKING:
    from nsadmin.tui.messages.message_log import MessageLog

R = TypeVar("R")
_MAX_TREND_POINTS = 720
_MAX_NOTICES = 5_000
_MAX_NOTICE_LETTERS = 500
_MAX_GONE_BROKERS = 1_000
_MAX_TOPIC_POLLS = 2_000


class Trend(NamedTuple):
    """A figure over time: times (ms) and values. Arrays take 16 bytes per point; each group has a trend.

    A value is NaN where the figure was unknown.
    """

    times_ms: "array[int]"
    values: "array[float]"

    @classmethod
    def create_empty(cls) -> "Trend":
        return cls(array("q"), array("d"))

    def add_point(self, at_ms: int, value: float | None) -> None:
        self.times_ms.append(at_ms)
        self.values.append(value if is_number(value) else nan)
        del self.times_ms[:-_MAX_TREND_POINTS], self.values[:-_MAX_TREND_POINTS]

    @property
    def known_values(self) -> list[float]:
        return [value for value in self.values if not isnan(value)]

    @property
    def last_value(self) -> float | None:
        """The present value; None if it is unknown."""
        return self.values[-1] if self.values and not isnan(self.values[-1]) else None


class ClusterModel:
    """Everything that screens show. Only `apply_poll` changes it.

    If `is_replay` is set, nsadmin cannot ask a server for data that the recording lacks.
    """

    def __init__(self, addrs: Iterable[str] = (), *, is_replay: bool = False) -> None:
        self.is_replay = is_replay
        self.name_servers: dict[str, ObservedNameServer] = {addr: ObservedNameServer(addr) for addr in addrs}
        self.brokers: dict[BrokerProcessKey, ObservedBroker] = {}
        self.group_answers: dict[str, LatestAnswer[GroupPolled]] = defaultdict(LatestAnswer)
        self.topic_polls: dict[str, TopicPolled] = {}
        self.topic_rates: dict[str, float] = {}
        self.config_answers: dict[str, LatestAnswer[ConfigPolled]] = defaultdict(LatestAnswer)
        self.connection_answers: dict[str, LatestAnswer[ConnectionsPolled]] = defaultdict(LatestAnswer)
        self.broker_topic_answers: dict[str, LatestAnswer[BrokerTopicsPolled]] = defaultdict(LatestAnswer)
        self.divergence_answer: LatestAnswer[DivergencePolled] = LatestAnswer()
        self.drains_poll = DrainsPolled(0)
        self.group_names_answer: LatestAnswer[GroupsPolled] = LatestAnswer()
        self.problems_poll: ProblemsPolled | None = None
        self.replicas_poll: ReplicasPolled | None = None
        self.problem_starts_ms: dict[tuple[str, str | None], int] = {}
        self.message_log: MessageLog | None = None
        self.notices: deque[ChangeNotice] = deque(maxlen=_MAX_NOTICES)
        self.put_trends: dict[str, Trend] = {}
        self.lag_trends: dict[str, Trend] = {}
        self.now_ms = 0
        self.poll_count = 0
        self._brokers_by_addr: dict[str, list[ObservedBroker]] = {}
        self._brokers_by_name: dict[str, list[ObservedBroker]] = {}
        self._inventory_keys: set[BrokerProcessKey] = set()
        self.inventory_problem = ""
        self._put_point_at_ms = 0
        self._computed_results: dict[str, tuple[tuple[object, ...], Any]] = {}

    def apply_poll(self, poll: AnyPoll) -> None:
        self.now_ms = max(self.now_ms, poll.at)
        self.poll_count += 1
        _POLL_HANDLERS[type(poll)](self, poll)

    def _apply_messages(self, poll: MessagesPolled) -> None:
        """Add messages. The messages of an earlier query are forgotten."""
        from nsadmin.tui.messages.message_log import MessageLog

        if self.message_log is None or self.message_log.run_id != poll.run_id:
            self.message_log = MessageLog(poll.query, poll.run_id)
        self.message_log.apply_poll(poll)

    def _apply_name_server(self, poll: NameServerPolled) -> None:
        server = self.name_servers.setdefault(poll.addr, ObservedNameServer(poll.addr))
        self._add_notices(change_detection.detect_name_server_changes(server, poll))
        former_topics = server.topic_set
        server.apply_poll(poll)
        if server.topic_set is not former_topics:
            listed_topics = frozenset().union(*(other.topic_set for other in self.name_servers.values()))
            self.topic_rates = {t: rate for t, rate in self.topic_rates.items() if t in listed_topics}
        if poll.error is None:
            self._update_listings(server, poll)
        elif server.miss_count == 1:
            for broker in self.brokers.values():
                broker.heartbeat_silences.pop(poll.addr, None)

    def _add_notices(self, notices: Iterable[ChangeNotice]) -> None:
        """Keep notices. Their texts are cut: a setting or a name of a server may have megabytes."""
        for notice in notices:
            if len(notice.description) > _MAX_NOTICE_LETTERS:
                notice = notice._replace(description=notice.description[: _MAX_NOTICE_LETTERS - 1] + "…")
            names = tuple(name for name in notice.object_names if len(name) <= _MAX_NOTICE_LETTERS)
            self.notices.append(notice._replace(object_names=names))

    def _update_listings(self, server: ObservedNameServer, poll: NameServerPolled) -> None:
        """Add the brokers that this name server lists. A broker that no name server lists is gone."""
        processes = change_detection.list_processes(poll)
        for key, cluster_name in processes.items():
            broker = self._find_or_add_broker(cluster_name, key)
            broker.listed_by.add(server.addr)
            if poll.silences is not None and key.addr in poll.silences:
                silent_ms, limit_ms = poll.silences[key.addr]
                broker.heartbeat_silences[server.addr] = (poll.at - silent_ms, limit_ms, poll.at)
        for key, broker in self.brokers.items():
            if key not in processes:
                broker.listed_by.discard(server.addr)
            self._mark_gone(broker, poll.at)
        self._forget_old_brokers()

    def _forget_old_brokers(self) -> None:
        """Drop what left first: any process may register brokers and leave."""
        gone = [broker for broker in self.brokers.values() if broker.gone_since_ms is not None]
        if len(gone) > _MAX_GONE_BROKERS:
            for broker in sorted(gone, key=lambda broker: broker.gone_since_ms or 0)[:-_MAX_GONE_BROKERS]:
                self._remove_broker(broker)
            for cluster in self.put_trends.keys() - {b.cluster_name for b in self.brokers.values()}:
                del self.put_trends[cluster]

    def _find_or_add_broker(self, cluster_name: str, key: BrokerProcessKey) -> ObservedBroker:
        broker = self.brokers.get(key)
        if broker is None:
            broker = self.brokers[key] = ObservedBroker(cluster_name, key)
            self._drop_replaced(key)
            self._brokers_by_addr.setdefault(key.addr, []).append(broker)
            self._brokers_by_name.setdefault(key.name, []).append(broker)
        broker.cluster_name = cluster_name
        return broker

    def _drop_replaced(self, key: BrokerProcessKey) -> None:
        """Remove gone brokers with the same name and id: the broker came back at another address."""
        for other_broker in list(self._brokers_by_name.get(key.name, ())):
            if other_broker.key.id == key.id and other_broker.gone_since_ms is not None:
                self._remove_broker(other_broker)

    def _mark_gone(self, broker: ObservedBroker, now_ms: int) -> None:
        label = f"{broker.key.name} {broker.key.id}"
        notice = partial(change_detection.notice_broker, broker, now_ms)
        if broker.listed_by:
            if broker.gone_since_ms is not None:
                self._add_notices([notice("BrokerBack", f"{label} is listed again")])
            broker.gone_since_ms = None
        elif broker.gone_since_ms is None:
            broker.gone_since_ms = now_ms
            broker.heartbeat_silences.clear()
            self._add_notices([notice("BrokerGone", f"no name server lists {label}")])

    def _apply_broker(self, poll: BrokerPolled) -> None:
        for broker in self._brokers_by_addr.get(poll.addr, ()):
            self._add_notices(change_detection.detect_broker_changes(broker, poll))
            broker.apply_poll(poll)
        # Add a point every 5 s at most: broker polls arrive all the time.
        if poll.at - self._put_point_at_ms >= 5_000:
            self._put_point_at_ms = poll.at
            rate_by_cluster = self.put_rate_by_cluster()
            for cluster in rate_by_cluster.keys() | self.put_trends.keys():
                trend = self.put_trends.setdefault(cluster, Trend.create_empty())
                trend.add_point(poll.at, rate_by_cluster.get(cluster))

    def put_rate_by_cluster(self) -> dict[str, float]:
        """Messages put per second in each cluster, summed over the masters that answer, each process once."""
        masters = [b for b in self.brokers.values() if b.key.id == 0 and b.put_rate is not None]
        rate_by_master = {(b.cluster_name, b.key.addr): b.put_rate or 0.0 for b in masters}
        rate_by_cluster: dict[str, float] = {}
        for (cluster, _), put_rate in rate_by_master.items():
            rate_by_cluster[cluster] = rate_by_cluster.get(cluster, 0.0) + put_rate
        return rate_by_cluster

    def _apply_group(self, poll: GroupPolled) -> None:
        answer = self.group_answers[poll.group]
        if poll.error is not None:
            answer.record_failure(poll.at, poll.error)
            if poll.group in self.lag_trends:
                self.lag_trends[poll.group].add_point(poll.at, None)
            return
        answer.record_answer(poll)
        if poll.lag.messages is None:
            # The last point would look like the lag of now.
            self.lag_trends.pop(poll.group, None)
        else:
            self.lag_trends.setdefault(poll.group, Trend.create_empty()).add_point(poll.at, poll.lag.messages)

    def _apply_group_names(self, poll: GroupsPolled) -> None:
        if poll.errors and not poll.names:
            # No broker answered, so an empty list does not mean that there are no groups.
            self.group_names_answer.record_failure(poll.at, next(iter(poll.errors.values())))
            return
        self.group_names_answer.record_answer(poll)
        silent = {broker.key.name for addr in poll.errors for broker in self._brokers_by_addr.get(addr, ())}
        for group in self.group_answers.keys() - poll.names:
            last_poll = self.group_answers[group].last_poll
            # A broker that did not answer may still have the group.
            if last_poll is None or not any(lag.broker_name in silent for lag in last_poll.lags):
                del self.group_answers[group]
                self.lag_trends.pop(group, None)

    def _apply_topic(self, poll: TopicPolled) -> None:
        previous = self.topic_polls.get(poll.topic)
        if previous is not None and poll.errors and not poll.routes:
            # No name server answers: keep the earlier poll.
            return
        if previous is not None:
            kept_rates = previous.put_tps if poll.put_tps is None else poll.put_tps
            poll = structs.replace(poll, put_tps=kept_rates, groups=poll.groups or previous.groups)
        if poll.put_tps is not None:
            self._set_topic_rate(poll.topic, sum(poll.put_tps.values()) if poll.put_tps else None)
        # Keep only the latest topics: an operator may scroll through twenty thousand of them.
        self.topic_polls.pop(poll.topic, None)
        self.topic_polls[poll.topic] = poll
        while len(self.topic_polls) > _MAX_TOPIC_POLLS:
            del self.topic_polls[next(iter(self.topic_polls))]

    def _apply_topic_rates(self, poll: TopicRatesPolled) -> None:
        for topic, rate in poll.rates.items():
            self._set_topic_rate(topic, rate)

    def _set_topic_rate(self, topic: str, rate: float | None) -> None:
        """Keep a rate, or forget the former one: no broker of the topic reports it any more."""
        if is_number(rate):
            self.topic_rates[topic] = rate
        else:
            self.topic_rates.pop(topic, None)

    def _apply_drains(self, poll: DrainsPolled) -> None:
        self.drains_poll = poll

    def _apply_replicas(self, poll: ReplicasPolled) -> None:
        self.replicas_poll = poll

    def _apply_problems(self, poll: ProblemsPolled) -> None:
        """Keep the problems, and for each check and its subject the time since when it is not OK."""
        self.problems_poll = poll
        keys = [(problem.check, problem.about) for problem in poll.problems]
        self.problem_starts_ms = {key: self.problem_starts_ms.get(key, poll.at) for key in keys}

    def _apply_missing(self, poll: MissingBrokersPolled) -> None:
        """Add the brokers that were gone before the start. Drop those that are no longer expected."""
        self.inventory_problem = poll.problem
        missing = {BrokerProcessKey(r.broker_name, r.broker_id, r.broker_addr): r for r in poll.missing}
        no_longer_expected = set() if poll.problem else self._inventory_keys - missing.keys()
        for key in no_longer_expected:
            if key in self.brokers and self.brokers[key].gone_since_ms is not None:
                self._remove_broker(self.brokers[key])
        added = missing.keys() - self.brokers.keys()
        self._inventory_keys = (self._inventory_keys - no_longer_expected) | added
        for key, record in missing.items():
            if key in added:
                self._find_or_add_broker(record.cluster, key).gone_since_ms = record.last_seen or poll.at

    def _remove_broker(self, broker: ObservedBroker) -> None:
        del self.brokers[broker.key]
        self._brokers_by_addr[broker.key.addr].remove(broker)
        self._brokers_by_name[broker.key.name].remove(broker)

    def _apply_event(self, poll: EventSeen) -> None:
        notice = ChangeNotice(poll.at, poll.server, poll.kind, poll.description, tuple(poll.names), True)
        self._add_notices([notice])

    def list_fresh_servers(self) -> list[ObservedNameServer]:
        """The name servers that answer. A name server with two names is listed once."""
        servers_by_peer: dict[str, ObservedNameServer] = {}
        for server in self.name_servers.values():
            if server.is_fresh:
                servers_by_peer.setdefault(server.peer_addr, server)
        return list(servers_by_peer.values())

    def list_silent_servers(self) -> list[ObservedNameServer]:
        """The name servers that do not answer, or were not asked yet, each once."""
        fresh_peers = {server.peer_addr for server in self.list_fresh_servers()}
        servers_by_peer = {server.peer_addr: server for server in self.name_servers.values()}
        return [server for peer, server in servers_by_peer.items() if peer not in fresh_peers]

    def find_other_name(self, server: ObservedNameServer) -> str | None:
        """The address under which this name server is listed already, or None."""
        others = [other for other in self.list_fresh_servers() if other.peer_addr == server.peer_addr]
        return next((other.addr for other in others if server.is_fresh and other is not server), None)

    def find_silence(self) -> Silence | None:
        """The silence of all name servers, or None while one of them answers."""
        if not self.name_servers or self.list_fresh_servers():
            return None
        starts = [server.silent_since_ms for server in self.name_servers.values()]
        known_starts = [since_ms for since_ms in starts if since_ms is not None]
        if not known_starts:
            return Silence("asking the name servers")
        return Silence("no name server answers", max(known_starts))

    def describe_awaited(self, awaited_phrase: str) -> str:
        """The text for data that is not there yet. The phrase ends in a verb: "its route is"."""
        return f"{awaited_phrase} not in the recording" if self.is_replay else f"{awaited_phrase} loading"

    def list_topic_names(self) -> Sequence[str]:
        """The sorted names of all topics in the last answers of the name servers."""
        topic_sets = tuple(server.topic_set for server in self.name_servers.values())
        return self.compute_once("topics", topic_sets, lambda: sorted(frozenset().union(*topic_sets)))

    def list_partial_topics(self) -> frozenset[str]:
        """The topics that some of the answering name servers lack."""
        topic_sets = tuple(server.topic_set for server in self.list_fresh_servers())
        if not topic_sets:
            return frozenset()
        return self.compute_once(
            "partial topics",
            topic_sets,
            lambda: frozenset().union(*topic_sets) - frozenset.intersection(*topic_sets),
        )

    def compute_once(
        self, result_name: str, dependencies: tuple[object, ...], compute_result: Callable[[], R]
    ) -> R:
        """Cache a result by name, and compute it again only if its dependencies have changed.

        `dependencies` are compared with ==, which costs nothing for identical objects of any size.
        """
        cached = self._computed_results.get(result_name)
        if cached is None or cached[0] != dependencies:
            cached = self._computed_results[result_name] = (dependencies, compute_result())
        result: R = cached[1]
        return result

    def list_replicas(self, broker_name: str) -> Iterator[ObservedBroker]:
        """The processes of a broker group, ordered by broker id."""
        return iter(sorted(self._brokers_by_name.get(broker_name, ()), key=lambda broker: broker.key))


def _record(answer: LatestAnswer[Any], poll: Any) -> None:
    answer.record_answer(poll) if poll.error is None else answer.record_failure(poll.at, poll.error)


_POLL_HANDLERS: dict[type, Callable[[ClusterModel, Any], None]] = {
    NameServerPolled: ClusterModel._apply_name_server,
    BrokerPolled: ClusterModel._apply_broker,
    GroupPolled: ClusterModel._apply_group,
    GroupsPolled: ClusterModel._apply_group_names,
    TopicPolled: ClusterModel._apply_topic,
    TopicRatesPolled: ClusterModel._apply_topic_rates,
    ConfigPolled: lambda model, poll: _record(model.config_answers[poll.addr], poll),
    BrokerTopicsPolled: lambda model, poll: _record(model.broker_topic_answers[poll.addr], poll),
    ConnectionsPolled: lambda model, poll: _record(model.connection_answers[poll.addr], poll),
    DivergencePolled: lambda model, poll: _record(model.divergence_answer, poll),
    DrainsPolled: ClusterModel._apply_drains,
    MessagesPolled: ClusterModel._apply_messages,
    MissingBrokersPolled: ClusterModel._apply_missing,
    ProblemsPolled: ClusterModel._apply_problems,
    ReplicasPolled: ClusterModel._apply_replicas,
    EventSeen: ClusterModel._apply_event,
}
