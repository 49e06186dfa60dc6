"""Doorway: the first byte of a connection decides whether it is TLS, on one port with those that are not.

A peer that says nothing holds nobody up: each connection waits for its own first byte.
"""

import asyncio
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, cast

from namesrv_core.errors import BadSettings
from namesrv_core.transport.stream import Stream

if TYPE_CHECKING:
    import ssl

HANDSHAKE = 10.0
"""Seconds after which a handshake has failed; with TLS demanded they count from the connection on."""
_HANDSHAKE_RECORD = 0x16


class Terms:
    """How TLS is offered to those who connect: `is_demanded` refuses plain text.

    `context` is what new connections get, replaced at any time; each goes on with the one it began with.
    Where it is None `make` is asked for one, once. `refused` is told peer and reason. `begun` counts the
    handshakes.
    """

    def __init__(
        self,
        context: "ssl.SSLContext | None" = None,
        is_demanded: bool = False,
        make: "Callable[[], ssl.SSLContext] | None" = None,
        refused: Callable[[str, str], None] = lambda peer, reason: None,
    ) -> None:
        self.context = context
        self.is_demanded = is_demanded
        self.refused = refused
        self.begun = 0
        self._make = make
        self._making = Lock()
        self._why_not = "wants TLS, for which there is no certificate here: see tls.server.certPath"

    @property
    def is_to_be_made(self) -> bool:
        """Whether what a new connection gets is yet to be made, which takes a while."""
        return self.context is None and self._make is not None

    def prepare(self) -> None:
        """Make what is to be made, once, in whatever thread."""
        with self._making:
            if self.context is None and self._make is not None:
                try:
                    self.context = self._make()
                except BadSettings as error:
                    self._why_not = f"wants TLS, which cannot be had: {error}"
                self._make = None

    def current(self) -> "ssl.SSLContext":
        """What a new connection gets. BadSettings where there is no certificate to show."""
        self.prepare()
        if self.context is None:
            raise BadSettings(self._why_not)
        return self.context


class Doorway(asyncio.Protocol):
    """Stands before `stream` until the first byte has come, and then steps aside."""

    def __init__(self, stream: Stream, terms: Terms) -> None:
        self._stream = stream
        self._terms = terms
        self._timer: asyncio.TimerHandle | None = None
        self._waiting: bytearray | None = None
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transport is no subclass of asyncio.Transport, but does what one does.
        self._transport = cast(asyncio.Transport, transport)
        self._stream.connection_made(transport)
        if self._terms.is_demanded:
            self._timer = asyncio.get_running_loop().call_later(HANDSHAKE, self._silent)

    def data_received(self, data: bytes) -> None:
        self._disarm()
        if self._waiting is not None:
            # Somebody has the stream read on, although this one does not want to.
            self._waiting += data
        elif data[0] == _HANDSHAKE_RECORD:
            if self._terms.is_to_be_made:
                self._wait(data)
            else:
                self._secure(data)
        elif self._terms.is_demanded:
            self._refuse("speaks no TLS, which is demanded here")
        else:
            self._transport.set_protocol(self._stream)
            self._stream.data_received(data)

    def _wait(self, data: bytes) -> None:
        """Nobody else waits for a certificate that is being made."""
        self._waiting = bytearray(data)
        self._transport.pause_reading()
        made = asyncio.get_running_loop().run_in_executor(None, self._terms.prepare)
        made.add_done_callback(lambda _: self._go_on())

    def _go_on(self) -> None:
        data, self._waiting = self._waiting, None
        if data is not None and not self._transport.is_closing():
            self._transport.resume_reading()
            self._secure(bytes(data))

    def _secure(self, data: bytes) -> None:
        try:
            context = self._terms.current()
        except BadSettings as error:
            self._refuse(str(error))
            return
        # Late, as `ssl` costs memory and time that servers without TLS need not spend.
        from namesrv_core.transport.secured import Secured

        self._terms.begun += 1
        secured = Secured(self._stream, self._transport, context, self._terms.refused, HANDSHAKE)
        self._transport.set_protocol(secured)
        secured.data_received(data)

    def _refuse(self, reason: str) -> None:
        self._terms.refused(self._stream.peer, reason)
        self._transport.close()

    def _silent(self) -> None:
        self._timer = None
        self._terms.refused(self._stream.peer, f"began no TLS handshake within {HANDSHAKE:g} s")
        self._transport.abort()

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def pause_writing(self) -> None:
        self._stream.pause_writing()

    def resume_writing(self) -> None:
        self._stream.resume_writing()

    def connection_lost(self, error: Exception | None) -> None:
        self._disarm()
        self._stream.connection_lost(error)
