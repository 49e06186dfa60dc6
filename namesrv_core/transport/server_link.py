"""ServerLink, MultiplexedClient's connection to one server: its socket, TLS state and pending requests."""

import os
import socket
from collections import deque
from errno import ECONNREFUSED
from typing import TYPE_CHECKING, Any

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.connection import ProtocolConnection
from namesrv_core.protocol.size_limits import NO_LIMITS
from namesrv_core.transport.exchange import CallError

if TYPE_CHECKING:
    from namesrv_core.transport.tls_client import TlsConnection

CHUNK_BYTES = 256 * 1024
_DECODE_LIMITS = NO_LIMITS._replace(frame_bytes=64 * 1024 * 1024)
"""Limits of answers. The frame limit is large, because a broker can list more topics than it can register."""
_TLS_ALERT = b"\x15\x03"

SocketAddress = tuple[socket.AddressFamily, Any]


class ServerLink:
    """A connection to a server. `is_connected` refers to the socket, `is_ready` also to the TLS handshake."""

    def __init__(self, server_addr: str) -> None:
        self.server_addr = server_addr
        self.tcp_socket: socket.socket | None = None
        self.tls_connection: TlsConnection | None = None
        self.protocol_connection = ProtocolConnection(_DECODE_LIMITS)
        self.is_connected = False
        self.has_spoken = False
        """Whether the server has sent any data over this connection, apart from the TLS handshake."""
        self.candidate_addrs: list[SocketAddress] = []
        self.last_error: CallError | None = None
        self.unsent_requests: deque[tuple[int, RemotingCommand]] = deque()
        self.unanswered_requests: dict[int, tuple[int, float]] = {}
        self.queued_bytes = bytearray()
        self.turn_began_at = 0.0
        self.deadline = 0.0
        self.attempt_ends_at = 0.0

    @property
    def is_ready(self) -> bool:
        return self.is_connected and (self.tls_connection is None or self.tls_connection.is_ready)

    @property
    def is_done(self) -> bool:
        return not self.unsent_requests and not self.unanswered_requests

    @property
    def next_deadline(self) -> float:
        if not self.is_connected:
            return self.attempt_ends_at
        return min((deadline for _, deadline in self.unanswered_requests.values()), default=self.deadline)

    def begin_turn(self, now: float, timeout_seconds: float) -> None:
        """Start the time limit of the queued requests."""
        self.turn_began_at = now
        self.deadline = self.attempt_ends_at = now + timeout_seconds

    def is_usable(self) -> bool:
        """Whether the connection of an earlier request is still open, as far as this end knows."""
        if self.tcp_socket is None or not self.is_ready or self.protocol_connection.error is not None:
            return False
        try:
            if self.tls_connection is None:
                return bool(self.tcp_socket.recv(1, socket.MSG_PEEK))
            while received := self.tcp_socket.recv(CHUNK_BYTES):
                # Late answers, or TLS's close_notify, after which the socket itself can still look open.
                self.protocol_connection.feed_bytes(self.decrypt_received(received))
                if self.tls_connection.is_closed or self.protocol_connection.error is not None:
                    return False
            return False
        except BlockingIOError:
            return True
        except (OSError, RocketMQError):
            return False

    def queue_bytes(self, frame_bytes: bytes) -> None:
        if self.tls_connection is None:
            self.queued_bytes += frame_bytes
        else:
            self.tls_connection.write_bytes(frame_bytes)
            self.queued_bytes += self.tls_connection.drain_outgoing()

    def decrypt_received(self, received: bytes) -> bytes:
        """Decrypt received bytes; TLS may queue a response. Raises TlsError."""
        if self.tls_connection is not None:
            try:
                received = self.tls_connection.feed_bytes(received)
            finally:
                self.queued_bytes += self.tls_connection.drain_outgoing()
        self.has_spoken = self.has_spoken or bool(received)
        return received

    def flush_queued(self) -> None:
        """Send as many bytes as the socket's buffer accepts. Raises OSError."""
        assert self.tcp_socket is not None
        try:
            if self.queued_bytes:
                del self.queued_bytes[: self.tcp_socket.send(self.queued_bytes)]
        except BlockingIOError:
            pass

    def build_connect_error(self, errno: int) -> CallError:
        reason = (
            "connection refused, no server listens on this port"
            if errno == ECONNREFUSED
            else os.strerror(errno)
        )
        return CallError(self.server_addr, "unconnected", reason)

    def build_loss_error(self, detail: str) -> CallError:
        """Build the error for a connection that the server closed. `detail` is the system's message."""
        if self.is_connected and not self.is_ready:
            reason = "closed the connection during the TLS handshake; if it does not use TLS, omit --tls"
            return CallError(self.server_addr, "untrusted", reason + detail)
        hint = (
            ""
            if self.has_spoken or self.tls_connection is not None
            else "; if the server requires TLS, use --tls"
        )
        return CallError(self.server_addr, "closed", f"closed the connection without an answer{detail}{hint}")

    def build_unreadable_error(self, received: bytes) -> CallError:
        """Build the error for received bytes that are not RocketMQ frames."""
        error = self.protocol_connection.error
        if self.tls_connection is None and received.startswith(_TLS_ALERT):
            return CallError(self.server_addr, "unreadable", "uses TLS: add --tls")
        reason = f"sent data that is not a RocketMQ frame ({error.args[0] if error else ''})"
        return CallError(self.server_addr, "unreadable", reason)

    def close(self) -> None:
        if self.tcp_socket is not None:
            self.tcp_socket.close()
        self.tcp_socket, self.tls_connection, self.protocol_connection = (
            None,
            None,
            ProtocolConnection(_DECODE_LIMITS),
        )
        self.is_connected = self.has_spoken = False
        self.queued_bytes.clear()
