"""Requests share a rendering, and one that nobody waits for is not begun."""

import asyncio
import threading

from namesrv_core.transport.http_server import PageResponse
from nsadmin.operations.exporter.shared_pages import SharedPages
from tests.support.name_servers import run_on_loop


class Site:
    """Pages that a thread renders when the test says so."""

    def __init__(self, max_pages: int = 2) -> None:
        self.pages = SharedPages("t", 1, max_pages)
        self.go_on = threading.Event()
        self.rendered: list[str] = []

    def request(self, key: str) -> "PageResponse | asyncio.Future[PageResponse]":
        return self.pages.request_page(key, lambda: self.render(key))

    def wait_for(self, key: str) -> "asyncio.Future[PageResponse]":
        waiting = self.request(key)
        assert isinstance(waiting, asyncio.Future)
        return waiting

    def render(self, key: str) -> PageResponse:
        self.rendered.append(key)
        assert self.go_on.wait(10)
        if key == "bad":
            raise OSError("no")
        return PageResponse(200, key.encode())


@run_on_loop
async def test_one_rendering_for_all_who_wait_also_if_the_first_leaves() -> None:
    site = Site()
    waiting = [site.wait_for("a") for _ in range(100)]
    waiting[0].cancel()
    await asyncio.sleep(0)
    site.go_on.set()
    pages = await asyncio.gather(*waiting[1:])
    assert {id(page) for page in pages} == {id(pages[0])}
    assert site.rendered == ["a"]
    assert (await site.wait_for("a")).body == b"a"
    assert site.rendered == ["a", "a"]
    site.pages.close()


@run_on_loop
async def test_a_page_that_nobody_waits_for_is_not_rendered_and_leaves_its_place() -> None:
    site = Site()
    kept = site.wait_for("a")
    for key in "bcdefgh":
        site.wait_for(key).cancel()
        await asyncio.sleep(0)
    last = site.wait_for("z")
    busy = site.request("more")
    assert isinstance(busy, PageResponse)
    assert busy.status == 503
    site.go_on.set()
    assert [(await page).body for page in (kept, last)] == [b"a", b"z"]
    assert site.rendered == ["a", "z"]
    site.pages.close()


@run_on_loop
async def test_a_rendering_that_fails_fails_for_all() -> None:
    site = Site()
    site.go_on.set()
    results = await asyncio.gather(site.wait_for("bad"), site.wait_for("bad"), return_exceptions=True)
    assert [type(result) for result in results] == [OSError, OSError]
    site.pages.close()
