"""The HTTP pages of the exporter. Pages that take long are rendered by threads."""

import asyncio
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from traceback import extract_tb

from namesrv_core.transport.http_server import PageRequest, PageResponse
from namesrv_core.transport.metrics_renderer import reduce_accept_header, render_metrics
from nsadmin.operations.exporter import probe
from nsadmin.operations.exporter.cluster_reader import ClusterReader
from nsadmin.operations.exporter.exposition import ExporterMetrics, ShownCluster, build_registry
from nsadmin.operations.exporter.figures import ServerIdentity
from nsadmin.operations.exporter.service_discovery import build_target_groups, format_target_groups

_BUSY_PAGE = PageResponse(
    503, b"too many pages are being rendered: try again later\n", headers=(("Retry-After", "5"),)
)


class _Rendering:
    """A page that is being rendered, or waits for a thread, and the requests that wait for it."""

    def __init__(self, page: Future[PageResponse]) -> None:
        self.page = page
        self.waiting: set[asyncio.Future[PageResponse]] = set()


class SharedPages:
    """At most `max_pages` are rendered or wait for a thread. A page that nobody waits for is not begun."""

    def __init__(self, name: str, thread_count: int, max_pages: int) -> None:
        self._threads = ThreadPoolExecutor(thread_count, name)
        self._max_pages = max_pages
        self._renderings: dict[Hashable, _Rendering] = {}

    def request_page(
        self, page_key: Hashable, render: Callable[[], PageResponse]
    ) -> PageResponse | asyncio.Future[PageResponse]:
        """Wait for the page that has this key, or begin to render it."""
        if page_key not in self._renderings:
            if len(self._renderings) >= self._max_pages:
                return _BUSY_PAGE
            new_page = self._threads.submit(render)
            self._renderings[page_key] = _Rendering(new_page)
            asyncio.wrap_future(new_page).add_done_callback(lambda page: self._finish(page_key, page))
        rendering = self._renderings[page_key]
        waiting: asyncio.Future[PageResponse] = asyncio.get_running_loop().create_future()
        rendering.waiting.add(waiting)
        waiting.add_done_callback(lambda _: self._leave(page_key, rendering, waiting))
        return waiting

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _leave(
        self, page_key: Hashable, rendering: _Rendering, waiting: asyncio.Future[PageResponse]
    ) -> None:
        rendering.waiting.discard(waiting)
        # A page that a thread renders already is left to the next request.
        if not rendering.waiting and rendering.page.cancel():
            self._renderings.pop(page_key, None)

    def _finish(self, page_key: Hashable, page: asyncio.Future[PageResponse]) -> None:
        if page.cancelled():
            return
        rendering = self._renderings.pop(page_key)
        for waiting in [*rendering.waiting]:
            if waiting.done():
                continue
            if error := page.exception():
                waiting.set_exception(error)
            else:
                waiting.set_result(page.result())


_JSON_TYPE = "application/json"
_PROBE_THREADS = 4
_MAX_PROBES = 64

PageRenderer = Callable[[PageRequest], PageResponse | asyncio.Future[PageResponse]]


class ExporterPages:
    """Answers requests for pages. `report` gets a line when the rendering of a page fails."""

    def __init__(
        self,
        cluster_readers: Sequence[ClusterReader],
        report: Callable[[str], object],
        *,
        max_series: int,
        is_compat: bool,
    ) -> None:
        self._cluster_readers = cluster_readers
        self._report = report
        self._reported_failures: dict[str, str] = {}
        shown_clusters = [ShownCluster(reader.context_name, reader.store) for reader in cluster_readers]
        self._registry = build_registry(
            ExporterMetrics(shown_clusters, max_series=max_series, is_compat=is_compat)
        )
        # One thread: however many scrapes come at once, one page is in memory.
        self._metrics_pages = SharedPages("metrics", 1, 2)
        self._probe_pages = SharedPages("probes", _PROBE_THREADS, _MAX_PROBES)
        self._pages_by_path: Mapping[str, PageRenderer] = {
            "/metrics": self._request_metrics,
            "/probe": self._request_probe,
            "/sd": lambda _: self._render_safely("/sd", self._render_targets),
            "/healthz": lambda _: PageResponse(200, b"ok\n"),
            "/readyz": self._render_readiness,
        }

    def answer_request(self, request: PageRequest) -> PageResponse | asyncio.Future[PageResponse]:
        """Render the requested page, or begin to. The status is 404 for an unknown page."""
        render_page = self._pages_by_path.get(request.page_path)
        if render_page is None:
            return PageResponse(404, f"page not found; pages: {' '.join(self._pages_by_path)}\n".encode())
        return render_page(request)

    def close(self) -> None:
        self._metrics_pages.close()
        self._probe_pages.close()

    def _request_metrics(self, request: PageRequest) -> PageResponse | asyncio.Future[PageResponse]:
        accept_header = reduce_accept_header(request.headers.get("accept", ""))
        return self._metrics_pages.request_page(
            accept_header,
            lambda: self._render_safely(
                "/metrics", lambda: PageResponse(200, *render_metrics(self._registry, accept_header))
            ),
        )

    def _request_probe(self, request: PageRequest) -> PageResponse | asyncio.Future[PageResponse]:
        try:
            reader, server = probe.find_target(request.query_text, self._cluster_readers)
        except probe.UnknownTargetError as error:
            return PageResponse(404 if "target=" in request.query_text else 400, f"{error}\n".encode())
        accept_header = reduce_accept_header(request.headers.get("accept", ""))
        deadline = probe.choose_deadline(request.headers, monotonic())
        return self._probe_pages.request_page(
            (reader.context_name, server.address, accept_header),
            lambda: self._render_safely(
                "/probe", lambda: self._render_probe(reader, server, deadline, accept_header)
            ),
        )

    def _render_probe(
        self, reader: ClusterReader, server: ServerIdentity, deadline: float, accept_header: str
    ) -> PageResponse:
        probe_metrics = probe.read_target(reader, server, deadline)
        return PageResponse(
            200, *render_metrics(build_registry(probe_metrics, has_process=False), accept_header)
        )

    def _render_safely(self, page_path: str, render: Callable[[], PageResponse]) -> PageResponse:
        """Render a page. A failure is the status 500, and is reported until the page succeeds again."""
        try:
            page_response = render()
        except Exception as error:
            failed_at = extract_tb(error.__traceback__)[-1]
            failure_text = (
                f"page {page_path} failed: {type(error).__name__}: {error} "
                f"({Path(failed_at.filename).name}:{failed_at.lineno})"
            )
            if self._reported_failures.get(page_path) != failure_text:
                self._reported_failures[page_path] = failure_text
                self._report(failure_text)
            return PageResponse(500, f"{type(error).__name__}: see the exporter's log\n".encode())
        self._reported_failures.pop(page_path, None)
        return page_response

    def _render_targets(self) -> PageResponse:
        target_groups = [
            group
            for reader in self._cluster_readers
            for group in build_target_groups(reader.context_name, reader.name_servers, reader.brokers)
        ]
        return PageResponse(200, format_target_groups(target_groups).encode() + b"\n", _JSON_TYPE)

    def _render_readiness(self, _: PageRequest) -> PageResponse:
        unread_count = sum(not reader.has_read for reader in self._cluster_readers)
        return (
            PageResponse(503, f"{unread_count} clusters are not read yet\n".encode())
            if unread_count
            else PageResponse(200, b"ready\n")
        )
