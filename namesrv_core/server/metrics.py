"""Metrics: what a name server counts and knows, as Prometheus reads it; put together when somebody asks.

The number of series is bounded: brokers beyond the first BROKERS and clusters beyond the first CLUSTERS are
counted together, and names that peers make up become no labels.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import product
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import InfoMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from namesrv_core import __version__, events
from namesrv_core.errors import ResponseCode
from namesrv_core.handlers.dispatch import HANDLERS
from namesrv_core.protocol.codes import MASTER_ID, RequestCode
from namesrv_core.server import defences
from namesrv_core.server.counters import Counters, Tally
from namesrv_core.server.families import (
    PREFIX,
    counter,
    gauge,
    label,
    labelled_counter,
    labelled_gauge,
    labelled_histogram,
)
from namesrv_core.state.registration import is_silent
from namesrv_core.state.tables import BrokerGroup, RouteTables

if TYPE_CHECKING:
    from namesrv_core.server.name_server import NameServer

BROKERS = 500
CLUSTERS = 50
OTHERS = "(others)"

_ROLES = ("master", "slave")
_STATES = ("heard", "silent", "unheard")
_REASONS = ("unregistered", "channel closed", "expired")
_OF_TABLES = (
    events.BrokerRegistered, events.BrokerChanged, events.RegistrationRefused, events.AddressConflict,
    events.HeartbeatGap, events.BrokerUnregistered, events.AddressForgotten, events.TopicsChanged,
    events.TopicDeleted, events.MappingsChanged, events.WritePermWiped, events.WritePermAdded,
    events.MinBrokerIdChanged, events.KvPut, events.KvDeleted, events.SettingsChanged,
)  # fmt: skip


class Exported(Collector):
    """All metrics of one server. Nothing is computed before `collect` is called."""

    def __init__(self, server: "NameServer") -> None:
        self._server = server

    def collect(self) -> Iterator[Metric]:
        server, counters = self._server, self._server.counters
        yield InfoMetricFamily(PREFIX + "build", "What runs here.", {"version": __version__})
        yield gauge("ready", "1 when questions about routes are answered.", server.unready() is None)
        yield from _requests(counters)
        yield from self._connections()
        yield from _tables(server.state.tables, server.now())
        kv = server.state.kv.tables
        yield gauge("kv_namespaces", "Namespaces of the KV config.", len(kv))
        yield gauge("kv_entries", "Entries of the KV config.", sum(map(len, kv.values())))
        yield from _brokers(server.state.tables, counters, server.now())
        yield from _happened(counters)
        yield from defences.exported(server)
        if (figures := server.journal_figures()) is not None:
            yield gauge("journal_up", "1 when the journal is written, 0 when that fails.", figures.is_ok)
            yield gauge("journal_waiting_changes", "Changes that wait to be written.", figures.waiting)
            yield gauge("journal_behind_seconds", "Age of the oldest that waits.", figures.behind)
            yield counter("journal_lost_events", "Events that are missing in the journal.", figures.lost)
            yield counter("journal_records", "Records handed over to the journal.", figures.records)
        yield labelled_histogram(
            "event_loop_lag_seconds", "How late a timer was.", {(): counters.loop_lag}, ()
        )

    def _connections(self) -> Iterator[Metric]:
        counters = self._server.counters
        yield gauge("connections", "Open connections.", len(self._server.streams))
        yield counter("connections_opened", "Connections that came about.", counters.opened)
        closed = {("idle",): counters.idle, ("unintelligible",): counters.unintelligible}
        yield counter("sent_away", "Requests answered GO_AWAY before the end.", counters.sent_away)
        met = {(limit,): times for limit, times in self._server.state.met.counts.items()}
        yield labelled_counter("limits_met", "How often a peer was over a limit.", ("limit",), met)
        yield labelled_counter("connections_closed", "Connections closed from here.", ("reason",), closed)


def registry(server: "NameServer") -> CollectorRegistry:
    """What a server exports, and what is known of its process."""
    made = CollectorRegistry()
    made.register(Exported(server))
    ProcessCollector(registry=made)
    return made


def rendered(metrics: CollectorRegistry, accept: str) -> tuple[bytes, str]:
    """All metrics in the form that `accept` asks for, and that form's content type."""
    encoder, kind = choose_encoder(accept)
    return encoder(metrics), kind


def _requests(counters: Counters) -> Iterator[Metric]:
    tallies = {RequestCode(code).name: counters.tallies.get(code) or Tally() for code in HANDLERS}
    tallies["unknown"] = counters.unknown
    answered = {
        (name, _code(code)): float(count)
        for name, tally in tallies.items()
        for code, count in {0: 0, **tally.codes}.items()
    }
    # Those are found before anything is decoded, and not timed.
    answered[RequestCode.GET_ROUTEINFO_BY_TOPIC.name, _code(0)] += counters.quick
    yield labelled_counter("requests", "Requests carried out or refused.", ("request", "code"), answered)
    seconds = {(name,): tally.seconds for name, tally in tallies.items() if tally.codes}
    yield labelled_histogram(
        "request_duration_seconds", "From a decoded request to its answer.", seconds, ("request",)
    )
    yield counter("quick_answers", "Route lookups answered from the bytes of the request.", counters.quick)


def _code(code: int) -> str:
    try:
        return ResponseCode(code).name
    except ValueError:
        return "other"


def _tables(tables: RouteTables, now: int) -> Iterator[Metric]:
    shown = _shown_clusters(tables)
    shown_names = [*shown.values(), OTHERS] if len(tables.clusters) > CLUSTERS else shown.values()
    brokers: Counter[tuple[str, ...]] = Counter(dict.fromkeys(product(shown_names, _ROLES, _STATES), 0))
    masterless: Counter[tuple[str, ...]] = Counter({(name,): 0 for name in shown.values()})
    for group in tables.groups.values():
        cluster = shown.get(group.cluster, OTHERS)
        masterless[(cluster,)] += MASTER_ID not in group.addrs
        for broker_id, addr in group.addrs.items():
            role = "master" if broker_id == MASTER_ID else "slave"
            live = tables.live.get((group.cluster, addr))
            state = "unheard" if live is None else "silent" if is_silent(live, now) else "heard"
            brokers[cluster, role, state] += 1
    yield gauge("clusters", "Clusters.", len(tables.clusters))
    yield labelled_gauge(
        "brokers", "Brokers, by whether they are heard.", ("cluster", "role", "state"), brokers
    )
    yield labelled_gauge(
        "broker_groups_without_master", "Groups that have only slaves.", ("cluster",), masterless
    )
    yield gauge("topics", "Topics that have queues.", len(tables.topics))
    yield gauge("static_topics", "Topics whose queues are mapped.", len(tables.mappings))
    yield counter("route_changes", "How often answers about routes have become others.", tables.generation)


def _shown_clusters(tables: RouteTables) -> dict[str, str]:
    """Those that are labels: the ones with the most broker groups."""
    names = sorted(tables.clusters, key=lambda name: (-len(tables.clusters[name]), name))
    return {name: label(name) for name in names[:CLUSTERS]}


def _brokers(tables: RouteTables, counters: Counters, now: int) -> Iterator[Metric]:
    """Of each broker, for the first BROKERS by name."""
    members = [(group, number, addr) for group in _sorted(tables) for number, addr in group.addrs.items()]
    heard: dict[tuple[str, ...], float] = {}
    timeouts: dict[tuple[str, ...], float] = {}
    sizes: dict[tuple[str, ...], float] = {}
    ages: dict[tuple[str, ...], float] = {}
    for group, broker_id, addr in members[:BROKERS]:
        key = label(group.cluster), label(group.name), str(broker_id)
        live = tables.live.get((group.cluster, addr))
        if live is not None:
            heard[key], timeouts[key] = (now - live.heard_at) / 1000, live.timeout / 1000
        registered = counters.registrations.get((group.cluster, addr))
        if registered is not None:
            sizes[key], ages[key] = registered.size, (now - registered.at) / 1000
    labels = ("cluster", "broker", "id")
    yield labelled_gauge("broker_heard_seconds", "How long ago a broker was heard of.", labels, heard)
    yield labelled_gauge("broker_timeout_seconds", "How long it may be silent.", labels, timeouts)
    yield labelled_gauge("broker_registration_bytes", "Its latest registration, as sent.", labels, sizes)
    yield labelled_gauge("broker_registration_age_seconds", "How long ago that was.", labels, ages)
    yield gauge("brokers_not_shown", "Brokers without series of their own.", max(len(members) - BROKERS, 0))


def _sorted(tables: RouteTables) -> Iterable[BrokerGroup]:
    return sorted(tables.groups.values(), key=lambda group: (group.cluster, group.name))


def _happened(counters: Counters) -> Iterator[Metric]:
    seen = {(kind.__name__,): float(counters.events[kind.__name__]) for kind in _OF_TABLES}
    yield labelled_counter("events", "What changed the tables, as the journal calls it.", ("event",), seen)
    left = {(reason,): float(counters.left[reason]) for reason in _REASONS}
    yield labelled_counter("brokers_left", "Brokers taken out, by why.", ("reason",), left)
    sizes = {(): counters.registration_bytes}
    yield labelled_histogram("registration_bytes", "Bodies of registrations, as sent.", sizes, ())
