"""HTTP/1.1 for monitors and address lookups: h11 makes requests of bytes, a function pages of requests.

Narrow on purpose: GET and HEAD, short requests, few connections, deadlines. It knows no page by name. However
often a page is asked for, whoever else uses the loop has nine tenths of it.
"""

import asyncio
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import NamedTuple, cast

import h11

from namesrv_core.transport.address import join_addr
from namesrv_core.transport.listener import bound

TEXT = "text/plain; charset=utf-8"

_CONNECTIONS = 64
_LONGEST_HEAD = 16 * 1024
_IDLE = 120.0
_PATIENCE = 10.0
_LONG = 0.001
_RESTS = 9
_REMEMBERED = 64


class Asked(NamedTuple):
    """A request: its path without the query, and its headers by lower-case name.

    `local` is our address and port, `host` the address of whoever asks.
    """

    path: str
    headers: dict[str, str]
    local: tuple[str, int]
    host: str


class Page(NamedTuple):
    """What is answered."""

    status: int
    body: bytes
    kind: str = TEXT
    headers: tuple[tuple[str, str], ...] = ()


Answer = Callable[[Asked], Page]


class Pace:
    """Pages that take long are made one after the other, with a rest after each; others never wait."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._long: set[str] = set()
        self._free_at = 0.0

    def delay(self, path: str) -> float:
        """Seconds until this page may be made."""
        return max(self._free_at - self._clock(), 0.0) if path in self._long else 0.0

    def took(self, path: str, seconds: float) -> None:
        """How long it was to make it this time."""
        if seconds < _LONG:
            self._long.discard(path)
            return
        if len(self._long) < _REMEMBERED:
            self._long.add(path)
        self._free_at = self._clock() + _RESTS * seconds


class HttpListener:
    """`await HttpListener.open(...)`; `address` is the one really bound."""

    def __init__(self, server: asyncio.Server, open_ones: "set[_Connection]") -> None:
        self._server = server
        self._open_ones = open_ones
        self.address = join_addr(*server.sockets[0].getsockname()[:2])

    @classmethod
    async def open(cls, answer: Answer, host: str, port: int) -> "HttpListener":
        """Listen on `host`:`port`; port 0 takes a free one. OSError where the address cannot be bound."""
        open_ones: set[_Connection] = set()
        loop = asyncio.get_running_loop()
        pace = Pace(loop.time)
        server = await loop.create_server(
            lambda: _Connection(answer, open_ones, pace), sock=bound(host, port)
        )
        return cls(server, open_ones)

    def close(self) -> None:
        """No more connections; those that are open are closed once they have what they asked for."""
        self._server.close()
        for connection in list(self._open_ones):
            connection.close()


class _Connection(asyncio.Protocol):
    """One connection, with the deadline by which something has to happen on it."""

    def __init__(self, answer: Answer, open_ones: "set[_Connection]", pace: Pace) -> None:
        self._answer = answer
        self._open_ones = open_ones
        self._pace = pace
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=_LONGEST_HEAD)
        self._loop = asyncio.get_running_loop()
        self._request: h11.Request | None = None
        self._is_full = self._is_waiting = False
        self._transport: asyncio.Transport
        self._deadline: asyncio.TimerHandle

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transport is no subclass of asyncio.Transport, but does what one does.
        self._transport = cast(asyncio.Transport, transport)
        self._deadline = self._loop.call_later(_PATIENCE, self._transport.abort)
        self._open_ones.add(self)
        if len(self._open_ones) > _CONNECTIONS:
            self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        self._deadline.cancel()
        self._open_ones.discard(self)

    def data_received(self, data: bytes) -> None:
        if self._http.their_state is h11.IDLE and self._http.trailing_data[0] == b"":
            self._wait(_PATIENCE)
        self._http.receive_data(data)
        self._take()

    def pause_writing(self) -> None:
        self._is_full = True
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._is_full = False
        self._go_on()

    def close(self) -> None:
        self._transport.close()

    def _wait(self, seconds: float) -> None:
        self._deadline.cancel()
        self._deadline = self._loop.call_later(seconds, self._transport.abort)

    def _pause(self, seconds: float, then: Callable[[], None]) -> None:
        self._is_waiting = True
        self._transport.pause_reading()
        self._loop.call_later(seconds, self._resume, then)

    def _resume(self, then: Callable[[], None]) -> None:
        self._is_waiting = False
        if not self._transport.is_closing():
            then()
            self._go_on()

    def _go_on(self) -> None:
        if not (self._is_full or self._is_waiting or self._transport.is_closing()):
            self._transport.resume_reading()
            self._take()

    def _take(self) -> None:
        """The next request that is here whole, as long as answers are taken; then others have a turn."""
        while not (self._is_full or self._is_waiting or self._transport.is_closing()):
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError as error:
                self._send(Page(error.error_status_hint, b"this is no request that is understood here\n"))
                return
            if isinstance(event, h11.Request):
                self._request = event
            elif isinstance(event, h11.EndOfMessage):
                self._reply_in_turn()
            elif not isinstance(event, h11.Data):
                return

    def _reply_in_turn(self) -> None:
        assert self._request is not None
        path = self._request.target.partition(b"?")[0].decode("ascii", "replace")
        delay = self._pace.delay(path)
        if delay > 0:
            self._wait(delay + _PATIENCE)
            self._pause(delay, self._reply_in_turn)
            return
        # By the processor, as streams measure work: a pause of the machine is held against nobody.
        begun = time.thread_time()
        self._reply(path)
        self._pace.took(path, time.thread_time() - begun)
        if self._http.trailing_data[0] and not self._is_full:
            self._pause(0, lambda: None)

    def _reply(self, path: str) -> None:
        assert self._request is not None
        request, self._request = self._request, None
        if request.method not in (b"GET", b"HEAD"):
            self._send(Page(405, b"only GET and HEAD\n", headers=(("Allow", "GET, HEAD"),)))
            return
        headers = {name.decode(): value.decode("latin-1") for name, value in request.headers}
        local = self._transport.get_extra_info("sockname")
        host = self._transport.get_extra_info("peername")[0]
        page = self._answer(Asked(path, headers, (local[0], local[1]), host))
        self._send(page, is_head=request.method == b"HEAD")

    def _send(self, page: Page, is_head: bool = False) -> None:
        headers = [("Content-Type", page.kind), ("Content-Length", str(len(page.body))), *page.headers]
        if self._http.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self._transport.abort()
            return
        parts = [
            self._http.send(
                h11.Response(status_code=page.status, headers=headers, reason=HTTPStatus(page.status).phrase)
            )
        ]
        if not is_head:
            parts.append(self._http.send(h11.Data(page.body)))
        parts.append(self._http.send(h11.EndOfMessage()))
        self._transport.write(b"".join(part or b"" for part in parts))
        if self._http.states == {h11.CLIENT: h11.DONE, h11.SERVER: h11.DONE}:
            self._http.start_next_cycle()
            self._wait(_IDLE)
        else:
            self._wait(_PATIENCE)
            self._transport.close()
