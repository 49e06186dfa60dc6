"""Threads that render each page once for all requests that wait for it."""

import asyncio
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor

from namesrv_core.transport.http_server import PageResponse

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
