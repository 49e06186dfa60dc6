"""Calls: many requests to many servers at the same time, over plain sockets and a selector.

For programs that ask and leave: no event loop, no thread (but one per host name that is being resolved),
and asyncio is never imported, as that alone would cost a command 60 ms.
"""

import os
import selectors
import socket
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from errno import ECONNREFUSED, EINPROGRESS
from itertools import repeat
from time import monotonic
from typing import TYPE_CHECKING, Any

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.command import Command
from namesrv_core.transport.address import split_addr
from namesrv_core.transport.exchange import CallError, Exchange, Observer, Tally
from namesrv_core.transport.link import CHUNK, Link, SockAddr

if TYPE_CHECKING:
    from namesrv_core.transport.tls import TlsClient

__all__ = ["CallError", "Calls", "Exchange", "Observer"]

MAX_SOCKETS = 64
"""Open sockets at a time; further servers wait for their turn."""
MAX_UNANSWERED = 128
"""Requests under way on one connection: a Java server refuses what overflows its queue of requests."""

_LONGEST = 3600.0
"""Seconds that are waited at once; the system has a limit."""


def _look_up(host: str, port: int, flags: int = 0) -> list[SockAddr]:
    # Python loads its IDNA codec for every str; what is ASCII needs none.
    name = host.encode() if host.isascii() else host
    try:
        found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=flags)
    except UnicodeError:
        raise OSError(0, "it is no valid one") from None
    return [(family, sockaddr) for family, _, _, _, sockaddr in found]


class Calls:
    """Keeps its connections for the next calls; close it, or use it as a context manager.

    With `tls`, all of them are TLS.
    """

    def __init__(
        self,
        max_sockets: int = MAX_SOCKETS,
        max_unanswered: int = MAX_UNANSWERED,
        tls: "TlsClient | None" = None,
    ) -> None:
        self._tls = tls
        self._max_sockets = max_sockets
        self._max_unanswered = max_unanswered
        self._servers: dict[str, Link] = {}
        self._selector = selectors.DefaultSelector()
        self._resolved: deque[tuple[Link, list[SockAddr] | OSError]] = deque()
        self._bell: tuple[socket.socket, socket.socket] | None = None
        self._tally: Tally | None = None
        self._results: list[Command | CallError | None] = []
        self._timeout = 0.0

    def __enter__(self) -> "Calls":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for server in self._servers.values():
            server.close()
        self._servers.clear()
        self._selector.close()
        for end in self._bell or ():
            end.close()

    def ask(
        self, calls: Iterable[tuple[str, Command]], timeout: float, observer: Observer | None = None
    ) -> list[Command | CallError]:
        """What became of each call ("host:port" or "[v6]:port", request), in their order.

        Each has `timeout` seconds from when its turn comes: connecting and everything else included. The
        observer is told of each as it ends.
        """
        self._timeout = timeout
        calls = list(calls)
        self._tally = observer and Tally(observer, calls)
        servers = self._distribute(calls)
        active: set[Link] = set()
        try:
            while servers or active:
                while servers and len(active) < self._max_sockets:
                    server = servers.popleft()
                    active.add(server)
                    self._begin(server, active)
                self._wait(active)
                active = {server for server in active if not server.is_done}
        except BaseException:
            self._abandon(active)
            raise
        return [result for result in self._results if result is not None]

    def place(self, addr: str) -> Any:
        """Where the connection to that address leads, as the system has it; None where there is none."""
        server = self._servers.get(addr)
        with suppress(OSError):
            return server.sock.getpeername() if server is not None and server.sock is not None else None

    def _distribute(self, calls: Sequence[tuple[str, Command]]) -> deque[Link]:
        chosen: dict[str, Link] = {}
        self._results = [None] * len(calls)
        for index, (addr, request) in enumerate(calls):
            server = chosen.get(addr)
            if server is None:
                # Taken out and put back, so that the least recently used stand first.
                server = chosen[addr] = self._servers.pop(addr) if addr in self._servers else Link(addr)
                self._servers[addr] = server
            server.unsent.append((index, request))
        return deque(chosen.values())

    def _abandon(self, active: set[Link]) -> None:
        for server in self._servers.values():
            for index, _ in server.unanswered.values():
                self._end(
                    server, index, CallError(server.addr, "interrupted", "interrupted before it answered")
                )
            server.unsent.clear()
            server.unanswered.clear()
        for server in active:
            self._drop(server)

    # Connecting

    def _begin(self, server: Link, active: set[Link]) -> None:
        server.turn = monotonic()
        server.deadline = server.attempt_ends = server.turn + self._timeout
        if server.is_usable():
            self._watch(server, selectors.EVENT_READ)
            self._send(server)
            return
        self._drop(server)
        self._make_room(active)
        server.last_error = None
        try:
            host, port = split_addr(server.addr)
        except ValueError as error:
            self._fail(server, CallError(server.addr, "unresolvable", str(error)))
            return
        try:
            server.candidates = _look_up(host, port, socket.AI_NUMERICHOST)
        except OSError:
            self._resolve(server, host, port)
        else:
            self._connect(server)

    def _make_room(self, active: set[Link]) -> None:
        """Close idle connections, the least recently used first, where one more would be too many."""
        idle = [server for server in self._servers.values() if server.sock and server not in active]
        for server in idle[: max(0, len(idle) + len(active) - self._max_sockets)]:
            server.close()

    def _resolve(self, server: Link, host: str, port: int) -> None:
        """In a thread of its own, as getaddrinfo has no timeout and would hold up the others."""
        from threading import Thread

        if self._bell is None:
            self._bell = socket.socketpair()
            self._selector.register(self._bell[0], selectors.EVENT_READ)
        ring = self._bell[1]

        def run() -> None:
            try:
                found: list[SockAddr] | OSError = _look_up(host, port)
            except OSError as error:
                found = error
            self._resolved.append((server, found))
            with suppress(OSError):
                ring.send(b"\0")

        Thread(target=run, daemon=True).start()

    def _take_resolved(self, bell: socket.socket, active: set[Link]) -> None:
        bell.recv(4096)
        while self._resolved:
            server, found = self._resolved.popleft()
            if server not in active or server.sock is not None or server.is_done:
                continue
            if isinstance(found, OSError):
                reason = f"the host name does not resolve: {found.strerror}"
                self._fail(server, CallError(server.addr, "unresolvable", reason))
            else:
                server.candidates = found
                self._connect(server)

    def _connect(self, server: Link) -> None:
        """Try the next of the server's addresses, each with its share of the time that is left."""
        while server.candidates:
            now = monotonic()
            server.attempt_ends = now + (server.deadline - now) / len(server.candidates)
            family, sockaddr = server.candidates.pop(0)
            try:
                server.sock = socket.socket(family, socket.SOCK_STREAM)
                server.sock.setblocking(False)
                server.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                code = server.sock.connect_ex(sockaddr)
            except OSError as error:
                code = error.errno or ECONNREFUSED
            if code in (0, EINPROGRESS):
                self._watch(server, selectors.EVENT_WRITE)
                return
            self._drop(server)
            server.last_error = _refusal(server.addr, code)
        self._fail(server, server.last_error or CallError(server.addr, "unresolvable", "no address found"))

    def _connected(self, server: Link, sock: socket.socket) -> None:
        code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            self._drop(server)
            server.last_error = _refusal(server.addr, code)
            self._connect(server)
            return
        server.is_connected = True
        server.candidates.clear()
        if self._tls is not None:
            server.tls = self._tls.connection(split_addr(server.addr)[0])
            # Fed with nothing, it begins to talk.
            server.opened(b"")
        self._send(server)

    # Talking

    def _wait(self, active: set[Link]) -> None:
        unfinished = [server for server in active if not server.is_done]
        if not unfinished:
            return
        patience = min(server.next_deadline for server in unfinished) - monotonic()
        for key, events in self._selector.select(min(max(0.0, patience), _LONGEST)):
            server = key.data
            if server is None:
                self._take_resolved(key.fileobj, active)  # type: ignore[arg-type]
            elif server.sock is key.fileobj:
                self._step(server, key.fileobj, events)
        now = monotonic()
        for server in unfinished:
            if not server.is_done and server.next_deadline <= now:
                self._expire(server, now)

    def _step(self, server: Link, sock: Any, events: int) -> None:
        if not server.is_connected:
            self._connected(server, sock)
            return
        if events & selectors.EVENT_READ:
            self._receive(server, sock)
        if events & selectors.EVENT_WRITE and server.sock is sock:
            self._send(server)
        if server.is_done and server.sock is not None:
            self._unwatch(server)

    def _send(self, server: Link) -> None:
        """Write what the window of unanswered requests and the socket's buffer let through."""
        while server.is_ready and server.unsent and len(server.unanswered) < self._max_unanswered:
            index, request = server.unsent.popleft()
            server.unanswered[request.opaque] = (index, server.deadline)
            frame = server.connection.ask(request)
            server.put(frame)
            if self._tally is not None:
                self._tally.sent(index, len(frame))
        try:
            server.flush()
        except OSError as error:
            self._lose(server, error)
            return
        self._watch(server, selectors.EVENT_READ | (selectors.EVENT_WRITE if server.out else 0))

    def _receive(self, server: Link, sock: socket.socket) -> None:
        try:
            data = sock.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError as error:
            self._lose(server, error)
            return
        if data:
            self._hear(server, data)
        if server.sock is sock and (not data or (server.tls is not None and server.tls.is_closed)):
            self._lose(server, None)

    def _hear(self, server: Link, data: bytes) -> None:
        try:
            data = server.opened(data)
        except RocketMQError as error:
            self._distrust(server, error)
            return
        if self._tally is not None and server.connection.sizes is None:
            server.connection.sizes = []
        answers = server.connection.feed(data)
        for answer, size in zip(answers, server.connection.sizes or repeat(0), strict=False):
            if server.connection.asked(answer) is None:
                continue
            index, _ = server.unanswered.pop(answer.opaque, (None, 0.0))
            if index is not None:
                self._end(server, index, answer, size)
                # Requests that had to wait for this answer have their time from now on.
                server.deadline = monotonic() + self._timeout
        if server.connection.error is not None:
            self._fail(server, server.misunderstanding(data))
        elif server.unsent or server.out:
            self._send(server)

    def _distrust(self, server: Link, error: RocketMQError) -> None:
        """TLS has failed: the server is told, and what it had not answered yet was never carried out."""
        with suppress(OSError):
            server.flush()
        kind = "closed" if server.has_spoken else "untrusted"
        self._fail(server, CallError(server.addr, kind, str(error)))

    def _lose(self, server: Link, error: OSError | None) -> None:
        """The connection is gone; why, may still be read from what came before its end."""
        if error is not None and server.tls is not None and server.sock is not None:
            try:
                server.opened(server.sock.recv(CHUNK))
            except RocketMQError as reason:
                self._distrust(server, reason)
                return
            except OSError:
                pass
        detail = f" ({os.strerror(error.errno)})" if error is not None and error.errno else ""
        self._fail(server, server.loss(detail))

    # Ending

    def _expire(self, server: Link, now: float) -> None:
        if server.is_connected:
            self._expire_calls(server, now)
        elif server.candidates and now < server.deadline:
            self._drop(server)
            self._connect(server)
        else:
            what = "no connection" if server.sock else "host name not resolved"
            self._fail(server, self._late(server, "unconnected", what))

    def _expire_calls(self, server: Link, now: float) -> None:
        if not server.is_ready:
            self._fail(server, self._late(server, "unconnected", "no TLS handshake"))
            return
        late = [(opaque, index) for opaque, (index, ends) in server.unanswered.items() if ends <= now]
        error = self._late(server, "timeout", "no answer")
        for opaque, index in late:
            del server.unanswered[opaque]
            self._end(server, index, error)
        if not server.unanswered:
            self._fail(server, error)

    def _late(self, server: Link, kind: str, what: str) -> CallError:
        return CallError(server.addr, kind, f"{what} within {self._timeout:g} s")

    def _fail(self, server: Link, error: CallError) -> None:
        """Everything that still waits for this server gets the error; the connection is given up."""
        self._drop(server)
        for index, _ in (*server.unanswered.values(), *server.unsent):
            self._end(server, index, error)
        server.unanswered.clear()
        server.unsent.clear()

    def _end(self, server: Link, index: int, result: Command | CallError, size: int = 0) -> None:
        self._results[index] = result
        if self._tally is not None:
            self._tally.ended(index, result, size, server.turn)

    def _watch(self, server: Link, events: int) -> None:
        assert server.sock is not None
        # By number: looking for a socket in vain makes a text of it, which asks the system twice.
        known = self._selector.get_map().get(server.sock.fileno())
        if known is None:
            self._selector.register(server.sock, events, server)
        elif known.events != events:
            self._selector.modify(server.sock, events, server)

    def _unwatch(self, server: Link) -> None:
        if server.sock is not None and server.sock.fileno() in self._selector.get_map():
            self._selector.unregister(server.sock)

    def _drop(self, server: Link) -> None:
        self._unwatch(server)
        server.close()


def _refusal(addr: str, code: int) -> CallError:
    reason = "connection refused, nothing listens there" if code == ECONNREFUSED else os.strerror(code)
    return CallError(addr, "unconnected", reason)
