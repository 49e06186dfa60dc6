"""TlsTransport, TLS between the socket's transport and a stream, for which it acts as the transport.

It buffers nothing: received data is decrypted and passed on in the same call, and written data goes to the
socket in the same call. So order and flow control are those of the socket. Only handshakes, which take a
thousand times as long, go through the FairScheduler, so that many of them do not delay other connections.
"""

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import cast

from namesrv_core.transport.command_stream import CommandStream
from namesrv_core.transport.tls_server import describe_refusal, distinguished_name

_CHUNK_BYTES = 256 * 1024


class TlsTransport(asyncio.Protocol):
    """The protocol of the socket and the transport of the stream.

    `report_refusal` receives the peer's address and the reason.
    """

    def __init__(
        self,
        command_stream: CommandStream,
        socket_transport: asyncio.Transport,
        ssl_context: ssl.SSLContext,
        report_refusal: Callable[[str, str], None],
        handshake_seconds: float,
    ) -> None:
        self._command_stream = command_stream
        self._socket_transport = socket_transport
        self._report_refusal = report_refusal
        self._incoming_bio, self._outgoing_bio = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._ssl_object = ssl_context.wrap_bio(self._incoming_bio, self._outgoing_bio, server_side=True)
        self._is_ready = self._is_queued = self._is_paused = False
        self._handshake_timer = asyncio.get_running_loop().call_later(
            handshake_seconds, self._abort_late_handshake, handshake_seconds
        )
        command_stream.use_transport(cast(asyncio.Transport, self))

    def data_received(self, data: bytes) -> None:
        self._incoming_bio.write(data)
        if self._is_ready:
            self._process_incoming()
        elif not self._is_queued:
            self._is_queued = True
            self._socket_transport.pause_reading()
            self._command_stream.fair_scheduler.add_turn_taker(self)

    def take_turn(self) -> bool:
        self._is_queued = False
        if not self._socket_transport.is_closing():
            if not self._is_paused:
                self._socket_transport.resume_reading()
            self._process_incoming()
        return False

    def _process_incoming(self) -> None:
        decrypted_bytes = bytearray()
        has_ended = False
        try:
            if not self._is_ready:
                self._ssl_object.do_handshake()
                self._finish_handshake()
            while chunk := self._ssl_object.read(_CHUNK_BYTES):
                decrypted_bytes += chunk
            has_ended = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as error:
            has_ended = True
            if not decrypted_bytes:
                self._report_refusal(self._command_stream.peer_addr, describe_refusal(error))
        self._flush_outgoing()
        if decrypted_bytes:
            self._command_stream.data_received(bytes(decrypted_bytes))
        if has_ended:
            self.close()

    def _finish_handshake(self) -> None:
        self._is_ready = True
        self._handshake_timer.cancel()
        peer_certificate = self._ssl_object.getpeercert()
        self._command_stream.subject = distinguished_name(peer_certificate) if peer_certificate else None

    def _abort_late_handshake(self, handshake_seconds: float) -> None:
        self._report_refusal(
            self._command_stream.peer_addr, f"did not finish its TLS handshake within {handshake_seconds:g} s"
        )
        self._socket_transport.abort()

    def _flush_outgoing(self) -> None:
        outgoing_bytes = self._outgoing_bio.read()
        if outgoing_bytes and not self._socket_transport.is_closing():
            self._socket_transport.write(outgoing_bytes)

    def pause_writing(self) -> None:
        self._command_stream.pause_writing()

    def resume_writing(self) -> None:
        self._command_stream.resume_writing()

    def connection_lost(self, error: Exception | None) -> None:
        self._handshake_timer.cancel()
        self._command_stream.connection_lost(error)

    def write(self, data: bytes) -> None:
        """Encrypt and send data. Data written before the end of the handshake is discarded."""
        if self._is_ready:
            self._ssl_object.write(data)
            self._flush_outgoing()

    def close(self) -> None:
        if self._socket_transport.is_closing():
            return
        if self._is_ready:
            # Send close_notify without waiting for the peer's.
            with suppress(ssl.SSLError):
                self._ssl_object.unwrap()
            self._flush_outgoing()
        self._socket_transport.close()

    def abort(self) -> None:
        self._socket_transport.abort()

    def is_closing(self) -> bool:
        return self._socket_transport.is_closing()

    def is_reading(self) -> bool:
        return self._socket_transport.is_reading()

    def pause_reading(self) -> None:
        self._is_paused = True
        self._socket_transport.pause_reading()

    def resume_reading(self) -> None:
        self._is_paused = False
        if not self._is_queued:
            self._socket_transport.resume_reading()

    def get_write_buffer_size(self) -> int:
        return self._socket_transport.get_write_buffer_size()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._socket_transport.set_write_buffer_limits(high, low)
