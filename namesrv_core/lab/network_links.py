"""The network links between brokers and name servers, which can be cut or slow."""

import asyncio

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.command_stream import CommandStream
from namesrv_core.transport.request_channel import RequestChannel


class NetworkLink:
    """The link from a broker to a name server. `delay` is in seconds, in each direction.

    A cut link passes nothing, not even the end of a connection: `held` has these connections. `heard_at` is
    the time of the last answered registration, by the loop's clock.
    """

    def __init__(self) -> None:
        self.is_cut = False
        self.delay_seconds = 0.0
        self.held_streams: list[CommandStream] = []
        self.heard_at_seconds: float | None = None

    def drop_held_streams(self) -> None:
        """Break the connections that ended while the link was cut."""
        for stream in self.held_streams:
            stream.abort()
        self.held_streams.clear()


class LinkedChannel(RequestChannel):
    """A broker's connection to a name server, over a link."""

    def __init__(self, namesrv_addr: str, network_link: NetworkLink) -> None:
        super().__init__(namesrv_addr)
        self._network_link = network_link

    async def send_request(self, command: RemotingCommand) -> RemotingCommand:
        """Send a request over the link. Raises TimeoutError if the link is cut or the answer is late."""
        delay_seconds = self._network_link.delay_seconds
        if self._network_link.is_cut:
            await asyncio.sleep(self._timeout_seconds)
            raise TimeoutError
        if delay_seconds:
            await asyncio.sleep(delay_seconds)
        response = await super().send_request(command)
        if command.code == RequestCode.REGISTER_BROKER:
            self._network_link.heard_at_seconds = asyncio.get_running_loop().time()
        if delay_seconds:
            await asyncio.sleep(delay_seconds)
        if 2 * delay_seconds > self._timeout_seconds:
            raise TimeoutError
        return response

    def close(self) -> None:
        if not self._is_held_back():
            super().close()

    def abort(self) -> None:
        if not self._is_held_back():
            super().abort()

    def _is_held_back(self) -> bool:
        if self._network_link.is_cut and self._stream is not None:
            self._network_link.held_streams.append(self._stream)
            self._stream = None
            return True
        return False
