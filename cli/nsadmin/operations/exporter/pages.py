"""The HTTP pages of the exporter. Pages that take long are rendered by threads."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import monotonic

from prometheus_client.registry import Collector

from namesrv_core.transport.http_server import PageRequest, PageResponse
from namesrv_core.transport.metrics_page import render_metrics
from nsadmin.operations.exporter import probe
from nsadmin.operations.exporter.cluster_reader import ClusterReader
from nsadmin.operations.exporter.exposition import ExporterMetrics, ShownCluster, build_registry
from nsadmin.operations.exporter.service_discovery import build_target_groups, format_target_groups

_JSON_TYPE = "application/json"
_PROBE_THREADS = 4

PageRenderer = Callable[[PageRequest], PageResponse | asyncio.Future[PageResponse]]


class ExporterPages:
    """Answers requests for pages."""

    def __init__(self, cluster_readers: Sequence[ClusterReader], *, max_series: int, is_compat: bool) -> None:
        self._cluster_readers = cluster_readers
        shown_clusters = [ShownCluster(reader.context_name, reader.store) for reader in cluster_readers]
        self._registry = build_registry(
            ExporterMetrics(shown_clusters, max_series=max_series, is_compat=is_compat)
        )
        # One thread: however many scrapes come at once, one page is in memory.
        self._metrics_thread = ThreadPoolExecutor(1, "metrics")
        self._probe_threads = ThreadPoolExecutor(_PROBE_THREADS, "probes")
        self._pages_by_path: Mapping[str, PageRenderer] = {
            "/metrics": lambda page_request: self._run(
                self._metrics_thread, self._render_metrics, page_request
            ),
            "/probe": lambda page_request: self._run(self._probe_threads, self._render_probe, page_request),
            "/sd": self._render_targets,
            "/healthz": lambda _: PageResponse(200, b"ok\n"),
            "/readyz": self._render_readiness,
        }

    def answer_request(self, page_request: PageRequest) -> PageResponse | asyncio.Future[PageResponse]:
        """Render the requested page, or begin to. The status is 404 for an unknown page."""
        render_page = self._pages_by_path.get(page_request.page_path)
        if render_page is None:
            return PageResponse(404, f"page not found; pages: {' '.join(self._pages_by_path)}\n".encode())
        return render_page(page_request)

    def close(self) -> None:
        for threads in (self._metrics_thread, self._probe_threads):
            threads.shutdown(wait=False, cancel_futures=True)

    def _run(
        self,
        threads: ThreadPoolExecutor,
        render_page: Callable[[PageRequest], PageResponse],
        page_request: PageRequest,
    ) -> asyncio.Future[PageResponse]:
        return asyncio.get_running_loop().run_in_executor(threads, render_page, page_request)

    def _render_metrics(self, page_request: PageRequest) -> PageResponse:
        page_body, content_type = render_metrics(self._registry, page_request.headers.get("accept", ""))
        return PageResponse(200, page_body, content_type)

    def _render_probe(self, page_request: PageRequest) -> PageResponse:
        try:
            cluster_reader, server = probe.find_target(page_request.query_text, self._cluster_readers)
        except probe.UnknownTargetError as error:
            return PageResponse(404 if "target=" in page_request.query_text else 400, f"{error}\n".encode())
        deadline = probe.choose_deadline(page_request.headers, monotonic())
        probe_metrics: Collector = probe.read_target(cluster_reader, server, deadline)
        page_body, content_type = render_metrics(
            build_registry(probe_metrics, has_process=False), page_request.headers.get("accept", "")
        )
        return PageResponse(200, page_body, content_type)

    def _render_targets(self, _: PageRequest) -> PageResponse:
        target_groups = [
            target_group
            for reader in self._cluster_readers
            for target_group in build_target_groups(reader.context_name, reader.name_servers, reader.brokers)
        ]
        return PageResponse(200, format_target_groups(target_groups).encode() + b"\n", _JSON_TYPE)

    def _render_readiness(self, _: PageRequest) -> PageResponse:
        unread_count = sum(not reader.has_read for reader in self._cluster_readers)
        return (
            PageResponse(503, f"{unread_count} clusters are not read yet\n".encode())
            if unread_count
            else PageResponse(200, b"ready\n")
        )
