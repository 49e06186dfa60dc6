"""HTTP on real sockets: pages, bad requests, many at once, and whoever is slow."""

import asyncio
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import pairwise

import pytest
from prometheus_client import CollectorRegistry

from namesrv_core.transport import http_server
from namesrv_core.transport.http_server import (
    HttpListener,
    HttpPhase,
    HttpSlots,
    PagePace,
    PageRequest,
    PageResponse,
)
from namesrv_core.transport.metrics_renderer import render_metrics
from tests.support.http import exchange_bytes, fetch_page
from tests.support.name_servers import run_on_loop, wait_until

LARGE = b"x" * (8 << 20)


class Site:
    """Pages of one word; `/large` is large. Remembers what was asked."""

    def __init__(self) -> None:
        self.asked: list[PageRequest] = []

    def __call__(self, asked: PageRequest) -> PageResponse:
        self.asked.append(asked)
        if asked.page_path == "/large":
            return PageResponse(200, LARGE)
        return PageResponse(
            404 if asked.page_path == "/none" else 200, asked.page_path.encode(), "text/x", (("X-Own", "1"),)
        )


@asynccontextmanager
async def serving(host: str = "127.0.0.1", slots: HttpSlots | None = None) -> AsyncIterator[tuple[Site, str]]:
    site = Site()
    listener = await HttpListener.open(site, host, 0, slots)
    try:
        yield site, listener.bound_addr
    finally:
        listener.close()


async def test_a_page_has_a_status_a_kind_a_length_and_its_own_headers() -> None:
    async with serving() as (site, address):
        answer = await fetch_page(address, "/a?b=c", Authorization="Bearer x")
        assert (answer.status, answer.text) == (200, "/a")
        assert answer.headers == {
            "content-type": "text/x", "content-length": "2", "x-own": "1", "connection": "close",
        }  # fmt: skip
        assert (await fetch_page(address, "/none")).status == 404
        host, port = site.asked[0].local_address
        assert f"{host}:{port}" == address
        assert site.asked[0].headers["authorization"] == "Bearer x"


async def test_the_head_of_a_page_is_without_its_body() -> None:
    async with serving() as (_, address):
        answer = await fetch_page(address, "/abc", "HEAD")
        assert (answer.status, answer.headers["content-length"], answer.text) == (200, "4", "")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_other_methods_are_refused_and_never_reach_a_page(method: str) -> None:
    @run_on_loop
    async def test() -> None:
        async with serving() as (site, address):
            answer = await fetch_page(address, "/a", method)
            assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")
            assert site.asked == []

    test()


async def test_a_connection_serves_many_requests_also_when_they_come_at_once_or_in_pieces() -> None:
    async with serving() as (_, address):
        host, _, port = address.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        request = b"GET /end HTTP/1.1\r\nHost: x\r\n\r\n"
        writer.write(request * 3)
        for _ in range(3):
            assert (await reader.readuntil(b"/end")).startswith(b"HTTP/1.1 200 OK\r\n")
        writer.write(request[:9])
        await asyncio.sleep(0)
        writer.write(request[9:])
        assert b"200 OK" in await reader.readuntil(b"/end")
        writer.close()


async def test_a_request_with_a_body_is_answered_and_its_body_ignored() -> None:
    async with serving() as (_, address):
        sent = b"GET /1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello"
        assert (await exchange_bytes(address, sent)).endswith(b"\r\n\r\n/1")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"\x16\x03\x01\x00\x05hello\r\n\r\n", b"400"),
        (b"GET\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"a" * 40_000, b"431"),
    ],
)
def test_what_is_no_request_is_refused_and_the_connection_closed(sent: bytes, status: bytes) -> None:
    @run_on_loop
    async def test() -> None:
        async with serving() as (site, address):
            assert (await exchange_bytes(address, sent)).startswith(b"HTTP/1.1 " + status)
            assert site.asked == []

    test()


async def test_a_peer_that_never_completes_its_request_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "_REQUEST_SECONDS", 0.05)
    async with serving() as (_, address):
        for sent in (b"", b"GET / HT"):
            assert await exchange_bytes(address, sent) == b""


async def test_a_connection_that_asks_no_more_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "_IDLE_SECONDS", 0.05)
    async with serving() as (_, address):
        assert (await exchange_bytes(address, b"GET /1 HTTP/1.1\r\nHost: x\r\n\r\n")).endswith(b"/1")


async def connect_from(host: str, address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    server_host, _, port = address.rpartition(":")
    return await asyncio.open_connection(server_host, int(port), local_addr=(host, 0))


async def is_open(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str) -> bool:
    """Whether the connection still serves a page."""
    try:
        writer.write(asking(path))
        return await read_page(reader) == path.encode()
    except (ConnectionError, asyncio.IncompleteReadError):
        return False


@pytest.mark.parametrize("sent", [b"GET /1 HTTP/1.1\r\nHost: x\r\n\r\n", b"", b"GET / HT"])
def test_a_probe_is_answered_while_one_address_holds_70_connections(sent: bytes) -> None:
    @run_on_loop
    async def test() -> None:
        async with serving() as (_, address):
            held = []
            for _ in range(70):
                held.append(await connect_from("127.0.0.1", address))
                held[-1][1].write(sent)
            for _ in range(3):
                assert (await fetch_page(address, "/healthz")).status == 200
            for _, writer in held:
                writer.close()

    test()


async def test_the_oldest_idle_connection_makes_room_and_an_unfinished_request_does_not() -> None:
    async with serving(slots=HttpSlots(max_connections_per_host=3)) as (_, address):
        unfinished, older, newer = [await connect_from("127.0.0.1", address) for _ in range(3)]
        for reader, writer in (newer, older, newer):
            assert await is_open(reader, writer, "/1")
        unfinished[1].write(b"GET /end HTT")
        assert (await fetch_page(address, "/2")).status == 200
        assert not await is_open(*older, "/3")
        assert await is_open(*newer, "/4")
        unfinished[1].write(b"P/1.1\r\nHost: x\r\n\r\n")
        assert await read_page(unfinished[0]) == b"/end"
        for _, writer in (unfinished, older, newer):
            writer.close()


async def test_a_response_that_is_not_read_makes_room_when_nothing_else_can() -> None:
    async with serving(slots=HttpSlots(max_connections_per_host=2)) as (site, address):
        slow = [await connect_from("127.0.0.1", address) for _ in range(2)]
        for _, writer in slow:
            writer.write(asking("/large"))
        await wait_until(lambda: len(site.asked) == 2)
        assert (await fetch_page(address, "/1")).status == 200
        for _, writer in slow:
            writer.transport.abort()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have only one loopback address")
async def test_the_address_with_the_most_connections_makes_room_for_another_address() -> None:
    async with serving(slots=HttpSlots(max_connections=4)) as (_, address):
        scraper = await connect_from("127.0.0.2", address)
        assert await is_open(*scraper, "/1")
        held = [await connect_from("127.0.0.1", address) for _ in range(3)]
        for reader, writer in held:
            assert await is_open(reader, writer, "/1")
        probe = await connect_from("127.0.0.3", address)
        assert await is_open(*probe, "/2")
        assert await is_open(*scraper, "/3")
        assert [await is_open(*connection, "/4") for connection in held] == [False, True, True]
        for _, writer in (scraper, probe, *held):
            writer.close()


async def test_of_whoever_does_not_read_no_more_is_taken_until_he_does() -> None:
    async with serving() as (site, address):
        host, _, port = address.rpartition(":")
        slow = socket.create_connection((host, int(port)))
        slow.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(slow, b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n" * 3)
        await wait_until(lambda: site.asked)
        assert (await fetch_page(address, "/1")).status == 200
        assert [asked.page_path for asked in site.asked] == ["/large", "/1"]
        read = 0
        while read < 3 * len(LARGE):
            read += len(await loop.sock_recv(slow, 1 << 20))
        assert [asked.page_path for asked in site.asked] == ["/large", "/1", "/large", "/large"]
        slow.close()


def asking(path: str, times: int = 1) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode() * times


async def read_page(reader: asyncio.StreamReader) -> bytes:
    """The body of the next answer on a connection that stays."""
    head = await reader.readuntil(b"\r\n\r\n")
    size = next(line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
    return await reader.readexactly(int(size.partition(b":")[2]))


async def test_who_asks_for_much_at_once_lets_others_in_between() -> None:
    async with serving() as (site, address):
        host, _, port = address.rpartition(":")
        many, asks_many = await asyncio.open_connection(host, int(port))
        one, asks_one = await asyncio.open_connection(host, int(port))
        asks_one.write(asking("/first"))
        await read_page(one)
        asks_many.write(asking("/many", 500))
        await wait_until(lambda: len(site.asked) > 1)
        asks_one.write(asking("/one"))
        assert await read_page(one) == b"/one"
        paths = [asked.page_path for asked in site.asked]
        assert paths.count("/many") < 500
        assert [await read_page(many) for _ in range(500)] == [b"/many"] * 500
        asks_many.close()
        asks_one.close()


async def test_a_page_that_takes_long_is_made_again_after_a_rest_and_others_are_not_held_up() -> None:
    pages_made: list[tuple[str, float]] = []

    def answer(asked: PageRequest) -> PageResponse:
        # Rests are by the processor's time, of which others take more or less.
        begun = time.thread_time()
        while asked.page_path == "/long" and time.thread_time() - begun < 0.02:
            pass
        pages_made.append((asked.page_path, time.perf_counter()))
        return PageResponse(200, b"x")

    listener = await HttpListener.open(answer, "127.0.0.1", 0)
    host, _, port = listener.bound_addr.rpartition(":")
    _, slow = await asyncio.open_connection(host, int(port))
    _, other = await asyncio.open_connection(host, int(port))
    try:
        slow.write(asking("/long", 2))
        await wait_until(lambda: pages_made)
        other.write(asking("/long"))
        assert (await fetch_page(listener.bound_addr, "/quick")).status == 200
        await wait_until(lambda: len(pages_made) == 4)
        times = [at for path, at in pages_made if path == "/long"]
        assert min(later - earlier for earlier, later in pairwise(times)) > 0.15
    finally:
        slow.close()
        other.close()
        listener.close()


def test_a_page_that_is_quick_again_waits_no_more() -> None:
    now = [0.0]
    pace = PagePace(lambda: now[0])
    for number in range(200):
        pace.record_duration(f"/{number}", 0.01)
    assert [pace.delay_of_page("/0"), pace.delay_of_page("/63"), pace.delay_of_page("/64")] == pytest.approx(
        [0.09, 0.09, 0.0]
    )
    now[0] = 0.05
    assert pace.delay_of_page("/0") == pytest.approx(0.04)
    pace.record_duration("/0", 0.0001)
    assert (pace.delay_of_page("/0"), pace.delay_of_page("/1") > 0) == (0.0, True)


async def test_it_listens_on_ipv6_too() -> None:
    async with serving("::1") as (site, address):
        assert address.startswith("[::1]:")
        assert (await fetch_page(address, "/1")).status == 200
        assert site.asked[0].local_address[0] == "::1"


async def test_a_listener_that_closes_closes_its_connections() -> None:
    async with serving() as (_, address):
        pass
    with pytest.raises(OSError, match=r"."):
        await fetch_page(address, "/1")


@asynccontextmanager
async def rendering_later() -> AsyncIterator[tuple[list[asyncio.Future[PageResponse]], str]]:
    """A server whose pages are rendered when the test says so."""
    pages: list[asyncio.Future[PageResponse]] = []

    def begin_page(asked: PageRequest) -> asyncio.Future[PageResponse]:
        pages.append(asyncio.get_running_loop().create_future())
        return pages[-1]

    listener = await HttpListener.open(begin_page, "127.0.0.1", 0)
    try:
        yield pages, listener.bound_addr
    finally:
        listener.close()


async def test_pages_that_are_rendered_later_answer_in_the_order_of_their_requests() -> None:
    async with rendering_later() as (pages, address):
        request = f"GET /a?b=c HTTP/1.1\r\nHost: {address}\r\n".encode()
        answers = asyncio.create_task(
            exchange_bytes(address, request + b"\r\n" + request + b"Connection: close\r\n\r\n")
        )
        other = asyncio.create_task(fetch_page(address, "/other"))
        await wait_until(lambda: len(pages) == 2)
        pages[1].set_result(PageResponse(200, b"quick"))
        assert (await other).text == "quick"
        pages[0].set_result(PageResponse(200, b"first"))
        await wait_until(lambda: len(pages) == 3)
        pages[2].set_result(PageResponse(200, b"second"))
        raw = (await answers).decode()
        assert raw.index("first") < raw.index("second")


async def test_a_page_whose_rendering_fails_ends_its_connection() -> None:
    async with rendering_later() as (pages, address):
        answer = asyncio.create_task(
            exchange_bytes(address, f"GET / HTTP/1.1\r\nHost: {address}\r\n\r\n".encode())
        )
        await wait_until(lambda: pages)
        pages[0].set_exception(OSError("no"))
        with suppress(ConnectionResetError):
            assert await answer == b""


async def test_a_page_is_cancelled_when_its_peer_leaves() -> None:
    async with rendering_later() as (pages, address):
        waiting = asyncio.create_task(fetch_page(address, "/"))
        await wait_until(lambda: pages)
        waiting.cancel()
        await wait_until(lambda: pages[0].cancelled())


async def test_a_peer_that_sends_much_while_it_waits_is_cut_off() -> None:
    async with rendering_later() as (pages, address):
        host, _, port = address.rpartition(":")
        _, writer = await asyncio.open_connection(host, int(port))
        writer.write(asking("/", 2))
        await wait_until(lambda: pages)
        writer.write(asking("/", 1000))
        await wait_until(lambda: pages[0].cancelled())
        writer.close()


async def test_a_page_knows_its_query() -> None:
    async with serving() as (site, address):
        await fetch_page(address, "/a?b=c&d")
        await fetch_page(address, "/a")
        assert [asked.query_text for asked in site.asked] == ["b=c&d", ""]


class Holder:
    """A connection of which only the phase matters."""

    def __init__(self, host: str, phase: HttpPhase = HttpPhase.IDLE) -> None:
        self.peer_host = host
        self.phase = phase
        self.is_aborted = False

    def current_phase(self) -> HttpPhase:
        return self.phase

    def close(self) -> None:
        self.is_aborted = True

    def abort(self) -> None:
        self.is_aborted = True


def admitted(slots: HttpSlots, *holders: Holder) -> list[Holder]:
    for holder in holders:
        slots.admit_holder(holder)
    return list(holders)


def aborted(holders: list[Holder]) -> list[int]:
    return [place for place, holder in enumerate(holders) if holder.is_aborted]


def test_phases_decide_before_age() -> None:
    phases = [*reversed(HttpPhase), HttpPhase.IDLE]
    slots = HttpSlots(max_connections_per_host=5)
    holders = admitted(slots, *(Holder("a", phase) for phase in phases))
    for expected in ([3], [3, 4], [2, 3, 4], [1, 2, 3, 4], [0, 1, 2, 3, 4]):
        admitted(slots, Holder("a", HttpPhase.AWAITS_RESPONSE))
        assert aborted(holders) == expected


def test_a_connection_that_is_renewed_is_the_newest() -> None:
    slots = HttpSlots(max_connections_per_host=3)
    holders = admitted(slots, *(Holder("a") for _ in range(3)))
    slots.renew_holder(holders[0])
    admitted(slots, Holder("a"))
    assert aborted(holders) == [1]


def test_a_released_connection_leaves_its_slot_to_another_one_and_cannot_be_renewed() -> None:
    slots = HttpSlots(max_connections_per_host=2)
    holders = admitted(slots, Holder("a"), Holder("a"))
    for _ in range(2):
        slots.release_holder(holders[0])
    slots.renew_holder(holders[0])
    holders += admitted(slots, Holder("a"))
    assert (aborted(holders), slots.list_holders()) == ([], holders[1:])


def test_of_64_addresses_with_one_connection_each_the_oldest_makes_room() -> None:
    slots = HttpSlots()
    holders = admitted(slots, *(Holder(f"10.0.0.{number}") for number in range(64)))
    holders += admitted(slots, Holder("10.0.1.0"))
    assert aborted(holders) == [0]
    assert len(slots.list_holders()) == 64


@pytest.mark.parametrize(
    "accept", ["application/openmetrics-text; version=x", "a;b;c", "\x00", "text/plain; version="]
)
def test_an_odd_accept_header_gets_the_usual_format(accept: str) -> None:
    _, content_type = render_metrics(CollectorRegistry(), accept)
    assert content_type.startswith("text/plain")
