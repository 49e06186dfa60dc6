"""The Prometheus metrics of a name server, collected when they are scraped.

The number of series is bounded. Brokers beyond MAX_SHOWN_BROKERS and clusters beyond MAX_SHOWN_CLUSTERS are
counted together, and arbitrary names from requests do not become labels.
"""

import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING, TypeVar

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from namesrv_core import __version__, events
from namesrv_core.errors import ResponseCode
from namesrv_core.handlers.dispatch import HANDLERS_BY_CODE
from namesrv_core.printable_text import escape_unsafe
from namesrv_core.protocol.codes import MASTER_BROKER_ID, RequestCode
from namesrv_core.server.counters import Histogram, RequestTally, ServerCounters
from namesrv_core.server.inspected_server import InspectedServer
from namesrv_core.server.log import LogWriter, log
from namesrv_core.state.registration import is_broker_silent
from namesrv_core.state.route_tables import RouteTables

if TYPE_CHECKING:
    from namesrv_core.server.tls_certificates import TlsCertificates

METRIC_PREFIX = "nsadmin_namesrv_"
MAX_SHOWN_BROKERS = 500
MAX_SHOWN_CLUSTERS = 50
OTHERS_LABEL = "(others)"

_MAX_LABEL_LENGTH = 128
_BROKER_ROLES = ("master", "slave")
_BROKER_STATES = ("heard", "silent", "unheard")
_LEAVE_REASONS = ("unregistered", "channel closed", "expired")
_TABLE_EVENTS = (
    events.BrokerRegistered, events.BrokerChanged, events.RegistrationRefused, events.AddressConflict,
    events.HeartbeatGap, events.BrokerUnregistered, events.AddressForgotten, events.TopicsChanged,
    events.TopicDeleted, events.MappingsChanged, events.WritePermWiped, events.WritePermAdded,
    events.MinBrokerIdChanged, events.KvPut, events.KvDeleted, events.SettingsChanged,
)  # fmt: skip

Labels = TypeVar("Labels", bound=tuple[str, ...])
Values = float | Mapping[str, float] | Mapping[Labels, float]
"""The value of a single series, or the values by the label or by several labels."""


def bounded_label(peer: str) -> str:
    """Make a label of bounded length, without control characters, from a name that a peer chose.

    A changed name gets a checksum suffix, so that two names never become the same series.
    """
    label = escape_unsafe(peer[:_MAX_LABEL_LENGTH].encode("utf-8", "replace").decode())
    label = label[:_MAX_LABEL_LENGTH]
    return label if label == peer else f"{label}#{zlib.crc32(peer.encode('utf-8', 'surrogatepass')):08x}"


def gauge(name: str, help_text: str, values: Values[Labels], *labels: str) -> Metric:
    return _add_series(GaugeMetricFamily(METRIC_PREFIX + name, help_text, labels=labels), values)


def counter(name: str, help_text: str, values: Values[Labels], *labels: str) -> Metric:
    """Build a counter. Pass its name without `_total`."""
    return _add_series(CounterMetricFamily(METRIC_PREFIX + name, help_text, labels=labels), values)


def _add_series(family: GaugeMetricFamily | CounterMetricFamily, values: Values[Labels]) -> Metric:
    for key, value in values.items() if isinstance(values, Mapping) else [((), float(values))]:
        family.add_metric((key,) if isinstance(key, str) else key, value)
    return family


def histogram(name: str, help_text: str, histograms: Mapping[Labels, Histogram], *labels: str) -> Metric:
    """Build a histogram per key. The key of a histogram without labels is ()."""
    family = HistogramMetricFamily(METRIC_PREFIX + name, help_text, labels=labels)
    for key, counts in histograms.items():
        family.add_metric(key, list(_cumulative_buckets(counts)), counts.value_sum)
    return family


def _cumulative_buckets(counts: Histogram) -> Iterator[tuple[str, float]]:
    total = 0
    for bound, count in zip((*counts.upper_bounds, float("inf")), counts.bucket_counts, strict=True):
        total += count
        yield "+Inf" if bound == float("inf") else repr(float(bound)), total


class ServerMetrics(Collector):
    """All metrics of one server. They are computed only in `collect`."""

    def __init__(self, name_server: InspectedServer) -> None:
        self._server = name_server

    def collect(self) -> Iterator[Metric]:
        server, counters, state = self._server, self._server.counters, self._server.state
        yield InfoMetricFamily(
            METRIC_PREFIX + "build", "Version of the name server.", {"version": __version__}
        )
        is_ready = server.unready_reason() is None
        yield gauge("ready", "1 if the name server answers route requests, else 0.", is_ready)
        yield from _collect_requests(counters)
        yield from self._collect_connections()
        yield from _collect_tables(state.tables, server.now_ms())
        kv_tables = state.kv_config.tables_by_namespace
        yield gauge("kv_namespaces", "Number of namespaces in the KV config.", len(kv_tables))
        yield gauge("kv_entries", "Number of entries in the KV config.", sum(map(len, kv_tables.values())))
        yield from _collect_brokers(state.tables, counters, server.now_ms())
        yield from _collect_events(counters)
        yield from collect_security(server)
        if (figures := server.read_journal_figures()) is not None:
            waiting, lost = figures.waiting_changes, figures.lost_count
            yield gauge("journal_up", "1 if the journal can be written, else 0.", figures.is_ok)
            yield gauge("journal_waiting_changes", "Changes waiting to be written to the journal.", waiting)
            yield gauge("journal_behind_seconds", "Age of the oldest waiting change.", figures.behind_seconds)
            yield counter(
                "journal_lost_events", "Events missing from the journal because the queue was full.", lost
            )
            yield counter("journal_records", "Records queued for the journal.", figures.record_count)
        yield histogram(
            "event_loop_lag_seconds", "Delay of the event loop's timers.", {(): counters.loop_lag}
        )

    def _collect_connections(self) -> Iterator[Metric]:
        counters = self._server.counters
        yield gauge("connections", "Open connections.", len(self._server.open_streams))
        yield counter("connections_opened", "Connections accepted.", counters.opened_count)
        yield counter("sent_away", "Requests answered with GO_AWAY during shutdown.", counters.go_away_count)
        hits = self._server.state.limit_hits.hit_counts
        yield counter("limits_met", "Limit violations, by limit.", hits, "limit")
        closed = {"idle": counters.idle_count, "unintelligible": counters.unintelligible_count}
        yield counter(
            "connections_closed", "Connections closed by the name server, by reason.", closed, "reason"
        )


def build_registry(name_server: InspectedServer) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(ServerMetrics(name_server))
    ProcessCollector(registry=registry)
    return registry


def _collect_requests(counters: ServerCounters) -> Iterator[Metric]:
    tallies = {
        RequestCode(c).name: counters.tallies_by_code.get(c) or RequestTally() for c in HANDLERS_BY_CODE
    }
    tallies["unknown"] = counters.unknown_tally
    answers = {
        (name, ResponseCode.name_of(code) or "other"): float(answer_count)
        for name, tally in tallies.items()
        for code, answer_count in {0: 0, **tally.counts_by_code}.items()
    }
    # Cached answers are found before decoding, so they are not timed.
    cached_key = RequestCode.GET_ROUTEINFO_BY_TOPIC.name, ResponseCode.SUCCESS.name
    answers[cached_key] += counters.cached_answer_count
    yield counter("requests", "Requests, by request code and response code.", answers, "request", "code")
    durations = {(name,): tally.duration_seconds for name, tally in tallies.items() if tally.counts_by_code}
    yield histogram(
        "request_duration_seconds", "Time from the decoded request to its answer.", durations, "request"
    )
    cached = counters.cached_answer_count
    yield counter("quick_answers", "Route requests answered from the response cache.", cached)


def _collect_tables(tables: RouteTables, now_ms: int) -> Iterator[Metric]:
    labels = _label_shown_clusters(tables)
    has_others = len(tables.broker_names_by_cluster) > MAX_SHOWN_CLUSTERS
    shown = [*labels.values(), OTHERS_LABEL] if has_others else labels.values()
    brokers: Counter[tuple[str, ...]] = Counter(
        dict.fromkeys(product(shown, _BROKER_ROLES, _BROKER_STATES), 0)
    )
    masterless = Counter(dict.fromkeys(labels.values(), 0))
    for group in tables.broker_groups.values():
        label = labels.get(group.cluster_name, OTHERS_LABEL)
        masterless[label] += MASTER_BROKER_ID not in group.broker_addrs
        for broker_id, addr in group.broker_addrs.items():
            role = "master" if broker_id == MASTER_BROKER_ID else "slave"
            live = tables.live_brokers.get((group.cluster_name, addr))
            state = "unheard" if live is None else "silent" if is_broker_silent(live, now_ms) else "heard"
            brokers[label, role, state] += 1
    yield gauge("clusters", "Number of clusters.", len(tables.broker_names_by_cluster))
    help_text = "Number of brokers, by cluster, role and heartbeat state."
    yield gauge("brokers", help_text, brokers, "cluster", "role", "state")
    help_text = "Number of broker groups without a master."
    yield gauge("broker_groups_without_master", help_text, masterless, "cluster")
    yield gauge("topics", "Number of topics with queues.", len(tables.placements_by_topic))
    static_count = len(tables.queue_mappings)
    yield gauge("static_topics", "Number of static topics (topics with queue mappings).", static_count)
    yield counter("route_changes", "Changes of the route tables.", tables.generation)


def _label_shown_clusters(tables: RouteTables) -> dict[str, str]:
    """The labels of the clusters that have one: those with the most broker groups."""
    clusters = tables.broker_names_by_cluster
    largest_first = sorted(clusters, key=lambda name: (-len(clusters[name]), name))
    return {name: bounded_label(name) for name in largest_first[:MAX_SHOWN_CLUSTERS]}


def _collect_brokers(tables: RouteTables, counters: ServerCounters, now_ms: int) -> Iterator[Metric]:
    """Collect the metrics per broker, for the first MAX_SHOWN_BROKERS by name."""
    members = [
        (group, broker_id, addr)
        for group in sorted(tables.broker_groups.values(), key=lambda g: (g.cluster_name, g.broker_name))
        for broker_id, addr in group.broker_addrs.items()
    ]
    heard: dict[tuple[str, ...], float] = {}
    timeouts: dict[tuple[str, ...], float] = {}
    sizes: dict[tuple[str, ...], float] = {}
    ages: dict[tuple[str, ...], float] = {}
    for group, broker_id, addr in members[:MAX_SHOWN_BROKERS]:
        key = (bounded_label(group.cluster_name), bounded_label(group.broker_name), str(broker_id))
        live = tables.live_brokers.get((group.cluster_name, addr))
        if live is not None:
            heard[key], timeouts[key] = (now_ms - live.heard_at_ms) / 1000, live.timeout_ms / 1000
        latest = counters.latest_registrations.get((group.cluster_name, addr))
        if latest is not None:
            sizes[key], ages[key] = latest.body_bytes, (now_ms - latest.received_at_ms) / 1000
    for name, help_text, values in (
        ("broker_heard_seconds", "Time since the broker's last heartbeat.", heard),
        ("broker_timeout_seconds", "Heartbeat timeout of the broker.", timeouts),
        ("broker_registration_bytes", "Size of the broker's latest registration, as sent.", sizes),
        ("broker_registration_age_seconds", "Time since the broker's latest registration.", ages),
    ):
        yield gauge(name, help_text, values, "cluster", "broker", "id")
    hidden_count = max(len(members) - MAX_SHOWN_BROKERS, 0)
    yield gauge("brokers_not_shown", "Number of brokers without their own series.", hidden_count)


def _collect_events(counters: ServerCounters) -> Iterator[Metric]:
    counts = {kind.__name__: float(counters.counts_by_event[kind.__name__]) for kind in _TABLE_EVENTS}
    yield counter("events", "Events that changed the tables, by journal event type.", counts, "event")
    left = {reason: float(counters.counts_by_leave_reason[reason]) for reason in _LEAVE_REASONS}
    yield counter("brokers_left", "Brokers removed, by reason.", left, "reason")
    sizes = {(): counters.registration_sizes}
    yield histogram("registration_bytes", "Sizes of registration bodies, as sent.", sizes)


def collect_security(name_server: InspectedServer) -> Iterator[Metric]:
    """Refusals, reloaded files and lost log lines. The metrics of TLS are left out if TLS is disabled."""
    access, certificates = name_server.access_control, name_server.tls_certificates
    refused = {reason.value: count for reason, count in name_server.state.refusals.counts_by_reason.items()}
    yield counter("refused_requests", "Requests refused by the access policy, by reason.", refused, "reason")
    reloads = {"read": access.reload_count, "failed": access.failed_reload_count}
    yield counter("credentials_reloads", "Reloads of the credentials file, by result.", reloads, "result")
    if certificates.tls_policy is not None:
        yield counter("tls_handshakes", "TLS handshakes started.", certificates.tls_policy.handshake_count)
        yield from _collect_certificates(certificates)
    lost = sum(handler.lost_lines for handler in log.handlers if isinstance(handler, LogWriter))
    yield counter("log_lost_lines", "Log lines lost because the reader of the log was too slow.", lost)


def _collect_certificates(certificates: "TlsCertificates") -> Iterator[Metric]:
    yield counter("tls_refused", "Connections closed because TLS failed.", certificates.refused_count)
    reloads = {"read": certificates.reload_count, "failed": certificates.failed_reload_count}
    yield counter("tls_reloads", "Reloads of the TLS certificate and key, by result.", reloads, "result")
    if certificates.expires_at is not None:
        help_text = "Expiry time of the TLS certificate, in seconds since 1970."
        yield gauge("tls_certificate_expiry_timestamp_seconds", help_text, certificates.expires_at)
