"""TlsTransport, TLS between the socket's transport and a stream, for which it acts as the transport.

It decrypts one record after the other. It passes the data of an ordinary read on in the same call, and writes
to the socket in the same call. So order and flow control are those of the socket. Handshakes, much data, and
connections that send records without data go through the FairScheduler, so that they do not delay others.
"""

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import cast

from namesrv_core.transport.command_stream import CommandStream
from namesrv_core.transport.fair_scheduler import TURN_SECONDS
from namesrv_core.transport.tls_server import describe_refusal, distinguished_name

MAX_EMPTY_RECORDS = 32
"""The most records without data, one after the other.

A client may send a KeyUpdate at any time (RFC 8446, section 4.6.3). It takes as long as several requests.
Real clients send one in many gigabytes. OpenSSL's limit for empty records is the same (MAX_EMPTY_RECORDS).
"""

_HEADER_BYTES = 5
_MAX_RECORD_BYTES = 1 << 14
_MAX_DIRECT_BYTES = 1 << 14
"""The most ciphertext that is decrypted at once, outside of turns."""


class TlsTransport(asyncio.Protocol):
    """The protocol of the socket and the transport of the stream.

    `report_refusal` receives the peer's address and the reason. `_missing_bytes` counts the bytes up to the
    end of the current record. A connection that has sent a record without data takes turns from then on.
    """

    def __init__(
        self,
        stream: CommandStream,
        socket_transport: asyncio.Transport,
        ssl_context: ssl.SSLContext,
        report_refusal: Callable[[str, str], None],
        handshake_seconds: float,
    ) -> None:
        self._stream = stream
        self._socket_transport = socket_transport
        self._report_refusal = report_refusal
        self._incoming_bio, self._outgoing_bio = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._ssl_object = ssl_context.wrap_bio(self._incoming_bio, self._outgoing_bio, server_side=True)
        self._is_ready = self._is_queued = self._is_paused = False
        self._takes_turns = self._has_ended = False
        self._unread_bytes = b""
        self._missing_bytes = self._empty_records = 0
        self._timer = asyncio.get_running_loop().call_later(
            handshake_seconds, self._abort_late_handshake, handshake_seconds
        )
        stream.use_transport(cast(asyncio.Transport, self))

    def data_received(self, data: bytes) -> None:
        self._unread_bytes = self._unread_bytes + data if self._unread_bytes else data
        if self._is_queued or self._is_paused:
            # This data arrived before the transport paused reading.
            self._stream.undecrypted_bytes = len(self._unread_bytes)
        elif self._is_ready and not self._takes_turns and len(data) <= _MAX_DIRECT_BYTES:
            self._pass_on(self._decrypt_records(None))
            if self._unread_bytes:
                self._arrange_reading()
        else:
            self._queue_up()

    def _take_turn(self) -> bool:
        self._is_queued = False
        if not self._is_paused and not self._socket_transport.is_closing():
            work_clock, limiter = self._stream.work_clock, self._stream.rate_limiter
            began = work_clock()
            plain = self._decrypt_records(began + TURN_SECONDS)
            limiter.charge_work(self._stream, work_clock() - began)
            self._pass_on(plain)
            self._arrange_reading()
        # If work is left, `_arrange_reading` has queued it already, or will when the stream resumes reading.
        return False

    def _queue_up(self) -> None:
        self._is_queued = True
        self._socket_transport.pause_reading()
        self._stream.fair_scheduler.add_work(self._take_turn)

    def _arrange_reading(self) -> None:
        """Queue up if whole records or parts of them are left. Otherwise read on."""
        unread_count = self._stream.undecrypted_bytes = len(self._unread_bytes)
        if self._socket_transport.is_closing() or self._is_paused or self._is_queued:
            return
        if unread_count >= _HEADER_BYTES or (unread_count and self._missing_bytes):
            self._queue_up()
        else:
            self._socket_transport.resume_reading()

    def _decrypt_records(self, turn_ends_at: float | None) -> bytes:
        """Decrypt unread records until the turn ends; outside of turns until one of them has no data."""
        unread, position, missing = self._unread_bytes, 0, self._missing_bytes
        parts: list[bytes] = []
        while not self._has_ended:
            data_start = position + _HEADER_BYTES
            if not missing and data_start <= len(unread):
                missing = _HEADER_BYTES + (unread[data_start - 2] << 8 | unread[data_start - 1])
            record_part = unread[position : position + missing]
            if not record_part:
                break
            position += len(record_part)
            missing -= len(record_part)
            self._incoming_bio.write(record_part)
            if not missing or not self._is_ready:
                parts.append(self._read_record())
            if self._takes_turns if turn_ends_at is None else self._stream.work_clock() > turn_ends_at:
                break
        self._unread_bytes, self._missing_bytes = unread[position:], missing
        plain = b"".join(parts)
        self._stream.byte_count += position - len(plain)
        return plain

    def _read_record(self) -> bytes:
        """The data of the record that OpenSSL has received; none if it has no data or is incomplete."""
        try:
            if self._is_ready:
                plain = self._ssl_object.read(_MAX_RECORD_BYTES)
                self._empty_records = 0
                if not plain:
                    # The peer has sent close_notify.
                    self._has_ended = True
                return plain
            self._ssl_object.do_handshake()
            self._finish_handshake()
        except ssl.SSLWantReadError:
            if self._is_ready:
                self._count_empty_record()
        except ssl.SSLError as error:
            self._end_refused(describe_refusal(error))
        return b""

    def _count_empty_record(self) -> None:
        self._takes_turns = True
        self._empty_records += 1
        if self._empty_records > MAX_EMPTY_RECORDS:
            self._end_refused(f"sent more than {MAX_EMPTY_RECORDS} TLS records without data in a row")

    def _end_refused(self, reason: str) -> None:
        self._has_ended = True
        self._report_refusal(self._stream.peer_addr, reason)

    def _pass_on(self, plain: bytes) -> None:
        self._flush_outgoing()
        if plain:
            self._stream.data_received(plain)
        if self._has_ended:
            self.close()

    def _finish_handshake(self) -> None:
        self._is_ready = True
        self._timer.cancel()
        certificate = self._ssl_object.getpeercert()
        self._stream.subject = distinguished_name(certificate) if certificate else None

    def _abort_late_handshake(self, handshake_seconds: float) -> None:
        self._report_refusal(
            self._stream.peer_addr, f"did not finish its TLS handshake within {handshake_seconds:g} s"
        )
        self._socket_transport.abort()

    def _flush_outgoing(self) -> None:
        outgoing = self._outgoing_bio.read()
        if outgoing and not self._socket_transport.is_closing():
            self._socket_transport.write(outgoing)

    def pause_writing(self) -> None:
        self._stream.pause_writing()

    def resume_writing(self) -> None:
        self._stream.resume_writing()

    def connection_lost(self, error: Exception | None) -> None:
        self._timer.cancel()
        self._unread_bytes = b""
        self._stream.connection_lost(error)

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
        self._arrange_reading()

    def get_write_buffer_size(self) -> int:
        return self._socket_transport.get_write_buffer_size()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._socket_transport.set_write_buffer_limits(high, low)
