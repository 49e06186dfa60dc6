"""Chaos: a network that fails. A proxy before a server; connections are slow, swallow bytes, or break."""

import asyncio
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from tests.support.name_servers import DEADLINE

_RESET = struct.pack("ii", 1, 0)
_PAUSE = 0.001


@dataclass
class Weather:
    """`delay` is in seconds, each way; `drip` is how many bytes come at a time, 0 for all there are."""

    delay: float = 0.0
    drip: int = 0
    refuses: bool = False


class _Pair:
    """One connection, and the one that it goes on with."""

    def __init__(self, near: asyncio.StreamWriter, far: asyncio.StreamWriter) -> None:
        self.ends = near, far
        self.is_half_open = False

    def reset(self) -> None:
        for end in self.ends:
            own = end.get_extra_info("socket")
            with suppress(OSError):
                own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            end.transport.abort()


class ChaosProxy:
    """Listens at `address` and goes on to `port`; `weather` may change at any time, by any thread."""

    def __init__(self, port: int) -> None:
        self._target = port
        self.weather = Weather()
        self.connections = self.resets = 0
        self.address = ""
        self._pairs: set[_Pair] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop

    # By any thread.

    def reset_connections(self) -> None:
        """Every connection there is breaks."""
        self._do(self._reset_all)

    def half_open_connections(self) -> None:
        """From those there are, nothing comes through any more, not even their end; new ones are fine."""
        self._do(self._make_half_open)

    def heal_network(self) -> None:
        """Fine weather; what was half open breaks."""
        self.weather = Weather()
        self._do(self._end_half_open)

    def _do(self, what: Callable[[], None]) -> None:
        done = threading.Event()

        def run() -> None:
            what()
            done.set()

        self._loop.call_soon_threadsafe(run)
        assert done.wait(DEADLINE)

    # By its own thread.

    async def serve(self, ready: threading.Event, end: asyncio.Event) -> None:
        self._loop = asyncio.get_running_loop()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0, backlog=4096)
        self.address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        ready.set()
        await end.wait()
        server.close()
        self._reset_all()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _reset_all(self) -> None:
        for pair in self._pairs:
            self.resets += 1
            pair.reset()

    def _make_half_open(self) -> None:
        for pair in self._pairs:
            pair.is_half_open = True

    def _end_half_open(self) -> None:
        for pair in [pair for pair in self._pairs if pair.is_half_open]:
            pair.reset()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        if self.weather.refuses:
            writer.transport.abort()
            return
        try:
            back, onward = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.transport.abort()
            return
        pair = _Pair(writer, onward)
        self._pairs.add(pair)
        ways = (self._pass(reader, onward, pair), self._pass(back, writer, pair))
        tasks = [self._loop.create_task(way) for way in ways]
        self._tasks.update(tasks)
        try:
            await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            self._pairs.discard(pair)
            self._tasks.difference_update(tasks)
            for end in pair.ends:
                end.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, pair: _Pair) -> None:
        """One way, until it ends."""
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                if self.weather.delay:
                    await asyncio.sleep(self.weather.delay)
                at_once = self.weather.drip or len(data)
                for begin in range(0, len(data), at_once):
                    if pair.is_half_open:
                        break
                    writer.write(data[begin : begin + at_once])
                    await writer.drain()
                    if at_once < len(data):
                        await asyncio.sleep(_PAUSE)
                    # When the weather changes, the rest comes as it is now.
                    if not self.weather.drip and at_once < len(data):
                        writer.write(data[begin + at_once :])
                        break
        if not pair.is_half_open:
            writer.close()


@contextmanager
def open_chaos_proxy(port: int) -> Iterator[ChaosProxy]:
    """Before the server at this port of this machine, in a thread of its own."""
    proxy, ready, ends = ChaosProxy(port), threading.Event(), list[Callable[[], object]]()

    async def run() -> None:
        end, loop = asyncio.Event(), asyncio.get_running_loop()
        ends.append(lambda: loop.call_soon_threadsafe(end.set))
        await proxy.serve(ready, end)

    thread = threading.Thread(target=lambda: asyncio.run(run()), name="chaos", daemon=True)
    thread.start()
    assert ready.wait(DEADLINE)
    try:
        yield proxy
    finally:
        ends[0]()
        thread.join(DEADLINE)
