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


def export_security_metrics(name_server: InspectedServer) -> Iterator[Metric]:
    """Export all security metrics. Those of TLS are left out if TLS is disabled."""
    access_control = name_server.access_control
    counts = {
        (reason.value,): refusal_count
        for reason, refusal_count in name_server.state.refusals.counts_by_reason.items()
    }
    yield build_labelled_counter(
        "refused_requests", "Requests refused by the access policy, by reason.", ("reason",), counts
    )
    counts_by_result = {
        ("read",): access_control.reload_count,
        ("failed",): access_control.failed_reload_count,
    }
    yield build_labelled_counter(
        "credentials_reloads", "Reloads of the credentials file, by result.", ("result",), counts_by_result
    )
    if name_server.tls_certificates.tls_policy is not None:
        yield from _export_tls_metrics(
            name_server.tls_certificates, name_server.tls_certificates.tls_policy.handshake_count
        )
    lost = sum(handler.lost_lines for handler in log.handlers if isinstance(handler, LogWriter))
    yield build_counter("log_lost_lines", "Log lines lost because the reader of the log was too slow.", lost)


def _export_tls_metrics(tls_certificates: "TlsCertificates", handshake_count: int) -> Iterator[Metric]:
    yield build_counter("tls_handshakes", "TLS handshakes started.", handshake_count)
    yield build_counter(
        "tls_refused", "Connections closed because TLS failed.", tls_certificates.refused_count
    )
    counts = {("read",): tls_certificates.reload_count, ("failed",): tls_certificates.failed_reload_count}
    yield build_labelled_counter(
        "tls_reloads", "Reloads of the TLS certificate and key, by result.", ("result",), counts
    )
    if tls_certificates.expires_at is not None:
        yield build_gauge(
            "tls_certificate_expiry_timestamp_seconds",
            "Expiry time of the TLS certificate, in seconds since 1970.",
            tls_certificates.expires_at,
        )


METRIC_PREFIX = "nsadmin_namesrv_"

LabelValues = TypeVar("LabelValues", bound=tuple[str, ...])

_MAX_LABEL_LENGTH = 128


def bounded_label(peer: str) -> str:
    """Make a label of bounded length, without control characters, from a name that a peer chose.

    A changed name gets a checksum suffix, so that two names never become the same series.
    """
    label = escape_unsafe(peer[:_MAX_LABEL_LENGTH].encode("utf-8", "replace").decode())
    label = label[:_MAX_LABEL_LENGTH]
    return label if label == peer else f"{label}#{zlib.crc32(peer.encode('utf-8', 'surrogatepass')):08x}"


def build_gauge(name: str, help_text: str, value: float) -> Metric:
    return GaugeMetricFamily(METRIC_PREFIX + name, help_text, float(value))


def build_counter(name: str, help_text: str, value: float) -> Metric:
    """Build a counter with one series. Pass its name without `_total`."""
    return CounterMetricFamily(METRIC_PREFIX + name, help_text, float(value))


def build_labelled_gauge(
    name: str, help_text: str, labels: tuple[str, ...], values_by_labels: Mapping[LabelValues, float]
) -> Metric:
    family = GaugeMetricFamily(METRIC_PREFIX + name, help_text, labels=labels)
    for values, value in values_by_labels.items():
        family.add_metric(values, value)
    return family


def build_labelled_counter(
    name: str, help_text: str, labels: tuple[str, ...], values_by_labels: Mapping[LabelValues, float]
) -> Metric:
    family = CounterMetricFamily(METRIC_PREFIX + name, help_text, labels=labels)
    for values, value in values_by_labels.items():
        family.add_metric(values, value)
    return family


def build_labelled_histogram(
    name: str, help_text: str, histograms: Mapping[LabelValues, Histogram], labels: tuple[str, ...]
) -> Metric:
    """Build a histogram per key. The key of a histogram without labels is ()."""
    family = HistogramMetricFamily(METRIC_PREFIX + name, help_text, labels=labels)
    for values, histogram in histograms.items():
        family.add_metric(values, list(_cumulative_buckets(histogram)), histogram.value_sum)
    return family


def _cumulative_buckets(histogram: Histogram) -> Iterator[tuple[str, float]]:
    total = 0
    for upper_bound, count in zip(
        (*histogram.upper_bounds, float("inf")), histogram.bucket_counts, strict=True
    ):
        total += count
        yield "+Inf" if upper_bound == float("inf") else repr(float(upper_bound)), total


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
        self._server = name_server

    def collect(self) -> Iterator[Metric]:
        name_server, counters = self._server, self._server.counters
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
        yield from export_security_metrics(name_server)
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
        counters = self._server.counters
        yield build_gauge("connections", "Open connections.", len(self._server.open_streams))
        yield build_counter("connections_opened", "Connections accepted.", counters.opened_count)
        counts_by_close_reason = {
            ("idle",): counters.idle_count,
            ("unintelligible",): counters.unintelligible_count,
        }
        yield build_counter(
            "sent_away", "Requests answered with GO_AWAY during shutdown.", counters.go_away_count
        )
        counts_by_limit = {
            (key,): hit_count for key, hit_count in self._server.state.limit_hits.hit_counts.items()
        }
        yield build_labelled_counter("limits_met", "Limit violations, by limit.", ("limit",), counts_by_limit)
        yield build_labelled_counter(
            "connections_closed",
            "Connections closed by the name server, by reason.",
            ("reason",),
            counts_by_close_reason,
        )


def build_registry(name_server: InspectedServer) -> CollectorRegistry:
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
        for group in sorted(tables.broker_groups.values(), key=lambda g: (g.cluster_name, g.broker_name))
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
