"""Secured: TLS between a socket's transport and a stream, which takes it for its transport.

It holds nothing back: what arrives is deciphered and handed on in the same call, what is written goes to the
socket in the same call, so that order and flow control are those of the socket. Only handshakes, which take
a thousand times as long, take turns: a flood of them holds nobody up.
"""

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import cast

from namesrv_core.transport.stream import Stream
from namesrv_core.transport.tls_server import distinguished_name, refusal

_CHUNK = 256 * 1024


class Secured(asyncio.Protocol):
    """The protocol of `socket`, and the transport of `stream`; `refused` is told peer and reason."""

    def __init__(
        self,
        stream: Stream,
        socket: asyncio.Transport,
        context: ssl.SSLContext,
        refused: Callable[[str, str], None],
        patience: float,
    ) -> None:
        self._stream = stream
        self._socket = socket
        self._refused = refused
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._is_ready = self._is_queued = self._is_paused = False
        self._timer = asyncio.get_running_loop().call_later(patience, self._late, patience)
        stream.go_through(cast(asyncio.Transport, self))

    def data_received(self, data: bytes) -> None:
        self._incoming.write(data)
        if self._is_ready:
            self._go_on()
        elif not self._is_queued:
            self._is_queued = True
            self._socket.pause_reading()
            self._stream.turns.add(self)

    def take_turn(self) -> bool:
        self._is_queued = False
        if not self._socket.is_closing():
            if not self._is_paused:
                self._socket.resume_reading()
            self._go_on()
        return False

    def _go_on(self) -> None:
        said = bytearray()
        is_over = False
        try:
            if not self._is_ready:
                self._tls.do_handshake()
                self._ready()
            while chunk := self._tls.read(_CHUNK):
                said += chunk
            is_over = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as error:
            is_over = True
            if not said:
                self._refused(self._stream.peer, refusal(error))
        self._flush()
        if said:
            self._stream.data_received(bytes(said))
        if is_over:
            self.close()

    def _ready(self) -> None:
        self._is_ready = True
        self._timer.cancel()
        shown = self._tls.getpeercert()
        self._stream.subject = distinguished_name(shown) if shown else None

    def _late(self, patience: float) -> None:
        self._refused(self._stream.peer, f"did not finish its TLS handshake within {patience:g} s")
        self._socket.abort()

    def _flush(self) -> None:
        data = self._outgoing.read()
        if data and not self._socket.is_closing():
            self._socket.write(data)

    def pause_writing(self) -> None:
        self._stream.pause_writing()

    def resume_writing(self) -> None:
        self._stream.resume_writing()

    def connection_lost(self, error: Exception | None) -> None:
        self._timer.cancel()
        self._stream.connection_lost(error)

    def write(self, data: bytes) -> None:
        """What was asked before the handshake was done has nobody yet to go to."""
        if self._is_ready:
            self._tls.write(data)
            self._flush()

    def close(self) -> None:
        if self._socket.is_closing():
            return
        if self._is_ready:
            # It says goodbye and does not wait for the peer's.
            with suppress(ssl.SSLError):
                self._tls.unwrap()
            self._flush()
        self._socket.close()

    def abort(self) -> None:
        self._socket.abort()

    def is_closing(self) -> bool:
        return self._socket.is_closing()

    def is_reading(self) -> bool:
        return self._socket.is_reading()

    def pause_reading(self) -> None:
        self._is_paused = True
        self._socket.pause_reading()

    def resume_reading(self) -> None:
        self._is_paused = False
        if not self._is_queued:
            self._socket.resume_reading()

    def get_write_buffer_size(self) -> int:
        return self._socket.get_write_buffer_size()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._socket.set_write_buffer_limits(high, low)
