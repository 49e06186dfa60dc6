"""A complete name server without a socket, and checks of its reactions to frames.

The server answers each request with a valid code and the request's opaque, or closes the connection. No
handler fails, no client waits forever, and the memory of the server stays within its limits.
"""

import asyncio
import logging
import time
from collections import Counter
from pathlib import Path
from typing import Any, cast

from namesrv_core.errors import ProtocolError
from namesrv_core.protocol import codec
from namesrv_core.protocol.command import RemotingCommand, build_request
from namesrv_core.protocol.connection import ProtocolConnection
from namesrv_core.server.name_server import NameServer, SecondsClock
from namesrv_core.transport.command_stream import CommandStream
from tests.support.name_servers import make_settings, wait_until

LIMITS: dict[str, Any] = {
    "maxBrokers": 50, "maxTopics": 500, "maxKvBytes": 20_000, "maxKvEntryBytes": 2_000,
    "maxRegistrationBytes": 1 << 20, "maxFramesPerSecond": 0,
}  # fmt: skip
_NEVER = 20.0
CODES = {0, 1, 3, 16, 17, 22}


class Fault(AssertionError):
    """The server broke a rule."""


class Pipe(asyncio.Transport):
    """Takes what the server writes."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.closed = False

    def write(self, data: Any) -> None:
        if not self.closed:
            self.written.append(bytes(data))

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = True

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("127.0.0.1", 1) if name == "peername" else default


class Broken(logging.Handler):
    """Errors in the log: a handler that broke."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.records: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(self.format(record))


class Judge:
    """`await Judge.begin(...)`, `send` as often as wanted, `await end()`."""

    def __init__(self, home: Path, clock: SecondsClock | None = None, **more: Any) -> None:
        self.server = NameServer(make_settings(home, **LIMITS, **more), clock)
        self.broken = Broken()
        self.verdicts: Counter[str] = Counter()
        self.slowest, self.slowest_data = 0.0, b""
        logger = logging.getLogger("namesrv")
        logger.addHandler(self.broken)
        logger.setLevel(logging.ERROR)

    async def send(self, pieces: list[bytes]) -> None:
        """One connection from its beginning to its end. Fault."""
        pipe = Pipe()
        # As the listener would: with the server's allowance and its quick answers.
        stream = CommandStream(
            self.server, self.server._response_cache, self.server.connection_limits.stream_quotas
        )
        stream.connection_made(pipe)
        begun = time.perf_counter()
        for data in pieces:
            if not pipe.closed:
                stream.data_received(data)
            late = time.monotonic() + _NEVER
            while stream._is_behind and not pipe.closed:
                if time.monotonic() > late:
                    raise Fault("it never comes to an end with what was sent")
                await asyncio.sleep(0.005 if stream.rate_limiter.is_resting else 0)
        taken = time.perf_counter() - begun
        if taken > self.slowest:
            self.slowest, self.slowest_data = taken, b"".join(pieces)
        try:
            self._look(b"".join(pieces), b"".join(pipe.written), pipe.closed)
        finally:
            stream.connection_lost(None)
        # Its brokers leave in turns.
        await wait_until(lambda: not len(stream.fair_scheduler))

    def _look(self, sent: bytes, written: bytes, closed: bool) -> None:
        if self.broken.records:
            raise Fault(self.broken.records.pop())
        asked = self._asked(sent)
        far = ProtocolConnection()
        answers = far.feed_bytes(written)
        if far.error is not None or far.unfinished_bytes:
            raise Fault(f"no frames are written: {written[:200]!r}")
        for answer in answers:
            if answer.code not in CODES or not answer.is_reply:
                raise Fault(f"an odd answer: {answer}")
            if not asked[answer.opaque]:
                raise Fault(f"an answer that nobody asked for: {answer}")
            asked[answer.opaque] -= 1
            self.verdicts[f"code {answer.code}"] += 1
        self.verdicts["closed" if closed else "open"] += 1
        tables = self.server.state.tables
        if (
            len(tables.placements_by_topic) > 500
            or len(tables.live_brokers) > 50
            # Filters may outlive their broker, and a known broker may always add its own.
            or len(tables.filter_servers) > 100
            or self.server.state.kv_config.total_bytes > 20_000
            or max(map(len, (*tables.placements_by_topic, *tables.broker_groups)), default=0) > 510
        ):
            raise Fault("it keeps more than its limits allow")

    @staticmethod
    def _asked(sent: bytes) -> "Counter[int]":
        commands: list[RemotingCommand] = []
        try:
            near = ProtocolConnection(NameServerLimits)
            commands = near.feed_bytes(sent)
        except ProtocolError:
            pass
        return Counter(c.opaque for c in commands if not c.is_reply and not c.is_oneway)

    async def end(self) -> None:
        """What was to be written is; and a question is still answered. Fault."""
        await self.server.state_persistence.finish_writes()
        if self.broken.records:
            raise Fault(self.broken.records.pop())
        asked = build_request(105, {"topic": "nobody has it"})
        answer = self.server.command_received(cast(CommandStream, _Somebody()), asked)
        if not isinstance(answer, RemotingCommand) or answer.code != 17:
            raise Fault(f"a route lookup is answered {answer}")
        assert codec.encode_command(answer)
        logging.getLogger("namesrv").removeHandler(self.broken)
        logging.getLogger("namesrv").setLevel(logging.NOTSET)


class _Somebody:
    peer_addr, host, subject, channel_id = "127.0.0.1:1", "127.0.0.1", None, 0


NameServerLimits = make_settings(Path("/"), **LIMITS).build_decode_limits()
