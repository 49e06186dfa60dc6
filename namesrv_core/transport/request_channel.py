"""RequestChannel, an outgoing connection for asyncio code, whose requests have a timeout."""

import asyncio
from typing import TYPE_CHECKING

from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.address import split_addr
from namesrv_core.transport.command_stream import CommandStream

if TYPE_CHECKING:
    import ssl


class RequestChannel:
    """Connects on first use, and again after a failure. The timeout applies to each step.

    With `ssl_context` the connection uses TLS.
    """

    def __init__(
        self, server_addr: str, timeout_seconds: float = 3.0, ssl_context: "ssl.SSLContext | None" = None
    ) -> None:
        self.server_addr = server_addr
        self._context = ssl_context
        self._timeout_seconds = timeout_seconds
        self._stream: CommandStream | None = None
        self._pending: dict[int, asyncio.Future[RemotingCommand]] = {}
        self._connect_lock = asyncio.Lock()

    async def send_request(self, command: RemotingCommand) -> RemotingCommand:
        """Send a request and return its answer. Raises OSError, also as TimeoutError, if none arrives."""
        stream = await self._connect_stream()
        pending: asyncio.Future[RemotingCommand] = asyncio.get_running_loop().create_future()
        self._pending[command.opaque] = pending
        try:
            stream.send_request(command)
            async with asyncio.timeout(self._timeout_seconds):
                return await pending
        finally:
            self._pending.pop(command.opaque, None)
            stream.protocol_connection.forget_request(command)

    async def send_oneway(self, command: RemotingCommand) -> None:
        """Send a command that expects no answer. Its oneway flag must be set."""
        (await self._connect_stream()).send_command(command)

    async def _connect_stream(self) -> CommandStream:
        async with self._connect_lock:
            if self._stream is None:
                host, port = split_addr(self.server_addr)
                loop = asyncio.get_running_loop()
                async with asyncio.timeout(self._timeout_seconds):
                    _, self._stream = await loop.create_connection(
                        lambda: CommandStream(self), host, port, ssl=self._context
                    )
            return self._stream

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()

    def abort(self) -> None:
        """Close with a reset, which is what peers of a killed process see."""
        if self._stream is not None:
            self._stream.abort()

    def stream_opened(self, stream: CommandStream) -> None:
        pass

    def command_received(self, stream: CommandStream, command: RemotingCommand) -> RemotingCommand | None:
        if stream.protocol_connection.take_request(command) is not None:
            pending = self._pending.get(command.opaque)
            if pending is not None and not pending.done():
                pending.set_result(command)
        return None

    def stream_closed(self, stream: CommandStream) -> None:
        if self._stream is stream:
            self._stream = None
        for pending in self._pending.values():
            if not pending.done():
                pending.set_exception(ConnectionResetError(f"{self.server_addr} closed the connection"))
