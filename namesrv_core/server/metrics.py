"""The Prometheus metrics of a name server, collected when they are scraped.

The number of series is bounded. Brokers beyond MAX_SHOWN_BROKERS and clusters beyond MAX_SHOWN_CLUSTERS are
counted together, and arbitrary names from requests do not become labels.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import product

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from namesrv_core import __version__, events
from namesrv_core.errors import ResponseCode
from namesrv_core.handlers.dispatch import HANDLERS_BY_CODE
from namesrv_core.protocol.codes import MASTER_BROKER_ID, RequestCode
from namesrv_core.server import security_metrics
from namesrv_core.server.counters import RequestTally, ServerCounters
from namesrv_core.server.inspected_server import InspectedServer
from namesrv_core.server.metric_families import (
    METRIC_PREFIX,
    bounded_label,
    build_counter,
    build_gauge,
    build_labelled_counter,
    build_labelled_gauge,
    build_labelled_histogram,
)
from namesrv_core.state.broker_tables import RegisteredGroup
from namesrv_core.state.registration import is_broker_silent
from namesrv_core.state.route_tables import RouteTables

MAX_SHOWN_BROKERS = 500
MAX_SHOWN_CLUSTERS = 50
OTHERS_LABEL = "(others)"

_BROKER_ROLES = ("master", "slave")
_BROKER_STATES = ("heard", "silent", "unheard")
_LEAVE_REASONS = ("unregistered", "channel closed", "expired")
_TABLE_EVENTS = (
    events.BrokerRegistered, events.BrokerChanged, events.RegistrationRefused, events.AddressConflict,
    events.HeartbeatGap, events.BrokerUnregistered, events.AddressForgotten, events.TopicsChanged,
    events.TopicDeleted, events.MappingsChanged, events.WritePermWiped, events.WritePermAdded,
    events.MinBrokerIdChanged, events.KvPut, events.KvDeleted, events.SettingsChanged,
)  # fmt: skip


class ServerMetrics(Collector):
    """All metrics of one server. They are computed only in `collect`."""

    def __init__(self, name_server: InspectedServer) -> None:
        self._name_server = name_server

    def collect(self) -> Iterator[Metric]:
        name_server, counters = self._name_server, self._name_server.counters
        yield InfoMetricFamily(
            METRIC_PREFIX + "build", "Version of the name server.", {"version": __version__}
        )
        yield build_gauge(
            "ready",
            "1 if the name server answers route requests, else 0.",
            name_server.unready_reason() is None,
        )
        yield from _collect_requests(counters)
        yield from self._collect_connections()
        yield from _collect_tables(name_server.state.tables, name_server.now_ms())
        tables = name_server.state.kv_config.tables_by_namespace
        yield build_gauge("kv_namespaces", "Number of namespaces in the KV config.", len(tables))
        yield build_gauge("kv_entries", "Number of entries in the KV config.", sum(map(len, tables.values())))
        yield from _collect_brokers(name_server.state.tables, counters, name_server.now_ms())
        yield from _collect_events(counters)
        yield from security_metrics.export_security_metrics(name_server)
        if (figures := name_server.read_journal_figures()) is not None:
            yield build_gauge("journal_up", "1 if the journal can be written, else 0.", figures.is_ok)
            yield build_gauge(
                "journal_waiting_changes",
                "Changes waiting to be written to the journal.",
                figures.waiting_changes,
            )
            yield build_gauge(
                "journal_behind_seconds", "Age of the oldest waiting change.", figures.behind_seconds
            )
            yield build_counter(
                "journal_lost_events",
                "Events missing from the journal because the queue was full.",
                figures.lost_count,
            )
            yield build_counter("journal_records", "Records queued for the journal.", figures.record_count)
        yield build_labelled_histogram(
            "event_loop_lag_seconds", "Delay of the event loop's timers.", {(): counters.loop_lag}, ()
        )

    def _collect_connections(self) -> Iterator[Metric]:
        counters = self._name_server.counters
        yield build_gauge("connections", "Open connections.", len(self._name_server.open_streams))
        yield build_counter("connections_opened", "Connections accepted.", counters.opened_count)
        counts_by_close_reason = {
            ("idle",): counters.idle_count,
            ("unintelligible",): counters.unintelligible_count,
        }
        yield build_counter(
            "sent_away", "Requests answered with GO_AWAY during shutdown.", counters.go_away_count
        )
        counts_by_limit = {
            (key,): hit_count for key, hit_count in self._name_server.state.limit_hits.hit_counts.items()
        }
        yield build_labelled_counter("limits_met", "Limit violations, by limit.", ("limit",), counts_by_limit)
        yield build_labelled_counter(
            "connections_closed",
            "Connections closed by the name server, by reason.",
            ("reason",),
            counts_by_close_reason,
        )


def build_registry(name_server: InspectedServer) -> CollectorRegistry:
    """Build the registry of a server's metrics and its process's metrics."""
    registry = CollectorRegistry()
    registry.register(ServerMetrics(name_server))
    ProcessCollector(registry=registry)
    return registry


def _collect_requests(counters: ServerCounters) -> Iterator[Metric]:
    tallies_by_request = {
        RequestCode(code).name: counters.tallies_by_code.get(code) or RequestTally()
        for code in HANDLERS_BY_CODE
    }
    tallies_by_request["unknown"] = counters.unknown_tally
    counts_by_answer = {
        (name, _response_label(code)): float(answer_count)
        for name, tally in tallies_by_request.items()
        for code, answer_count in {0: 0, **tally.counts_by_code}.items()
    }
    # Cached answers are found before decoding, so they are not timed.
    counts_by_answer[RequestCode.GET_ROUTEINFO_BY_TOPIC.name, _response_label(0)] += (
        counters.cached_answer_count
    )
    yield build_labelled_counter(
        "requests", "Requests, by request code and response code.", ("request", "code"), counts_by_answer
    )
    histograms_by_request = {
        (name,): tally.duration_seconds for name, tally in tallies_by_request.items() if tally.counts_by_code
    }
    yield build_labelled_histogram(
        "request_duration_seconds",
        "Time from the decoded request to its answer.",
        histograms_by_request,
        ("request",),
    )
    yield build_counter(
        "quick_answers", "Route requests answered from the response cache.", counters.cached_answer_count
    )


def _response_label(response_code: int) -> str:
    try:
        return ResponseCode(response_code).name
    except ValueError:
        return "other"


def _collect_tables(tables: RouteTables, now_ms: int) -> Iterator[Metric]:
    cluster_labels = _label_shown_clusters(tables)
    shown_labels = (
        [*cluster_labels.values(), OTHERS_LABEL]
        if len(tables.broker_names_by_cluster) > MAX_SHOWN_CLUSTERS
        else cluster_labels.values()
    )
    broker_counts: Counter[tuple[str, ...]] = Counter(
        dict.fromkeys(product(shown_labels, _BROKER_ROLES, _BROKER_STATES), 0)
    )
    masterless_counts: Counter[tuple[str, ...]] = Counter({(label,): 0 for label in cluster_labels.values()})
    for group in tables.broker_groups.values():
        cluster_label = cluster_labels.get(group.cluster_name, OTHERS_LABEL)
        masterless_counts[(cluster_label,)] += MASTER_BROKER_ID not in group.broker_addrs
        for broker_id, broker_addr in group.broker_addrs.items():
            broker_role = "master" if broker_id == MASTER_BROKER_ID else "slave"
            live = tables.live_brokers.get((group.cluster_name, broker_addr))
            broker_state = (
                "unheard" if live is None else "silent" if is_broker_silent(live, now_ms) else "heard"
            )
            broker_counts[cluster_label, broker_role, broker_state] += 1
    yield build_gauge("clusters", "Number of clusters.", len(tables.broker_names_by_cluster))
    yield build_labelled_gauge(
        "brokers",
        "Number of brokers, by cluster, role and heartbeat state.",
        ("cluster", "role", "state"),
        broker_counts,
    )
    yield build_labelled_gauge(
        "broker_groups_without_master",
        "Number of broker groups without a master.",
        ("cluster",),
        masterless_counts,
    )
    yield build_gauge("topics", "Number of topics with queues.", len(tables.placements_by_topic))
    yield build_gauge(
        "static_topics", "Number of static topics (topics with queue mappings).", len(tables.queue_mappings)
    )
    yield build_counter("route_changes", "Changes of the route tables.", tables.generation)


def _label_shown_clusters(tables: RouteTables) -> dict[str, str]:
    """The labels of the clusters that have one: those with the most broker groups."""
    cluster_names = sorted(
        tables.broker_names_by_cluster, key=lambda name: (-len(tables.broker_names_by_cluster[name]), name)
    )
    return {name: bounded_label(name) for name in cluster_names[:MAX_SHOWN_CLUSTERS]}


def _collect_brokers(tables: RouteTables, counters: ServerCounters, now_ms: int) -> Iterator[Metric]:
    """Collect the metrics per broker, for the first MAX_SHOWN_BROKERS by name."""
    members = [
        (group, member_id, addr)
        for group in _sort_broker_groups(tables)
        for member_id, addr in group.broker_addrs.items()
    ]
    heard_seconds: dict[tuple[str, ...], float] = {}
    timeout_seconds: dict[tuple[str, ...], float] = {}
    registration_bytes: dict[tuple[str, ...], float] = {}
    ages: dict[tuple[str, ...], float] = {}
    for group, broker_id, broker_addr in members[:MAX_SHOWN_BROKERS]:
        values = (bounded_label(group.cluster_name), bounded_label(group.broker_name), str(broker_id))
        live = tables.live_brokers.get((group.cluster_name, broker_addr))
        if live is not None:
            heard_seconds[values], timeout_seconds[values] = (
                (now_ms - live.heard_at_ms) / 1000,
                live.timeout_ms / 1000,
            )
        latest = counters.latest_registrations.get((group.cluster_name, broker_addr))
        if latest is not None:
            registration_bytes[values], ages[values] = (
                latest.body_bytes,
                (now_ms - latest.received_at_ms) / 1000,
            )
    labels = ("cluster", "broker", "id")
    yield build_labelled_gauge(
        "broker_heard_seconds", "Time since the broker's last heartbeat.", labels, heard_seconds
    )
    yield build_labelled_gauge(
        "broker_timeout_seconds", "Heartbeat timeout of the broker.", labels, timeout_seconds
    )
    yield build_labelled_gauge(
        "broker_registration_bytes",
        "Size of the broker's latest registration, as sent.",
        labels,
        registration_bytes,
    )
    yield build_labelled_gauge(
        "broker_registration_age_seconds", "Time since the broker's latest registration.", labels, ages
    )
    yield build_gauge(
        "brokers_not_shown",
        "Number of brokers without their own series.",
        max(len(members) - MAX_SHOWN_BROKERS, 0),
    )


def _sort_broker_groups(tables: RouteTables) -> Iterable[RegisteredGroup]:
    return sorted(tables.broker_groups.values(), key=lambda group: (group.cluster_name, group.broker_name))


def _collect_events(counters: ServerCounters) -> Iterator[Metric]:
    counts = {(kind.__name__,): float(counters.counts_by_event[kind.__name__]) for kind in _TABLE_EVENTS}
    yield build_labelled_counter(
        "events", "Events that changed the tables, by journal event type.", ("event",), counts
    )
    counts_by_reason = {
        (reason,): float(counters.counts_by_leave_reason[reason]) for reason in _LEAVE_REASONS
    }
    yield build_labelled_counter("brokers_left", "Brokers removed, by reason.", ("reason",), counts_by_reason)
    histograms = {(): counters.registration_sizes}
    yield build_labelled_histogram(
        "registration_bytes", "Sizes of registration bodies, as sent.", histograms, ()
    )
