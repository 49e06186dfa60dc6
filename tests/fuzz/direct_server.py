"""DirectServer: nsadmin's name server without a socket, which handles one frame after the other."""

import asyncio
from pathlib import Path

from namesrv_core.protocol import codec
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.connection import ProtocolConnection
from namesrv_core.server.name_server import NameServer
from namesrv_core.transport.command_stream import CommandStream
from tests.fuzz.conversations import Heard, Said, Talk
from tests.fuzz.server_check import Pipe
from tests.support.name_servers import make_settings

QUESTION = codec.encode_command(RemotingCommand(999, {}, opaque=424_242))
ECHOING = {3, 17, 22}
"""Codes whose remark says what was asked for, as it was understood."""


def said(answer: RemotingCommand) -> Said:
    return Said(answer.code, answer.opaque, answer.remark if answer.code in ECHOING else None)


class Near:
    """A server without a socket. Call `await hear(...)` for each frame."""

    def __init__(self, home: Path) -> None:
        self.server = NameServer(make_settings(home, maxFramesPerSecond=0))

    async def hear(self, number: int, frames: list[bytes]) -> Talk:
        """One connection: what became of each frame, up to the one that closed it or did not end.

        One that is silent by itself is followed by a question, so that there is an end to wait for.
        """
        pipe, far, heard = Pipe(), ProtocolConnection(), list[Heard]()
        stream = CommandStream(
            self.server, self.server._response_cache, self.server.connection_limits.stream_quotas
        )
        stream.connection_made(pipe)
        frames = list(frames)
        for at, frame in enumerate(frames):
            pipe.written.clear()
            await self._tell(stream, frame)
            if not (pipe.written or pipe.closed or stream.protocol_connection.unfinished_bytes):
                frames[at] += QUESTION
                await self._tell(stream, QUESTION)
            answers = far.feed_bytes(b"".join(pipe.written))
            why = (answers[-1].remark if answers else None) or ""
            is_unfinished = stream.protocol_connection.unfinished_bytes > 0
            heard.append(Heard(tuple(map(said, answers)), pipe.closed, is_unfinished, why))
            if pipe.closed or heard[-1].is_unfinished:
                break
        stream.connection_lost(None)
        return Talk(number, frames[: len(heard)], heard)

    async def _tell(self, stream: CommandStream, frame: bytes) -> None:
        stream.data_received(frame)
        while stream._is_behind and not stream._transport.is_closing():  # noqa: ASYNC110 - no event tells it
            await asyncio.sleep(0.005 if stream.rate_limiter.is_resting else 0)
        await self.server.state_persistence.finish_writes()
