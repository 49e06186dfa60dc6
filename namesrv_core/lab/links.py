"""What lies between a broker and a name server, and can be cut or slow."""

import asyncio

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command
from namesrv_core.transport.channel import Channel
from namesrv_core.transport.stream import Stream


class Link:
    """One way from a broker to a name server; `delay` is in seconds, each way.

    Nothing gets through a link that is cut, not even the end of a connection: `held` are those. `heard_at` is
    when the name server answered the last registration, by the loop's clock.
    """

    def __init__(self) -> None:
        self.is_cut = False
        self.delay = 0.0
        self.held: list[Stream] = []
        self.heard_at: float | None = None

    def drop(self) -> None:
        """Break what was held back."""
        for stream in self.held:
            stream.abort()
        self.held.clear()


class LinkedChannel(Channel):
    """A broker's connection to a name server, over a link."""

    def __init__(self, address: str, link: Link) -> None:
        super().__init__(address)
        self._link = link

    async def request(self, command: Command) -> Command:
        """As over a plain one; what a cut link swallows is a TimeoutError, and so is what comes too late."""
        delay = self._link.delay
        if self._link.is_cut:
            await asyncio.sleep(self._timeout)
            raise TimeoutError
        if delay:
            await asyncio.sleep(delay)
        answer = await super().request(command)
        if command.code == RequestCode.REGISTER_BROKER:
            self._link.heard_at = asyncio.get_running_loop().time()
        if delay:
            await asyncio.sleep(delay)
        if 2 * delay > self._timeout:
            raise TimeoutError
        return answer

    def close(self) -> None:
        if not self._is_held_back():
            super().close()

    def abort(self) -> None:
        if not self._is_held_back():
            super().abort()

    def _is_held_back(self) -> bool:
        if self._link.is_cut and self._stream is not None:
            self._link.held.append(self._stream)
            self._stream = None
            return True
        return False
