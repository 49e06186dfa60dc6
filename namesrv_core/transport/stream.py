"""Stream: a socket that carries commands. Flow control, activity, and who is at the other end.

What has to be said in answer to one read is written at once; while the peer does not take what is written,
nothing more is read from it.
"""

import asyncio
from typing import Protocol, cast

from namesrv_core.protocol import codec
from namesrv_core.protocol.command import Command
from namesrv_core.protocol.connection import Connection
from namesrv_core.transport.address import join_addr


class Owner(Protocol):
    """Whoever a stream belongs to."""

    def opened(self, stream: "Stream") -> None: ...

    def received(self, stream: "Stream", command: Command) -> Command | None:
        """A command came; what is returned is sent."""

    def closed(self, stream: "Stream") -> None: ...


class Stream(asyncio.Protocol):
    """One connection of `owner`. `number` is unique in this process and never used again."""

    _numbers = 0

    def __init__(self, owner: Owner) -> None:
        Stream._numbers += 1
        self.number = Stream._numbers
        self.peer = ""
        self.active_at = 0.0
        self.connection = Connection()
        self._is_held = False
        self._owner = owner
        self._transport: asyncio.Transport
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transport is no subclass of asyncio.Transport, but does what one does.
        self._transport = cast(asyncio.Transport, transport)
        self.active_at = self._loop.time()
        address = transport.get_extra_info("peername")
        if address:
            self.peer = join_addr(*address[:2])
        self._owner.opened(self)

    def data_received(self, data: bytes) -> None:
        self.active_at = self._loop.time()
        answers: list[bytes] = []
        for command in self.connection.feed(data):
            answer = self._owner.received(self, command)
            if answer is not None:
                answers += codec.parts(answer)
        if answers:
            self._transport.write(b"".join(answers))
        if self.connection.error is not None:
            self._transport.close()

    def send(self, command: Command) -> None:
        """Answer or oneway, at any time; a stream that has closed meanwhile takes it silently."""
        if not self._transport.is_closing():
            self.active_at = self._loop.time()
            self._transport.write(codec.encode(command))

    def ask(self, command: Command) -> None:
        """A request whose answer the owner receives."""
        if not self._transport.is_closing():
            self._transport.write(self.connection.ask(command))

    def pause_writing(self) -> None:
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        if not self._is_held and not self._transport.is_closing():
            self._transport.resume_reading()

    def connection_lost(self, error: Exception | None) -> None:
        self._owner.closed(self)

    def hold(self) -> None:
        """Read nothing until `release`; what the peer sends waits."""
        # Not at once: where the connection has just come about, its transport is about to begin to read.
        self._is_held = True
        self._loop.call_soon(self._hold)

    def _hold(self) -> None:
        if self._is_held and not self._transport.is_closing():
            self._transport.pause_reading()

    def release(self) -> None:
        self._is_held = False
        self.resume_writing()

    def close(self) -> None:
        self._transport.close()

    def abort(self) -> None:
        self._transport.abort()
