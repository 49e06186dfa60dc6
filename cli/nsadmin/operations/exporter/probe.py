"""/probe?target=ADDRESS: reads one server now, for the multi-target pattern of Prometheus."""

from collections.abc import Iterable, Iterator, Mapping
from time import monotonic
from urllib.parse import parse_qs

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from namesrv_core.errors import RocketMQError
from nsadmin.operations.collector.request_pace import PollStopped
from nsadmin.operations.exporter.cluster_reader import ClusterReader
from nsadmin.operations.exporter.exposition import ExporterMetrics, ShownCluster
from nsadmin.operations.exporter.figures import Reading, ServerIdentity
from nsadmin.operations.exporter.metric_registry import METRICS_BY_NAME
from nsadmin.operations.exporter.name_server_figures import build_name_server_tables
from nsadmin.operations.exporter.reading_store import ReadingStore

DEFAULT_SECONDS = 10.0
_TIMEOUT_HEADER = "x-prometheus-scrape-timeout-seconds"
_ANSWER_SECONDS = 0.5
"""The time that is left to Prometheus's timeout for the answer itself."""


class UnknownTargetError(RocketMQError):
    """The target is not one of the servers of this exporter, or is not named."""


def choose_deadline(headers: Mapping[str, str], now_seconds: float) -> float:
    """The deadline of a probe, from the timeout that Prometheus sends."""
    try:
        timeout_seconds = float(headers.get(_TIMEOUT_HEADER, ""))
    except ValueError:
        timeout_seconds = DEFAULT_SECONDS
    # In this order: min() returns its first argument if the second is nan.
    return now_seconds + max(min(DEFAULT_SECONDS, timeout_seconds) - _ANSWER_SECONDS, _ANSWER_SECONDS)


def find_target(
    query_text: str, cluster_readers: Iterable[ClusterReader]
) -> tuple[ClusterReader, ServerIdentity]:
    """Find the server that the parameter `target` names. Only known servers can be probed.

    Raises:
        UnknownTargetError: The parameter is missing, or no cluster has such a server.
    """
    query = parse_qs(query_text)
    [target_addr] = query.get("target", [""])[:1]
    [context_name] = query.get("context", [""])[:1]
    if not target_addr:
        raise UnknownTargetError("missing parameter target: pass /probe?target=HOST:PORT")
    for reader in cluster_readers:
        if context_name not in ("", reader.context_name):
            continue
        if target_addr in reader.name_servers:
            return reader, ServerIdentity(target_addr)
        for server in reader.brokers:
            if server.address == target_addr:
                return reader, server
    raise UnknownTargetError(f'unknown target "{target_addr}": the page /sd lists all targets')


def read_target(reader: ClusterReader, server: ServerIdentity, deadline: float) -> Collector:
    """Read a name server, or a broker with its groups, and return the metrics of the page."""
    store = ReadingStore()
    began_at = monotonic()
    try:
        with reader.open_client() as admin:
            if server.cluster_name:
                is_up = reader.make_broker_reader(admin, store).read_state(server, True, deadline)
            else:
                [listing_result] = admin.name_server_tables.get_listing_each([server.address], ())
                is_up = listing_result.result is not None
                tables = build_name_server_tables(
                    server.address, listing_result.result, monotonic() - began_at
                )
                store.put_reading(Reading("tables", server, monotonic(), tables))
    except (RocketMQError, PollStopped):
        is_up = False
    shown_clusters = [ShownCluster(reader.context_name, store)]
    return _ProbeMetrics(ExporterMetrics(shown_clusters), is_up, monotonic() - began_at)


class _ProbeMetrics(Collector):
    """The metrics of the server, and those of the probe."""

    def __init__(self, server_metrics: ExporterMetrics, is_up: bool, duration_seconds: float) -> None:
        self._server_metrics = server_metrics
        self._figures = (
            ("nsadmin_probe_success", float(is_up)),
            ("nsadmin_probe_duration_seconds", duration_seconds),
        )

    def collect(self) -> Iterator[Metric]:
        yield from self._server_metrics.collect()
        for metric_name, figure in self._figures:
            yield GaugeMetricFamily(metric_name, METRICS_BY_NAME[metric_name].help, figure)
