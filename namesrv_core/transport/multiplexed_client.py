"""MultiplexedClient, which sends many requests to many servers at once over plain sockets and a selector.

It serves short-lived programs. It needs no event loop, and no thread except one per host name that is being
resolved. It never imports asyncio, which alone would cost a command 60 ms.
"""

import os
import selectors
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
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
from namesrv_core.transport.selector_bell import SelectorBell
from namesrv_core.transport.server_link import CHUNK_BYTES, ServerLink

if TYPE_CHECKING:
    from namesrv_core.transport.tls_client import TlsClient


class LinkPool:
    """Keeps a link for each server, whether it has an open connection or not."""

    def __init__(self) -> None:
        self._links: dict[str, ServerLink] = {}

    def __iter__(self) -> Iterator[ServerLink]:
        return iter(self._links.values())

    def close(self) -> None:
        for link in self:
            link.close()
        self._links.clear()

    def get_peer(self, server_addr: str) -> Any:
        """The socket address of the connected peer; None if there is no connection to that address."""
        link = self._links.get(server_addr)
        # Read once, because another thread may be closing the link.
        sock = None if link is None else link.tcp_socket
        with suppress(OSError):
            return None if sock is None else sock.getpeername()

    def queue_requests(self, requests: Sequence[tuple[str, RemotingCommand]]) -> deque[ServerLink]:
        """Queue each request, with its index, in the link of its server. Return these links."""
        chosen_links: dict[str, ServerLink] = {}
        for index, (server_addr, request) in enumerate(requests):
            link = chosen_links.get(server_addr)
            if link is None:
                # Removed and inserted again, so that the least recently used links come first.
                link = chosen_links[server_addr] = (
                    self._links.pop(server_addr) if server_addr in self._links else ServerLink(server_addr)
                )
                self._links[server_addr] = link
            link.unsent_requests.append((index, request))
        return deque(chosen_links.values())

    def close_idle_links(self, active_links: set[ServerLink], max_sockets: int) -> None:
        """Close idle connections, the least recently used first, if one more would exceed the limit."""
        idle_links = [link for link in self if link.tcp_socket and link not in active_links]
        for link in idle_links[: max(0, len(idle_links) + len(active_links) - max_sockets)]:
            link.close()


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
        self._tls = tls_client
        self._max_sockets = max_sockets
        self._max_unanswered = max_unanswered
        self._pool = LinkPool()
        self._selector = selectors.DefaultSelector()
        self._bell = SelectorBell(self._selector)
        self._resolver = HostResolver(self._bell, find_addrs)
        self._tracker: ExchangeTracker | None = None
        self._wakeup_check: Callable[[], None] | None = None
        self._request_results: list[RemotingCommand | CallError | None] = []
        self._timeout_seconds = 0.0

    def __enter__(self) -> "MultiplexedClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._pool.close()
        self._selector.close()
        self._bell.close()

    def wake(self) -> None:
        """Let the pending `send_requests` call its `wakeup_check`. Any thread may call this until `close`."""
        self._bell.ring()

    def send_requests(
        self,
        requests: Iterable[tuple[str, RemotingCommand]],
        timeout_seconds: float,
        observer: ExchangeObserver | None = None,
        wakeup_check: Callable[[], None] | None = None,
    ) -> list[RemotingCommand | CallError]:
        """Send each request to its address ("host:port" or "[v6]:port"). Results keep the order of requests.

        The timeout of a request begins when its server's turn comes, and includes connecting. The observer is
        called as each request ends. `wakeup_check` is called after `wake`: what it raises ends the requests.
        """
        self._timeout_seconds, self._wakeup_check = timeout_seconds, wakeup_check
        requests = list(requests)
        self._tracker = observer and ExchangeTracker(observer, requests)
        self._request_results = [None] * len(requests)
        waiting_links = self._pool.queue_requests(requests)
        active_links: set[ServerLink] = set()
        try:
            while waiting_links or active_links:
                while waiting_links and len(active_links) < self._max_sockets:
                    link = waiting_links.popleft()
                    active_links.add(link)
                    self._begin_link(link, active_links)
                self._wait_for_events(active_links)
                active_links = {link for link in active_links if not link.is_done}
        except BaseException:
            self._abandon_requests(active_links)
            raise
        return [result for result in self._request_results if result is not None]

    def get_peer(self, server_addr: str) -> Any:
        """The socket address of the connected peer; None if there is no connection to that address."""
        return self._pool.get_peer(server_addr)

    def _abandon_requests(self, active_links: set[ServerLink]) -> None:
        for link in self._pool:
            for index, _ in link.unanswered_requests.values():
                self._finish_request(
                    link, index, CallError(link.server_addr, "interrupted", "interrupted before the answer")
                )
            link.unsent_requests.clear()
            link.unanswered_requests.clear()
        for link in active_links:
            self._close_link(link)

    # Connecting

    def _begin_link(self, link: ServerLink, active_links: set[ServerLink]) -> None:
        link.begin_turn(monotonic(), self._timeout_seconds)
        if link.is_usable():
            self._watch_socket(link, selectors.EVENT_READ)
            self._write_requests(link)
            return
        self._close_link(link)
        self._pool.close_idle_links(active_links, self._max_sockets)
        link.last_error = None
        try:
            link.candidate_addrs = self._resolver.resolve_at_once(link)
        except CallError as error:
            self._fail_link(link, error)
            return
        if link.candidate_addrs:
            self._connect_next_candidate(link)

    def _answer_bell(self, active_links: set[ServerLink]) -> None:
        self._bell.silence()
        if self._wakeup_check is not None:
            self._wakeup_check()
        self._take_resolved_hosts(active_links)

    def _take_resolved_hosts(self, active_links: set[ServerLink]) -> None:
        for link, result in self._resolver.take_resolved():
            if link not in active_links or link.tcp_socket is not None or link.is_done:
                continue
            if isinstance(result, CallError):
                self._fail_link(link, result)
            else:
                if link.deadline == inf:
                    link.begin_turn(monotonic(), self._timeout_seconds)
                link.candidate_addrs = result
                self._connect_next_candidate(link)

    def _connect_next_candidate(self, link: ServerLink) -> None:
        """Try the server's next address. The remaining time is divided among the remaining addresses."""
        while link.candidate_addrs:
            now = monotonic()
            link.attempt_ends_at = now + (link.deadline - now) / len(link.candidate_addrs)
            family, sockaddr = link.candidate_addrs.pop(0)
            try:
                link.tcp_socket = socket.socket(family, socket.SOCK_STREAM)
                link.tcp_socket.setblocking(False)
                if family != socket.AF_UNIX:
                    link.tcp_socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                errno = link.tcp_socket.connect_ex(sockaddr)
            except OSError as error:
                errno = error.errno or ECONNREFUSED
            if errno in (0, EINPROGRESS):
                self._watch_socket(link, selectors.EVENT_WRITE)
                return
            self._close_link(link)
            link.last_error = link.build_connect_error(errno)
        self._fail_link(
            link, link.last_error or CallError(link.server_addr, "unresolvable", "no address found")
        )

    def _finish_connecting(self, link: ServerLink, sock: socket.socket) -> None:
        errno = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if errno:
            self._close_link(link)
            link.last_error = link.build_connect_error(errno)
            self._connect_next_candidate(link)
            return
        link.is_connected = True
        link.candidate_addrs.clear()
        if self._tls is not None:
            link.tls_connection = self._tls.create_connection(split_addr(link.server_addr)[0])
            # Feeding no bytes starts the TLS handshake.
            link.decrypt_received(b"")
        self._write_requests(link)

    # Sending and receiving

    def _wait_for_events(self, active_links: set[ServerLink]) -> None:
        unfinished = [link for link in active_links if not link.is_done]
        if not unfinished:
            return
        wait_seconds = min(link.next_deadline for link in unfinished) - monotonic()
        for selector_key, events in self._selector.select(min(max(0.0, wait_seconds), _MAX_WAIT_SECONDS)):
            link = selector_key.data
            if link is None:
                self._answer_bell(active_links)
            elif link.tcp_socket is selector_key.fileobj:
                self._handle_socket_events(link, selector_key.fileobj, events)
        now = monotonic()
        for link in unfinished:
            if not link.is_done and link.next_deadline <= now:
                self._expire_link(link, now)

    def _handle_socket_events(self, link: ServerLink, sock: Any, events: int) -> None:
        if not link.is_connected:
            self._finish_connecting(link, sock)
            return
        if events & selectors.EVENT_READ:
            self._receive_bytes(link, sock)
        if events & selectors.EVENT_WRITE and link.tcp_socket is sock:
            self._write_requests(link)
        if link.is_done and link.tcp_socket is not None:
            self._unwatch_socket(link)

    def _write_requests(self, link: ServerLink) -> None:
        """Write as many requests as the limit of unanswered requests and the socket's buffer allow."""
        while link.is_ready and link.unsent_requests and len(link.unanswered_requests) < self._max_unanswered:
            index, request = link.unsent_requests.popleft()
            link.unanswered_requests[request.opaque] = (index, link.deadline)
            frame = link.protocol_connection.encode_request(request)
            link.queue_bytes(frame)
            if self._tracker is not None:
                self._tracker.record_sent(index, len(frame))
        try:
            link.flush_queued()
        except OSError as error:
            self._fail_lost_link(link, error)
            return
        self._watch_socket(link, selectors.EVENT_READ | (selectors.EVENT_WRITE if link.queued_bytes else 0))

    def _receive_bytes(self, link: ServerLink, sock: socket.socket) -> None:
        try:
            received = sock.recv(CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError as error:
            self._fail_lost_link(link, error)
            return
        if received:
            self._handle_received(link, received)
        if link.tcp_socket is sock and (
            not received or (link.tls_connection is not None and link.tls_connection.is_closed)
        ):
            self._fail_lost_link(link, None)

    def _handle_received(self, link: ServerLink, received: bytes) -> None:
        try:
            received = link.decrypt_received(received)
        except RocketMQError as error:
            self._fail_tls(link, error)
            return
        if self._tracker is not None and link.protocol_connection.frame_sizes is None:
            link.protocol_connection.frame_sizes = []
        answers = link.protocol_connection.feed_bytes(received)
        for answer, frame_bytes in zip(
            answers, link.protocol_connection.frame_sizes or repeat(0), strict=False
        ):
            if link.protocol_connection.take_request(answer) is None:
                continue
            index, _ = link.unanswered_requests.get(answer.opaque, (None, 0.0))
            if index is not None:
                # After a signal here an observer may learn of a request twice, but never not at all.
                self._finish_request(link, index, answer, frame_bytes)
                link.unanswered_requests.pop(answer.opaque, None)
                # The timeout of requests that waited for this answer begins now.
                link.deadline = monotonic() + self._timeout_seconds
        if link.protocol_connection.error is not None:
            self._fail_link(link, link.build_unreadable_error(received))
        elif link.unsent_requests or link.queued_bytes:
            self._write_requests(link)

    def _fail_tls(self, link: ServerLink, error: RocketMQError) -> None:
        """TLS failed. Send the alert to the server, which has not executed the unanswered requests."""
        with suppress(OSError):
            link.flush_queued()
        kind = "closed" if link.has_spoken else "untrusted"
        self._fail_link(link, CallError(link.server_addr, kind, str(error)))

    def _fail_lost_link(self, link: ServerLink, error: OSError | None) -> None:
        """The connection was lost. Data that arrived before may contain a TLS alert with the reason."""
        if error is not None and link.tls_connection is not None and link.tcp_socket is not None:
            try:
                link.decrypt_received(link.tcp_socket.recv(CHUNK_BYTES))
            except RocketMQError as tls_error:
                self._fail_tls(link, tls_error)
                return
            except OSError:
                pass
        detail = f" ({os.strerror(error.errno)})" if error is not None and error.errno else ""
        self._fail_link(link, link.build_loss_error(detail))

    def _expire_link(self, link: ServerLink, now: float) -> None:
        if link.is_connected:
            self._expire_requests(link, now)
        elif link.candidate_addrs and now < link.deadline:
            self._close_link(link)
            self._connect_next_candidate(link)
        else:
            missing = "no connection" if link.tcp_socket else "host name not resolved"
            self._fail_link(link, self._build_timeout_error(link, "unconnected", missing))

    def _expire_requests(self, link: ServerLink, now: float) -> None:
        if not link.is_ready:
            self._fail_link(link, self._build_timeout_error(link, "unconnected", "no TLS handshake"))
            return
        late = [(o, i) for o, (i, d) in link.unanswered_requests.items() if d <= now]
        error = self._build_timeout_error(link, "timeout", "no answer")
        for opaque, index in late:
            self._finish_request(link, index, error)
            link.unanswered_requests.pop(opaque, None)
        if not link.unanswered_requests:
            self._fail_link(link, error)

    def _build_timeout_error(self, link: ServerLink, kind: str, missing: str) -> CallError:
        reason = f"{missing} within {self._timeout_seconds:g} s"
        return CallError(link.server_addr, kind, reason)

    def _fail_link(self, link: ServerLink, error: CallError) -> None:
        """Close the connection and fail all requests that wait for this server."""
        self._close_link(link)
        for index, _ in (*link.unanswered_requests.values(), *link.unsent_requests):
            self._finish_request(link, index, error)
        link.unanswered_requests.clear()
        link.unsent_requests.clear()

    def _finish_request(
        self, link: ServerLink, index: int, result: RemotingCommand | CallError, answer: int = 0
    ) -> None:
        self._request_results[index] = result
        if self._tracker is not None:
            self._tracker.report_ended(index, result, answer, link.turn_began_at)

    def _watch_socket(self, link: ServerLink, events: int) -> None:
        assert link.tcp_socket is not None
        # Look up by number: a failed lookup of a socket formats it, which costs two system calls.
        registered_key = self._selector.get_map().get(link.tcp_socket.fileno())
        if registered_key is None:
            self._selector.register(link.tcp_socket, events, link)
        elif registered_key.events != events:
            self._selector.modify(link.tcp_socket, events, link)

    def _unwatch_socket(self, link: ServerLink) -> None:
        if link.tcp_socket is not None and link.tcp_socket.fileno() in self._selector.get_map():
            self._selector.unregister(link.tcp_socket)

    def _close_link(self, link: ServerLink) -> None:
        self._unwatch_socket(link)
        link.close()
