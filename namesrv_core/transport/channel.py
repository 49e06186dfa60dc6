"""Channel: an outgoing connection, with requests that have a deadline, for what runs inside an event loop."""

import asyncio
from typing import TYPE_CHECKING

from namesrv_core.protocol.command import Command
from namesrv_core.transport.address import split_addr
from namesrv_core.transport.stream import Stream

if TYPE_CHECKING:
    import ssl


class Channel:
    """Connects when it is first used and again after a failure; `timeout` is in seconds, for each step.

    With `tls` it goes through that.
    """

    def __init__(self, address: str, timeout: float = 3.0, tls: "ssl.SSLContext | None" = None) -> None:
        self.address = address
        self._tls = tls
        self._timeout = timeout
        self._stream: Stream | None = None
        self._answers: dict[int, asyncio.Future[Command]] = {}
        self._connecting = asyncio.Lock()

    async def request(self, command: Command) -> Command:
        """The answer to `command`; OSError (TimeoutError is one) where none came."""
        stream = await self._connected()
        answer: asyncio.Future[Command] = asyncio.get_running_loop().create_future()
        self._answers[command.opaque] = answer
        try:
            stream.ask(command)
            async with asyncio.timeout(self._timeout):
                return await answer
        finally:
            self._answers.pop(command.opaque, None)
            stream.connection.forget(command)

    async def oneway(self, command: Command) -> None:
        """Send `command`, whose flag must say that no answer is wanted."""
        (await self._connected()).send(command)

    async def _connected(self) -> Stream:
        async with self._connecting:
            if self._stream is None:
                host, port = split_addr(self.address)
                loop = asyncio.get_running_loop()
                async with asyncio.timeout(self._timeout):
                    _, self._stream = await loop.create_connection(
                        lambda: Stream(self), host, port, ssl=self._tls
                    )
            return self._stream

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()

    def abort(self) -> None:
        """Close with a reset, as a killed process would be seen to."""
        if self._stream is not None:
            self._stream.abort()

    def opened(self, stream: Stream) -> None:
        pass

    def received(self, stream: Stream, command: Command) -> Command | None:
        if stream.connection.asked(command) is not None:
            answer = self._answers.get(command.opaque)
            if answer is not None and not answer.done():
                answer.set_result(command)
        return None

    def closed(self, stream: Stream) -> None:
        if self._stream is stream:
            self._stream = None
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(ConnectionResetError(f"{self.address} closed the connection"))
