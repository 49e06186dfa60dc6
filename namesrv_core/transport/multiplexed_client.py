"""MultiplexedClient, which sends many requests to many servers at once over plain sockets and a selector.

It serves short-lived programs. It needs no event loop, and no thread except one per host name that is being
resolved. It never imports asyncio, which alone would cost a command 60 ms.
"""

import os
import selectors
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from errno import ECONNREFUSED, EINPROGRESS
from itertools import repeat
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.address import split_addr
from namesrv_core.transport.exchange import CallError, Exchange, ExchangeObserver, ExchangeTracker
from namesrv_core.transport.host_resolver import AddrLookup, HostResolver
from namesrv_core.transport.link_pool import LinkPool
from namesrv_core.transport.selector_bell import SelectorBell
from namesrv_core.transport.server_link import CHUNK_BYTES, ServerLink

if TYPE_CHECKING:
    from namesrv_core.transport.tls_client import TlsClient

__all__ = ["CallError", "Exchange", "ExchangeObserver", "MultiplexedClient"]

MAX_SOCKETS = 64
"""The limit of open sockets. Further servers wait."""
MAX_UNANSWERED = 128
"""The limit of pending requests per connection: a Java server refuses requests that overflow its queue."""

_MAX_WAIT_SECONDS = 3600.0
"""The longest single wait, because the operating system limits the timeout of a selector."""


class MultiplexedClient:
    """Keeps its connections for later requests. Close it, or use it as a context manager.

    With `tls_client` all connections use TLS. `find_addrs` replaces the resolution of host names.
    """

    def __init__(
        self,
        max_sockets: int = MAX_SOCKETS,
        max_unanswered: int = MAX_UNANSWERED,
        tls_client: "TlsClient | None" = None,
        find_addrs: AddrLookup | None = None,
    ) -> None:
        self._tls_client = tls_client
        self._max_sockets = max_sockets
        self._max_unanswered = max_unanswered
        self._link_pool = LinkPool()
        self._selector = selectors.DefaultSelector()
        self._selector_bell = SelectorBell(self._selector)
        self._host_resolver = HostResolver(self._selector_bell, find_addrs)
        self._exchange_tracker: ExchangeTracker | None = None
        self._wakeup_check: Callable[[], None] | None = None
        self._request_results: list[RemotingCommand | CallError | None] = []
        self._timeout_seconds = 0.0

    def __enter__(self) -> "MultiplexedClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._link_pool.close()
        self._selector.close()
        self._selector_bell.close()

    def wake(self) -> None:
        """Let the pending `send_requests` call its `wakeup_check`. Any thread may call this until `close`."""
        self._selector_bell.ring()

    def send_requests(
        self,
        addressed_requests: Iterable[tuple[str, RemotingCommand]],
        timeout_seconds: float,
        exchange_observer: ExchangeObserver | None = None,
        wakeup_check: Callable[[], None] | None = None,
    ) -> list[RemotingCommand | CallError]:
        """Send each request to its address ("host:port" or "[v6]:port"). Results keep the order of requests.

        The timeout of a request begins when its server's turn comes, and includes connecting. The observer is
        called as each request ends. `wakeup_check` is called after `wake`: what it raises ends the requests.
        """
        self._timeout_seconds, self._wakeup_check = timeout_seconds, wakeup_check
        addressed_requests = list(addressed_requests)
        self._exchange_tracker = exchange_observer and ExchangeTracker(exchange_observer, addressed_requests)
        self._request_results = [None] * len(addressed_requests)
        waiting_links = self._link_pool.queue_requests(addressed_requests)
        active_links: set[ServerLink] = set()
        try:
            while waiting_links or active_links:
                while waiting_links and len(active_links) < self._max_sockets:
                    server_link = waiting_links.popleft()
                    active_links.add(server_link)
                    self._begin_link(server_link, active_links)
                self._wait_for_events(active_links)
                active_links = {server_link for server_link in active_links if not server_link.is_done}
        except BaseException:
            self._abandon_requests(active_links)
            raise
        return [request_result for request_result in self._request_results if request_result is not None]

    def get_peer(self, server_addr: str) -> Any:
        """The socket address of the connected peer; None if there is no connection to that address."""
        return self._link_pool.get_peer(server_addr)

    def _abandon_requests(self, active_links: set[ServerLink]) -> None:
        for server_link in self._link_pool:
            for request_index, _ in server_link.unanswered_requests.values():
                self._finish_request(
                    server_link,
                    request_index,
                    CallError(server_link.server_addr, "interrupted", "interrupted before the answer"),
                )
            server_link.unsent_requests.clear()
            server_link.unanswered_requests.clear()
        for server_link in active_links:
            self._close_link(server_link)

    # Connecting

    def _begin_link(self, server_link: ServerLink, active_links: set[ServerLink]) -> None:
        server_link.begin_turn(monotonic(), self._timeout_seconds)
        if server_link.is_usable():
            self._watch_socket(server_link, selectors.EVENT_READ)
            self._write_requests(server_link)
            return
        self._close_link(server_link)
        self._link_pool.close_idle_links(active_links, self._max_sockets)
        server_link.last_error = None
        try:
            server_link.candidate_addrs = self._host_resolver.resolve_at_once(server_link)
        except CallError as error:
            self._fail_link(server_link, error)
            return
        if server_link.candidate_addrs:
            self._connect_next_candidate(server_link)

    def _answer_bell(self, active_links: set[ServerLink]) -> None:
        self._selector_bell.silence()
        if self._wakeup_check is not None:
            self._wakeup_check()
        self._take_resolved_hosts(active_links)

    def _take_resolved_hosts(self, active_links: set[ServerLink]) -> None:
        for server_link, lookup_result in self._host_resolver.take_resolved():
            if server_link not in active_links or server_link.tcp_socket is not None or server_link.is_done:
                continue
            if isinstance(lookup_result, CallError):
                self._fail_link(server_link, lookup_result)
            else:
                if server_link.deadline == inf:
                    server_link.begin_turn(monotonic(), self._timeout_seconds)
                server_link.candidate_addrs = lookup_result
                self._connect_next_candidate(server_link)

    def _connect_next_candidate(self, server_link: ServerLink) -> None:
        """Try the server's next address. The remaining time is divided among the remaining addresses."""
        while server_link.candidate_addrs:
            now_seconds = monotonic()
            server_link.attempt_ends_at = now_seconds + (server_link.deadline - now_seconds) / len(
                server_link.candidate_addrs
            )
            family, sockaddr = server_link.candidate_addrs.pop(0)
            try:
                server_link.tcp_socket = socket.socket(family, socket.SOCK_STREAM)
                server_link.tcp_socket.setblocking(False)
                if family != socket.AF_UNIX:
                    server_link.tcp_socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                error_number = server_link.tcp_socket.connect_ex(sockaddr)
            except OSError as error:
                error_number = error.errno or ECONNREFUSED
            if error_number in (0, EINPROGRESS):
                self._watch_socket(server_link, selectors.EVENT_WRITE)
                return
            self._close_link(server_link)
            server_link.last_error = server_link.build_connect_error(error_number)
        self._fail_link(
            server_link,
            server_link.last_error or CallError(server_link.server_addr, "unresolvable", "no address found"),
        )

    def _finish_connecting(self, server_link: ServerLink, tcp_socket: socket.socket) -> None:
        error_number = tcp_socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if error_number:
            self._close_link(server_link)
            server_link.last_error = server_link.build_connect_error(error_number)
            self._connect_next_candidate(server_link)
            return
        server_link.is_connected = True
        server_link.candidate_addrs.clear()
        if self._tls_client is not None:
            server_link.tls_connection = self._tls_client.create_connection(
                split_addr(server_link.server_addr)[0]
            )
            # Feeding no bytes starts the TLS handshake.
            server_link.decrypt_received(b"")
        self._write_requests(server_link)

    # Sending and receiving

    def _wait_for_events(self, active_links: set[ServerLink]) -> None:
        unfinished_links = [server_link for server_link in active_links if not server_link.is_done]
        if not unfinished_links:
            return
        wait_seconds = min(server_link.next_deadline for server_link in unfinished_links) - monotonic()
        for selector_key, ready_events in self._selector.select(
            min(max(0.0, wait_seconds), _MAX_WAIT_SECONDS)
        ):
            server_link = selector_key.data
            if server_link is None:
                self._answer_bell(active_links)
            elif server_link.tcp_socket is selector_key.fileobj:
                self._handle_socket_events(server_link, selector_key.fileobj, ready_events)
        now_seconds = monotonic()
        for server_link in unfinished_links:
            if not server_link.is_done and server_link.next_deadline <= now_seconds:
                self._expire_link(server_link, now_seconds)

    def _handle_socket_events(self, server_link: ServerLink, tcp_socket: Any, ready_events: int) -> None:
        if not server_link.is_connected:
            self._finish_connecting(server_link, tcp_socket)
            return
        if ready_events & selectors.EVENT_READ:
            self._receive_bytes(server_link, tcp_socket)
        if ready_events & selectors.EVENT_WRITE and server_link.tcp_socket is tcp_socket:
            self._write_requests(server_link)
        if server_link.is_done and server_link.tcp_socket is not None:
            self._unwatch_socket(server_link)

    def _write_requests(self, server_link: ServerLink) -> None:
        """Write as many requests as the limit of unanswered requests and the socket's buffer allow."""
        while (
            server_link.is_ready
            and server_link.unsent_requests
            and len(server_link.unanswered_requests) < self._max_unanswered
        ):
            request_index, request = server_link.unsent_requests.popleft()
            server_link.unanswered_requests[request.opaque] = (request_index, server_link.deadline)
            request_frame = server_link.protocol_connection.encode_request(request)
            server_link.queue_bytes(request_frame)
            if self._exchange_tracker is not None:
                self._exchange_tracker.record_sent(request_index, len(request_frame))
        try:
            server_link.flush_queued()
        except OSError as error:
            self._fail_lost_link(server_link, error)
            return
        self._watch_socket(
            server_link, selectors.EVENT_READ | (selectors.EVENT_WRITE if server_link.queued_bytes else 0)
        )

    def _receive_bytes(self, server_link: ServerLink, tcp_socket: socket.socket) -> None:
        try:
            received_bytes = tcp_socket.recv(CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError as error:
            self._fail_lost_link(server_link, error)
            return
        if received_bytes:
            self._handle_received(server_link, received_bytes)
        if server_link.tcp_socket is tcp_socket and (
            not received_bytes
            or (server_link.tls_connection is not None and server_link.tls_connection.is_closed)
        ):
            self._fail_lost_link(server_link, None)

    def _handle_received(self, server_link: ServerLink, received_bytes: bytes) -> None:
        try:
            received_bytes = server_link.decrypt_received(received_bytes)
        except RocketMQError as error:
            self._fail_tls(server_link, error)
            return
        if self._exchange_tracker is not None and server_link.protocol_connection.frame_sizes is None:
            server_link.protocol_connection.frame_sizes = []
        answers = server_link.protocol_connection.feed_bytes(received_bytes)
        for answer, frame_bytes in zip(
            answers, server_link.protocol_connection.frame_sizes or repeat(0), strict=False
        ):
            if server_link.protocol_connection.take_request(answer) is None:
                continue
            request_index, _ = server_link.unanswered_requests.get(answer.opaque, (None, 0.0))
            if request_index is not None:
                # After a signal here an observer may learn of a request twice, but never not at all.
                self._finish_request(server_link, request_index, answer, frame_bytes)
                server_link.unanswered_requests.pop(answer.opaque, None)
                # The timeout of requests that waited for this answer begins now.
                server_link.deadline = monotonic() + self._timeout_seconds
        if server_link.protocol_connection.error is not None:
            self._fail_link(server_link, server_link.build_unreadable_error(received_bytes))
        elif server_link.unsent_requests or server_link.queued_bytes:
            self._write_requests(server_link)

    def _fail_tls(self, server_link: ServerLink, tls_error: RocketMQError) -> None:
        """TLS failed. Send the alert to the server, which has not executed the unanswered requests."""
        with suppress(OSError):
            server_link.flush_queued()
        error_kind = "closed" if server_link.has_spoken else "untrusted"
        self._fail_link(server_link, CallError(server_link.server_addr, error_kind, str(tls_error)))

    def _fail_lost_link(self, server_link: ServerLink, socket_error: OSError | None) -> None:
        """The connection was lost. Data that arrived before may contain a TLS alert with the reason."""
        if (
            socket_error is not None
            and server_link.tls_connection is not None
            and server_link.tcp_socket is not None
        ):
            try:
                server_link.decrypt_received(server_link.tcp_socket.recv(CHUNK_BYTES))
            except RocketMQError as tls_error:
                self._fail_tls(server_link, tls_error)
                return
            except OSError:
                pass
        error_detail = (
            f" ({os.strerror(socket_error.errno)})" if socket_error is not None and socket_error.errno else ""
        )
        self._fail_link(server_link, server_link.build_loss_error(error_detail))

    def _expire_link(self, server_link: ServerLink, now_seconds: float) -> None:
        if server_link.is_connected:
            self._expire_requests(server_link, now_seconds)
        elif server_link.candidate_addrs and now_seconds < server_link.deadline:
            self._close_link(server_link)
            self._connect_next_candidate(server_link)
        else:
            missing_text = "no connection" if server_link.tcp_socket else "host name not resolved"
            self._fail_link(server_link, self._build_timeout_error(server_link, "unconnected", missing_text))

    def _expire_requests(self, server_link: ServerLink, now_seconds: float) -> None:
        if not server_link.is_ready:
            self._fail_link(
                server_link, self._build_timeout_error(server_link, "unconnected", "no TLS handshake")
            )
            return
        late_requests = [
            (opaque, request_index)
            for opaque, (request_index, deadline) in server_link.unanswered_requests.items()
            if deadline <= now_seconds
        ]
        error = self._build_timeout_error(server_link, "timeout", "no answer")
        for opaque, request_index in late_requests:
            self._finish_request(server_link, request_index, error)
            server_link.unanswered_requests.pop(opaque, None)
        if not server_link.unanswered_requests:
            self._fail_link(server_link, error)

    def _build_timeout_error(self, server_link: ServerLink, error_kind: str, missing_text: str) -> CallError:
        error_reason = f"{missing_text} within {self._timeout_seconds:g} s"
        return CallError(server_link.server_addr, error_kind, error_reason)

    def _fail_link(self, server_link: ServerLink, error: CallError) -> None:
        """Close the connection and fail all requests that wait for this server."""
        self._close_link(server_link)
        for request_index, _ in (*server_link.unanswered_requests.values(), *server_link.unsent_requests):
            self._finish_request(server_link, request_index, error)
        server_link.unanswered_requests.clear()
        server_link.unsent_requests.clear()

    def _finish_request(
        self,
        server_link: ServerLink,
        request_index: int,
        request_result: RemotingCommand | CallError,
        answer_bytes: int = 0,
    ) -> None:
        self._request_results[request_index] = request_result
        if self._exchange_tracker is not None:
            self._exchange_tracker.report_ended(
                request_index, request_result, answer_bytes, server_link.turn_began_at
            )

    def _watch_socket(self, server_link: ServerLink, wanted_events: int) -> None:
        assert server_link.tcp_socket is not None
        # Look up by number: a failed lookup of a socket formats it, which costs two system calls.
        registered_key = self._selector.get_map().get(server_link.tcp_socket.fileno())
        if registered_key is None:
            self._selector.register(server_link.tcp_socket, wanted_events, server_link)
        elif registered_key.events != wanted_events:
            self._selector.modify(server_link.tcp_socket, wanted_events, server_link)

    def _unwatch_socket(self, server_link: ServerLink) -> None:
        if server_link.tcp_socket is not None and server_link.tcp_socket.fileno() in self._selector.get_map():
            self._selector.unregister(server_link.tcp_socket)

    def _close_link(self, server_link: ServerLink) -> None:
        self._unwatch_socket(server_link)
        server_link.close()
