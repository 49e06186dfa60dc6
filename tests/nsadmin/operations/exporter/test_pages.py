"""The pages of the exporter."""

import asyncio
import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from namesrv_core.transport.event_loop import run_coroutine
from namesrv_core.transport.http_server import HttpListener, PageResponse
from nsadmin import AdminClient
from nsadmin.operations.exporter import pages as exporter_pages
from nsadmin.operations.exporter.cluster_reader import ClusterReader, ClusterSource, ReadPlan
from nsadmin.operations.exporter.pages import ExporterPages, SharedPages
from tests.interop.processes import wait_for
from tests.support.exporter_series import cluster_reader, read_series, select_series
from tests.support.http import HttpAnswer, fetch_page
from tests.support.lab import start_lab
from tests.support.name_servers import DEADLINE, run_on_loop


def fetch(reader: ClusterReader, *paths: str, report: Callable[[str], object] = print) -> list[HttpAnswer]:
    async def fetch_all() -> list[HttpAnswer]:
        pages = ExporterPages([reader], report, max_series=1000, is_compat=False)
        listener = await HttpListener.open(pages.answer_request, "127.0.0.1", 0)
        try:
            return list(await asyncio.gather(*(fetch_page(listener.bound_addr, path) for path in paths)))
        finally:
            listener.close()
            pages.close()

    return run_coroutine(asyncio.wait_for(fetch_all(), DEADLINE))


def test_each_page(tmp_path: Path) -> None:
    plan = FleetPlan(clusters=1, groups=1, replicas=1, topics=3)
    with (
        start_lab(tmp_path, plan) as running,
        cluster_reader(running.namesrv_addr, ReadPlan(0.2, 0.2), []) as reader,
    ):
        wait_for("the brokers", lambda: reader.has_read, 20)
        [addr] = running.brokers.values()
        paths = (
            "/metrics",
            "/healthz",
            "/readyz",
            "/sd",
            f"/probe?target={addr}",
            "/probe",
            "/probe?target=x",
            "/x",
        )
        answers = fetch(reader, *paths)
    metrics, health, ready, targets, probed, unnamed, unknown, missing = answers
    assert [answer.status for answer in answers] == [200, 200, 200, 200, 200, 400, 404, 404]
    series = read_series(metrics.text)
    assert select_series(series, "nsadmin_broker_up").popitem()[1] == 1
    assert select_series(series, "process_resident_memory_bytes")
    assert (health.text, ready.text) == ("ok\n", "ready\n")
    assert [group["targets"] for group in json.loads(targets.text)] == [[running.namesrv_addr], [addr]]
    assert select_series(read_series(probed.text), "nsadmin_probe_success").popitem()[1] == 1
    assert unnamed.text == "missing parameter target: pass /probe?target=HOST:PORT\n"
    assert unknown.text == 'unknown target "x": the page /sd lists all targets\n'
    assert missing.text == "page not found; pages: /metrics /probe /sd /healthz /readyz\n"


def test_it_is_not_ready_before_the_first_pass(dead_addr: str) -> None:
    with cluster_reader(dead_addr, ReadPlan(60, 60), []) as reader:
        reader.store.list_pass_results()
        pages = ExporterPages(
            [reader, ClusterReader(reader._source, ReadPlan(), print)], print, max_series=1, is_compat=False
        )
        page = pages._render_readiness(None)  # type: ignore[arg-type]
        pages.close()
    assert page.status == 503
    assert page.body.endswith(b"clusters are not read yet\n")


def test_a_failed_rendering_is_500_and_is_reported_once(
    dead_addr: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports: list[str] = []

    def fail(*_: object) -> tuple[bytes, str]:
        raise OverflowError("int too large to convert to float")

    monkeypatch.setattr(exporter_pages, "render_metrics", fail)
    reader = ClusterReader(ClusterSource("", lambda: AdminClient(dead_addr)), ReadPlan(), print)
    answers = fetch(reader, "/metrics", "/metrics", report=reports.append)
    assert {(answer.status, answer.text) for answer in answers} == {
        (500, "OverflowError: see the exporter's log\n")
    }
    [line] = reports
    assert line.startswith(
        "page /metrics failed: OverflowError: int too large to convert to float (test_pages.py:"
    )


def test_scrapes_of_peers_that_left_do_not_delay_a_scrape(
    dead_addr: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """25 of them a second made a scrape wait for half a minute, and each kept its page."""
    may_render, rendered = threading.Event(), list[str]()

    def render(_: object, accept_header: str) -> tuple[bytes, str]:
        assert may_render.wait(DEADLINE)
        rendered.append(accept_header)
        return b"page", "text/plain"

    async def scrape_after_others() -> HttpAnswer:
        pages = ExporterPages([reader], print, max_series=1000, is_compat=False)
        listener = await HttpListener.open(pages.answer_request, "127.0.0.1", 0)
        host, _, port = listener.bound_addr.rpartition(":")
        for _ in range(100):
            _, writer = await asyncio.open_connection(host, int(port))
            writer.write(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            await writer.drain()
            writer.close()
        scrape = asyncio.create_task(fetch_page(listener.bound_addr, "/metrics"))
        await asyncio.sleep(0.1)
        may_render.set()
        try:
            return await scrape
        finally:
            listener.close()
            pages.close()

    monkeypatch.setattr(exporter_pages, "render_metrics", render)
    reader = ClusterReader(ClusterSource("", lambda: AdminClient(dead_addr)), ReadPlan(), print)
    answer = run_coroutine(asyncio.wait_for(scrape_after_others(), DEADLINE))
    assert (answer.text, rendered) == ("page", [""])


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
