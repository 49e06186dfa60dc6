"""Link: one server that is being asked; its socket, its TLS, what still goes to it, and who waits for it."""

import socket
from collections import deque
from typing import TYPE_CHECKING, Any

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.command import Command
from namesrv_core.protocol.connection import Connection
from namesrv_core.protocol.limits import NONE
from namesrv_core.transport.exchange import CallError

if TYPE_CHECKING:
    from namesrv_core.transport.tls import TlsConnection

CHUNK = 256 * 1024
_LIMITS = NONE._replace(frame_bytes=64 * 1024 * 1024)
"""Bytes of the largest answer: brokers with more topics than they can register still list them all."""
_TLS_ALERT = b"\x15\x03"

SockAddr = tuple[socket.AddressFamily, Any]


class Link:
    """`is_connected` says that the socket is, `is_ready` that requests may be sent over it."""

    def __init__(self, addr: str) -> None:
        self.addr = addr
        self.sock: socket.socket | None = None
        self.tls: TlsConnection | None = None
        self.connection = Connection(_LIMITS)
        self.is_connected = False
        self.has_spoken = False
        """Whether the server has said anything over this connection, TLS's own words aside."""
        self.candidates: list[SockAddr] = []
        self.last_error: CallError | None = None
        self.unsent: deque[tuple[int, Command]] = deque()
        self.unanswered: dict[int, tuple[int, float]] = {}
        self.out = bytearray()
        self.turn = 0.0
        self.deadline = 0.0
        self.attempt_ends = 0.0

    @property
    def is_ready(self) -> bool:
        return self.is_connected and (self.tls is None or self.tls.is_ready)

    @property
    def is_done(self) -> bool:
        return not self.unsent and not self.unanswered

    @property
    def next_deadline(self) -> float:
        if not self.is_connected:
            return self.attempt_ends
        return min((ends for _, ends in self.unanswered.values()), default=self.deadline)

    def is_usable(self) -> bool:
        """Whether the connection of an earlier call is still open, as far as this end can know."""
        if self.sock is None or not self.is_ready or self.connection.error is not None:
            return False
        try:
            if self.tls is None:
                return bool(self.sock.recv(1, socket.MSG_PEEK))
            while data := self.sock.recv(CHUNK):
                # Late answers, or TLS's goodbye, which is no end of the connection to a look at the socket.
                self.connection.feed(self.opened(data))
                if self.tls.is_closed or self.connection.error is not None:
                    return False
            return False
        except BlockingIOError:
            return True
        except (OSError, RocketMQError):
            return False

    def put(self, data: bytes) -> None:
        """Say this next."""
        if self.tls is None:
            self.out += data
        else:
            self.tls.write(data)
            self.out += self.tls.drain()

    def opened(self, data: bytes) -> bytes:
        """What arrived, without TLS around it; TLS may have something to send after it. TlsError."""
        if self.tls is not None:
            try:
                data = self.tls.feed(data)
            finally:
                self.out += self.tls.drain()
        self.has_spoken = self.has_spoken or bool(data)
        return data

    def flush(self) -> None:
        """Send what the socket's buffer takes. OSError."""
        assert self.sock is not None
        try:
            if self.out:
                del self.out[: self.sock.send(self.out)]
        except BlockingIOError:
            pass

    def loss(self, detail: str) -> CallError:
        """What it means that the server closed the connection; `detail` is the system's word for it."""
        if self.is_connected and not self.is_ready:
            reason = "closed the connection during the TLS handshake: perhaps it speaks no TLS"
            return CallError(self.addr, "untrusted", reason + detail)
        hint = "" if self.has_spoken or self.tls is not None else "; perhaps it demands TLS: --tls (tls)"
        return CallError(self.addr, "closed", f"closed the connection unanswered{detail}{hint}")

    def misunderstanding(self, data: bytes) -> CallError:
        """What it means that the server's bytes, `data` the first of them, are no frames."""
        error = self.connection.error
        if self.tls is None and data.startswith(_TLS_ALERT):
            return CallError(self.addr, "unreadable", "speaks TLS: ask it with --tls (tls)")
        reason = f"answered with what is no RocketMQ frame ({error.args[0] if error else ''})"
        return CallError(self.addr, "unreadable", reason)

    def close(self) -> None:
        if self.sock is not None:
            self.sock.close()
        self.sock, self.tls, self.connection = None, None, Connection(_LIMITS)
        self.is_connected = self.has_spoken = False
        self.out.clear()
