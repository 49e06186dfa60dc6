"""Figures of a whole cluster: its proxies, differences between its name servers, and open drains."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from time import monotonic

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.proxies.proxies import ProxyList
from nsadmin.operations.divergence.observer import DivergenceObserver
from nsadmin.operations.drain.state import SavedDrain, load_drains
from nsadmin.operations.exporter.derived_figures import ClientFacts, group_clients
from nsadmin.operations.exporter.figures import FigureTable, MetricTable, Reading, ServerIdentity, clean_label
from nsadmin.operations.exporter.name_filter import NameFilter
from nsadmin.operations.installation import Installation

PROXY_METRICS = MetricTable(
    "proxies",
    "proxies",
    ("cluster", "proxy", "mode"),
    ("proxy_up", "bool", "1 if the proxy answers, else 0."),
    ("proxy_consumers", "clients", "Consumers that are connected to a proxy in cluster mode."),
    ("proxy_grpc_connections", "connections", "Connected gRPC clients; needs nsadmin[proxy]."),
    (
        "proxy_last_heartbeat_time_seconds",
        "seconds since 1970",
        "When the proxy passed on the last heartbeat of a consumer.",
    ),
)


def build_proxy_table(proxies_by_cluster: Mapping[str, ProxyList]) -> FigureTable:
    """Build the figures of each proxy. A proxy that was configured belongs to the first cluster."""
    rows_by_addr = {
        status.proxy_addr: (
            (clean_label(name), clean_label(status.proxy_addr), status.mode or "unknown"),
            (
                None if status.is_answering is None else float(status.is_answering),
                None if status.consumer_count is None else float(status.consumer_count),
                None if status.connection_addrs is None else float(len(status.connection_addrs)),
                None if status.last_heartbeat_ms is None else status.last_heartbeat_ms / 1000,
            ),
        )
        for name, proxy_list in reversed([*proxies_by_cluster.items()])
        for status in proxy_list.proxies
    }
    return PROXY_METRICS.with_rows([rows_by_addr[addr] for addr in sorted(rows_by_addr)])


def collect_proxy_clients(
    proxies_by_cluster: Mapping[str, ProxyList], accepts_group: Callable[[str], bool]
) -> dict[str, ClientFacts]:
    """Collect the consumers behind the proxies of each cluster, by group."""
    return {
        clean_label(cluster_name): ClientFacts(
            group_clients(
                (heartbeat.group, heartbeat.client)
                for heartbeat in proxy_list.heartbeats.of_connected_clients
                if accepts_group(heartbeat.group)
            ),
            {},
        )
        for cluster_name, proxy_list in proxies_by_cluster.items()
    }


DIFFERENCE_METRICS = MetricTable(
    "cluster",
    "divergence",
    ("state",),
    (
        "namesrv_differences",
        "differences",
        "Differences between name servers: drift, or new (younger than two heartbeats).",
    ),
)
DRAIN_METRICS = MetricTable(
    "cluster",
    "drains",
    ("cluster", "broker", "phase"),
    ("drain_start_time_seconds", "seconds since 1970", "Start of an open drain of this account."),
)
UNREADABLE_DRAIN_METRICS = MetricTable(
    "cluster",
    "drains",
    (),
    (
        "drains_unreadable",
        "drains",
        "Saved drains of this account that cannot be read, of any cluster: their brokers may be drained.",
    ),
)
_NO_SERVER = ServerIdentity("")
_DIFFERENCE_STATES = ("drift", "new")


class ClusterFigures:
    """Remembers how old each difference is, so that a read need not wait until it is drift."""

    def __init__(
        self,
        admin: AdminClient,
        name_filter: NameFilter = NameFilter(),  # noqa: B008 - it is immutable
        state_home: Path | None = None,
    ) -> None:
        self._admin = admin
        self._name_filter = name_filter
        self._observer = (
            DivergenceObserver(admin, lambda: int(monotonic() * 1000))
            if len(admin.addresses.addrs) > 1
            else None
        )
        self._installation = Installation(admin, state_home)

    def read_all(self, cluster_names: Collection[str]) -> Iterator[Reading]:
        """Read drains and proxies of these clusters, and the differences if there are two name servers."""
        yield Reading("drains", _NO_SERVER, monotonic(), self._read_drains(cluster_names))
        yield from self._read_proxies(cluster_names)
        if self._observer is not None:
            yield from self._read_differences(self._observer)

    def _read_proxies(self, cluster_names: Collection[str]) -> Iterator[Reading]:
        try:
            proxies_by_cluster = {
                name: self._admin.proxies.list_proxies(name) for name in sorted(cluster_names)
            }
        except RocketMQError:
            return
        facts = collect_proxy_clients(proxies_by_cluster, self._name_filter.accepts_group)
        proxy_table = build_proxy_table(proxies_by_cluster)
        yield Reading("proxies", _NO_SERVER, monotonic(), (proxy_table,), facts)

    def _read_differences(self, observer: DivergenceObserver) -> Iterator[Reading]:
        try:
            observation = observer.observe_once()
        except RocketMQError:
            return
        if observation.verdict == "unknown":
            return
        counts: Counter[str] = Counter(dict.fromkeys(_DIFFERENCE_STATES, 0))
        for finding in observation.findings:
            counts[finding.state] += len(finding.differences)
        rows = [((state,), (float(count),)) for state, count in counts.items()]
        yield Reading("divergence", _NO_SERVER, monotonic(), (DIFFERENCE_METRICS.with_rows(rows),))

    def _read_drains(self, cluster_names: Collection[str]) -> tuple[FigureTable, FigureTable]:
        saved_drains = list(self._installation.keep_own(load_drains(self._installation.state_home)))
        drain_states = [saved.state for saved in saved_drains if isinstance(saved, SavedDrain)]
        start_table = DRAIN_METRICS.with_rows(
            [
                (
                    (clean_label(state.cluster), clean_label(state.broker), state.phase),
                    (state.started / 1000,),
                )
                for state in drain_states
                if state.cluster in cluster_names
            ]
        )
        damaged_count = len(saved_drains) - len(drain_states)
        return start_table, UNREADABLE_DRAIN_METRICS.with_rows([((), (float(damaged_count),))])
