"""Virtual time goes on only while nobody has anything to do."""

import asyncio
import time

import pytest

from namesrv_core.lab import virtual_time
from tests.namesrv_core.fleet.running import ask


def test_a_day_passes_at_once_and_in_order() -> None:
    async def scene() -> list[tuple[float, str]]:
        loop, timeline = asyncio.get_running_loop(), []

        async def after(seconds: float, name: str) -> None:
            await asyncio.sleep(seconds)
            timeline.append((loop.time(), name))

        await asyncio.gather(after(86_400, "day"), after(0.5, "half"), after(3600, "hour"))
        return timeline

    assert virtual_time.run_virtual(scene()) == [(0.5, "half"), (3600, "hour"), (86_400, "day")]


def test_a_conversation_over_sockets_takes_no_time() -> None:
    async def scene() -> float:
        async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while data := await reader.read(100):
                writer.write(data)
            writer.close()

        server = await asyncio.start_server(echo, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        # It would be jumped to, were anybody thought idle.
        timer = asyncio.get_running_loop().call_later(1, writer.close)
        for _ in range(200):
            writer.write(b"ping")
            assert await reader.readexactly(4) == b"ping"
        taken = asyncio.get_running_loop().time()
        timer.cancel()
        server.close()
        writer.close()
        await asyncio.sleep(1)
        return taken

    assert virtual_time.run_virtual(scene()) == 0


def test_a_thread_takes_no_time() -> None:
    async def scene() -> float:
        timer = asyncio.get_running_loop().call_later(0.001, lambda: None)
        await asyncio.to_thread(time.sleep, 0.05)
        timer.cancel()
        return asyncio.get_running_loop().time()

    assert virtual_time.run_virtual(scene()) == 0


def test_a_deadline_is_met_by_a_peer_that_never_answers() -> None:
    async def scene() -> float:
        server = await asyncio.start_server(lambda _, writer: held.append(writer), "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()
        with pytest.raises(TimeoutError):
            await ask(f"{host}:{port}", 105)
        taken = asyncio.get_running_loop().time()
        server.close()
        for writer in held:
            writer.close()
        await asyncio.sleep(1)
        return taken

    held: list[asyncio.StreamWriter] = []
    assert virtual_time.run_virtual(scene()) == 3


def test_a_pace_is_kept() -> None:
    before = time.monotonic()
    virtual_time.run_virtual(asyncio.sleep(60), speed_limit=600)
    assert time.monotonic() - before >= 0.1
