"""A small HTTP/1.1 server for monitoring and address lookups, based on h11. A function renders the pages.

It supports only GET and HEAD, short requests and few connections, and everything has a deadline. A new
connection is always admitted, so a probe is answered however many connections others hold: HttpSlots closes
the one that is missed least. PagePace leaves nine tenths of the event loop's time to other work, however
often a page is requested.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from enum import IntEnum
from http import HTTPStatus
from typing import NamedTuple, Protocol, cast

import h11

from namesrv_core.transport.address import join_addr
from namesrv_core.transport.listener import bind_socket

MAX_CONNECTIONS = 64
MAX_CONNECTIONS_PER_HOST = 32


class HttpPhase(IntEnum):
    """What a connection is doing, in the order in which connections are closed to make room."""

    IDLE = 0
    SENDS_REQUEST = 1
    READS_RESPONSE = 2
    AWAITS_RESPONSE = 3


class SlotHolder(Protocol):
    """A connection that can be closed to make room."""

    peer_host: str

    def current_phase(self) -> HttpPhase:
        """What the connection is doing."""

    def close(self) -> None:
        """Close the connection after its pending response."""

    def abort(self) -> None:
        """Close the connection at once."""


class HttpSlots:
    """The open connections, ordered by the time at which they last began or ended a request."""

    def __init__(
        self, max_connections: int = MAX_CONNECTIONS, max_connections_per_host: int = MAX_CONNECTIONS_PER_HOST
    ) -> None:
        self._max_connections = max_connections
        self._max_connections_per_host = max_connections_per_host
        self._counts_by_host: Counter[str] = Counter()
        # A dict is an ordered set: its oldest item comes first.
        self._holders: dict[SlotHolder, None] = {}

    def list_holders(self) -> list[SlotHolder]:
        return list(self._holders)

    def admit_holder(self, new_holder: SlotHolder) -> None:
        """Add a connection. If there are too many now, close another one."""
        self._holders[new_holder] = None
        self._counts_by_host[new_holder.peer_host] += 1
        if self._counts_by_host[new_holder.peer_host] > self._max_connections_per_host:
            crowded_hosts = {new_holder.peer_host}
        elif len(self._holders) > self._max_connections:
            largest = max(self._counts_by_host.values())
            crowded_hosts = {host for host, count in self._counts_by_host.items() if count == largest}
        else:
            return
        closed_holder = min(
            (h for h in self._holders if h is not new_holder and h.peer_host in crowded_hosts),
            # If several have the same phase, `min` takes the first, which is the oldest.
            key=lambda holder: holder.current_phase(),
        )
        self.release_holder(closed_holder)
        closed_holder.abort()

    def renew_holder(self, holder: SlotHolder) -> None:
        """Note that a connection began or ended a request."""
        if holder in self._holders:
            del self._holders[holder]
            self._holders[holder] = None

    def release_holder(self, holder: SlotHolder) -> None:
        """Remove a connection. It may have been removed before."""
        if holder not in self._holders:
            return
        del self._holders[holder]
        self._counts_by_host[holder.peer_host] -= 1
        if not self._counts_by_host[holder.peer_host]:
            del self._counts_by_host[holder.peer_host]


TEXT_TYPE = "text/plain; charset=utf-8"

_MAX_HEAD_BYTES = 16 * 1024
_IDLE_SECONDS = 120.0
_REQUEST_SECONDS = 10.0
_FUTURE_PAGE_SECONDS = 60.0
"""The limit of a page that another thread renders."""
_LONG_PAGE_SECONDS = 0.001
_REST_FACTOR = 9
_MAX_LONG_PAGES = 64


class PageRequest(NamedTuple):
    """A request: its path without the query, and its headers by lower-case name.

    `local_address` is our host and port, `peer_host` the requester's address. `query_text` is the encoded
    text after the question mark.
    """

    page_path: str
    headers: dict[str, str]
    local_address: tuple[str, int]
    peer_host: str
    query_text: str = ""


class PageResponse(NamedTuple):
    status: int
    body: bytes
    content_type: str = TEXT_TYPE
    headers: tuple[tuple[str, str], ...] = ()


PageHandler = Callable[[PageRequest], PageResponse | asyncio.Future[PageResponse]]
"""Renders a page at once, or returns the future of a page that another thread renders.

The future is cancelled if the peer leaves before.
"""


class PagePace:
    """The rate limit of slow pages: one at a time, with a rest after each. Fast pages never wait."""

    def __init__(self, loop_clock: Callable[[], float]) -> None:
        self._loop_clock = loop_clock
        self._long_pages: set[str] = set()
        self._free_at = 0.0

    def delay_of_page(self, path: str) -> float:
        """Seconds until this page may be rendered."""
        return max(self._free_at - self._loop_clock(), 0.0) if path in self._long_pages else 0.0

    def record_duration(self, path: str, render_seconds: float) -> None:
        if render_seconds < _LONG_PAGE_SECONDS:
            self._long_pages.discard(path)
            return
        if len(self._long_pages) < _MAX_LONG_PAGES:
            self._long_pages.add(path)
        self._free_at = self._loop_clock() + _REST_FACTOR * render_seconds


class HttpListener:
    """Created by `await HttpListener.open(...)`. `bound_addr` is the actual address."""

    def __init__(self, server: asyncio.Server, http_slots: HttpSlots) -> None:
        self._asyncio_server = server
        self._slots = http_slots
        self.bound_addr = join_addr(*server.sockets[0].getsockname()[:2])

    @classmethod
    async def open(
        cls,
        answer_request: PageHandler,
        listen_host: str,
        listen_port: int,
        http_slots: HttpSlots | None = None,
    ) -> "HttpListener":
        """Listen on an address; port 0 takes a free one. Raises OSError if the address cannot be bound."""
        used_slots = http_slots or HttpSlots()
        loop = asyncio.get_running_loop()
        page_pace = PagePace(loop.time)
        server = await loop.create_server(
            lambda: _HttpConnection(answer_request, used_slots, page_pace),
            sock=bind_socket(listen_host, listen_port),
        )
        return cls(server, used_slots)

    def close(self) -> None:
        """Accept no more connections. Close the open ones after their pending response."""
        self._asyncio_server.close()
        for connection in self._slots.list_holders():
            connection.close()


class _HttpConnection(asyncio.Protocol):
    """An HTTP connection, which is aborted if nothing happens before its deadline."""

    def __init__(self, answer_request: PageHandler, http_slots: HttpSlots, page_pace: PagePace) -> None:
        self._answer_request = answer_request
        self._slots = http_slots
        self._page_pace = page_pace
        self._h11 = h11.Connection(h11.SERVER, max_incomplete_event_size=_MAX_HEAD_BYTES)
        self._loop = asyncio.get_running_loop()
        self._page_request: h11.Request | None = None
        self._future_page: asyncio.Future[PageResponse] | None = None
        self._is_write_paused = self._is_request_paused = self._has_responded = False
        self.peer_host = ""
        self._transport: asyncio.Transport
        self._timer: asyncio.TimerHandle

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transport has the interface of asyncio.Transport, but is not a subclass.
        self._transport = cast(asyncio.Transport, transport)
        self._timer = self._loop.call_later(_REQUEST_SECONDS, self._transport.abort)
        # A peer that has already disconnected has no name.
        self.peer_host = (transport.get_extra_info("peername") or ("",))[0]
        self._slots.admit_holder(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._timer.cancel()
        self._slots.release_holder(self)
        if self._future_page is not None:
            self._future_page.cancel()

    def data_received(self, data: bytes) -> None:
        if self._h11.their_state is h11.IDLE and self._h11.trailing_data[0] == b"":
            self._set_deadline(_REQUEST_SECONDS)
            self._slots.renew_holder(self)
        self._h11.receive_data(data)
        if self._future_page is not None and len(self._h11.trailing_data[0]) > _MAX_HEAD_BYTES:
            self._transport.abort()
            return
        self._handle_requests()

    def pause_writing(self) -> None:
        self._is_write_paused = True
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._is_write_paused = False
        self._resume_if_idle()

    def close(self) -> None:
        self._transport.close()

    def abort(self) -> None:
        self._transport.abort()

    def current_phase(self) -> HttpPhase:
        if self._is_request_paused:
            return HttpPhase.AWAITS_RESPONSE
        if self._transport.get_write_buffer_size():
            return HttpPhase.READS_RESPONSE
        is_between_requests = self._h11.their_state is h11.IDLE and not self._h11.trailing_data[0]
        # A new connection is expected to send its first request, so it is not idle.
        return HttpPhase.IDLE if is_between_requests and self._has_responded else HttpPhase.SENDS_REQUEST

    def _set_deadline(self, seconds: float) -> None:
        self._timer.cancel()
        self._timer = self._loop.call_later(seconds, self._transport.abort)

    def _pause_before(self, pause_seconds: float, continue_work: Callable[[], None]) -> None:
        self._is_request_paused = True
        self._transport.pause_reading()
        self._loop.call_later(pause_seconds, self._resume_after_pause, continue_work)

    def _resume_after_pause(self, continue_work: Callable[[], None]) -> None:
        self._is_request_paused = False
        if not self._transport.is_closing():
            continue_work()
            self._resume_if_idle()

    def _resume_if_idle(self) -> None:
        if not (self._is_write_paused or self._is_request_paused or self._transport.is_closing()):
            self._transport.resume_reading()
            self._handle_requests()

    def _handle_requests(self) -> None:
        """Handle complete requests while the peer reads responses. Other work runs between two requests."""
        while not (self._is_write_paused or self._is_request_paused or self._transport.is_closing()):
            try:
                event = self._h11.next_event()
            except h11.RemoteProtocolError as error:
                self._send_page(
                    PageResponse(error.error_status_hint, b"this is no request that is understood here\n")
                )
                return
            if isinstance(event, h11.Request):
                self._page_request = event
            elif isinstance(event, h11.EndOfMessage):
                self._reply_at_pace()
            elif not isinstance(event, h11.Data):
                return

    def _reply_at_pace(self) -> None:
        assert self._page_request is not None
        path = self._page_request.target.partition(b"?")[0].decode("ascii", "replace")
        delay = self._page_pace.delay_of_page(path)
        if delay > 0:
            self._set_deadline(delay + _REQUEST_SECONDS)
            self._pause_before(delay, self._reply_at_pace)
            return
        # Processor time, as in CommandStream, so that a pause of the machine does not count against a page.
        began = time.thread_time()
        self._reply_to_request(path)
        self._page_pace.record_duration(path, time.thread_time() - began)
        if self._h11.trailing_data[0] and not (self._is_write_paused or self._future_page):
            self._pause_before(0, lambda: None)

    def _reply_to_request(self, path: str) -> None:
        assert self._page_request is not None
        request, self._page_request = self._page_request, None
        if request.method not in (b"GET", b"HEAD"):
            self._send_page(PageResponse(405, b"only GET and HEAD\n", headers=(("Allow", "GET, HEAD"),)))
            return
        headers = {name.decode(): value.decode("latin-1") for name, value in request.headers}
        local_address = self._transport.get_extra_info("sockname")
        query = request.target.partition(b"?")[2].decode("ascii", "replace")
        response = self._answer_request(
            PageRequest(path, headers, (local_address[0], local_address[1]), self.peer_host, query)
        )
        is_head_request = request.method == b"HEAD"
        if isinstance(response, asyncio.Future):
            self._send_later(response, is_head_request)
        else:
            self._send_page(response, is_head_request)

    def _send_later(self, future_page: asyncio.Future[PageResponse], is_head_request: bool) -> None:
        """Send the page when it is rendered. Until then, the connection handles no further request.

        It still reads, because otherwise nobody would notice that the peer has left.
        """
        self._is_request_paused = True
        self._future_page = future_page
        self._set_deadline(_FUTURE_PAGE_SECONDS)
        future_page.add_done_callback(lambda page: self._send_rendered(page, is_head_request))

    def _send_rendered(self, page: asyncio.Future[PageResponse], is_head_request: bool) -> None:
        self._is_request_paused = False
        self._future_page = None
        if page.cancelled() or page.exception() is not None:
            self._transport.abort()
        elif not self._transport.is_closing():
            self._send_page(page.result(), is_head_request)
            self._resume_if_idle()

    def _send_page(self, response: PageResponse, is_head_request: bool = False) -> None:
        headers = [
            ("Content-Type", response.content_type),
            ("Content-Length", str(len(response.body))),
            *response.headers,
        ]
        if self._h11.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self._transport.abort()
            return
        parts: list[bytes | None] = [
            self._h11.send(
                h11.Response(
                    status_code=response.status, headers=headers, reason=HTTPStatus(response.status).phrase
                )
            )
        ]
        if not is_head_request:
            parts.append(self._h11.send(h11.Data(response.body)))
        parts.append(self._h11.send(h11.EndOfMessage()))
        # A shared page is not copied for each connection.
        self._transport.writelines([part or b"" for part in parts])
        if self._h11.states == {h11.CLIENT: h11.DONE, h11.SERVER: h11.DONE}:
            self._h11.start_next_cycle()
            self._set_deadline(_IDLE_SECONDS)
            self._has_responded = True
            self._slots.renew_holder(self)
        else:
            self._set_deadline(_REQUEST_SECONDS)
            self._transport.close()
