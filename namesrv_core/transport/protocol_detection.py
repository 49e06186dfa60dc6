"""Detection of TLS by the first byte of a connection, so that one port serves TLS and plain text.

Each connection waits for its own first byte, so a silent peer does not delay others.
"""

import asyncio
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, cast

from namesrv_core.errors import BadSettings
from namesrv_core.transport.command_stream import CommandStream

if TYPE_CHECKING:
    import ssl

HANDSHAKE_SECONDS = 10.0
"""The timeout of a handshake. If TLS is required, it begins when the connection is accepted."""
_HANDSHAKE_RECORD_TYPE = 0x16


class TlsPolicy:
    """How a listener uses TLS. `is_required` refuses plain text.

    `ssl_context` applies to new connections and can be replaced at any time; existing connections keep
    theirs. If it is None, `build_context` is called once. `report_refusal` receives the peer's address and
    the reason.
    """

    def __init__(
        self,
        ssl_context: "ssl.SSLContext | None" = None,
        is_required: bool = False,
        build_context: "Callable[[], ssl.SSLContext] | None" = None,
        report_refusal: Callable[[str, str], None] = lambda addr, reason: None,
    ) -> None:
        self.ssl_context = ssl_context
        self.is_required = is_required
        self.report_refusal = report_refusal
        self.handshake_count = 0
        self._build_context = build_context
        self._build_lock = Lock()
        self._unavailable_reason = (
            "requested TLS, but this server has no certificate: set tls.server.certPath"
        )

    @property
    def is_context_pending(self) -> bool:
        """Whether the context must still be built, which takes a while."""
        return self.ssl_context is None and self._build_context is not None

    def prepare_context(self) -> None:
        """Build the context if necessary, once. Safe to call in any thread."""
        with self._build_lock:
            if self.ssl_context is None and self._build_context is not None:
                try:
                    self.ssl_context = self._build_context()
                except BadSettings as error:
                    self._unavailable_reason = f"requested TLS, which is not available: {error}"
                self._build_context = None

    def current_context(self) -> "ssl.SSLContext":
        """The context of a new connection. Raises BadSettings if there is no certificate."""
        self.prepare_context()
        if self.ssl_context is None:
            raise BadSettings(self._unavailable_reason)
        return self.ssl_context


class ProtocolDetector(asyncio.Protocol):
    """The protocol of a connection until its first byte; then the stream or a TlsTransport replaces it."""

    def __init__(self, stream: CommandStream, tls_policy: TlsPolicy) -> None:
        self._stream = stream
        self._tls_policy = tls_policy
        self._timer: asyncio.TimerHandle | None = None
        self._waiting: bytearray | None = None
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transport has the interface of asyncio.Transport, but is not a subclass.
        self._transport = cast(asyncio.Transport, transport)
        self._stream.connection_made(transport)
        if self._tls_policy.is_required:
            self._timer = asyncio.get_running_loop().call_later(HANDSHAKE_SECONDS, self._refuse_silent_peer)

    def data_received(self, data: bytes) -> None:
        self._cancel_timer()
        if self._waiting is not None:
            # The stream resumed reading while the context is being built.
            self._waiting += data
        elif data[0] == _HANDSHAKE_RECORD_TYPE:
            if self._tls_policy.is_context_pending:
                self._wait_for_context(data)
            else:
                self._start_tls(data)
        elif self._tls_policy.is_required:
            self._refuse_peer("sent plain text, but this server requires TLS")
        else:
            self._transport.set_protocol(self._stream)
            self._stream.data_received(data)

    def _wait_for_context(self, received: bytes) -> None:
        """Pause only this connection while the context is built in a thread."""
        self._waiting = bytearray(received)
        self._transport.pause_reading()
        preparation = asyncio.get_running_loop().run_in_executor(None, self._tls_policy.prepare_context)
        preparation.add_done_callback(lambda _: self._resume_handshake())

    def _resume_handshake(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not self._transport.is_closing():
            self._transport.resume_reading()
            self._start_tls(bytes(waiting))

    def _start_tls(self, received: bytes) -> None:
        try:
            context = self._tls_policy.current_context()
        except BadSettings as error:
            self._refuse_peer(str(error))
            return
        # Imported late, because `ssl` costs memory and time that servers without TLS save.
        from namesrv_core.transport.tls_transport import TlsTransport

        self._tls_policy.handshake_count += 1
        transport = TlsTransport(
            self._stream, self._transport, context, self._tls_policy.report_refusal, HANDSHAKE_SECONDS
        )
        self._transport.set_protocol(transport)
        transport.data_received(received)

    def _refuse_peer(self, reason: str) -> None:
        self._tls_policy.report_refusal(self._stream.peer_addr, reason)
        self._transport.close()

    def _refuse_silent_peer(self) -> None:
        self._timer = None
        self._tls_policy.report_refusal(
            self._stream.peer_addr, f"did not start a TLS handshake within {HANDSHAKE_SECONDS:g} s"
        )
        self._transport.abort()

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def pause_writing(self) -> None:
        self._stream.pause_writing()

    def resume_writing(self) -> None:
        self._stream.resume_writing()

    def connection_lost(self, error: Exception | None) -> None:
        self._cancel_timer()
        self._stream.connection_lost(error)
