"""A server that leaves: whom it sends away, and what it still does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from namesrv_core.protocol import codec
from namesrv_core.protocol.command import build_request
from namesrv_core.server.name_server import NameServer
from namesrv_core.storage import kv_file
from tests.support.name_servers import Peer, start_name_server, wait_until
from tests.support.wire import broker_ext, registration_body

GRACEFUL: dict[str, Any] = {"enableShutdownGracefully": True, "shutdownWaitTimeSeconds": 60}
BODY = registration_body(["T", "U"])
LOOKUP = {"topic": "T"}


@asynccontextmanager
async def draining(server: NameServer) -> AsyncIterator["asyncio.Future[None]"]:
    """It stops; that lasts until the end of the block at most."""
    stopping = asyncio.ensure_future(server.stop())
    await wait_until(lambda: server.unready_reason() == "stopping")
    yield stopping
    server.hurry_shutdown()
    await stopping
    server.state.settings.enableShutdownGracefully = False


async def test_whoever_understands_it_is_told_to_go_away_and_answered_when_he_comes_back(
    tmp_path: Path,
) -> None:
    async with start_name_server(tmp_path, **GRACEFUL) as server, Peer.connect(server.namesrv_addr) as peer:
        await peer.send_request(103, broker_ext("a", 0, "127.0.0.1:1"), BODY)
        async with Peer.connect(server.namesrv_addr) as client:
            await client.send_request(105, LOOKUP)
            async with draining(server):
                answer = await client.send_request(105, LOOKUP)
                assert (answer.code, answer.remark) == (1500, "please go away")
                assert (await client.send_request(105, LOOKUP, version=476)).code == 1500
                client.send(codec.encode_command(build_request(105, LOOKUP, is_oneway=True)))
                async with Peer.connect(server.namesrv_addr) as again:
                    assert (await again.send_request(105, LOOKUP)).code == 0
                    assert await again.is_closed()
                assert server.counters.go_away_count == 3
                assert await client.is_closed()


async def test_older_clients_are_answered_and_find_their_connection_closed(tmp_path: Path) -> None:
    async with (
        start_name_server(tmp_path, **GRACEFUL) as server,
        Peer.connect(server.namesrv_addr) as broker,
        Peer.connect(server.namesrv_addr) as client,
    ):
        await broker.send_request(103, broker_ext("a", 0, "127.0.0.1:1"), BODY)
        async with draining(server):
            assert (await client.send_request(105, LOOKUP, version=475)).code == 0
            assert await client.is_closed()


async def test_brokers_are_listened_to_until_the_end(tmp_path: Path) -> None:
    async with start_name_server(tmp_path, **GRACEFUL) as server, Peer.connect(server.namesrv_addr) as broker:
        await broker.send_request(103, broker_ext("a", 0, "127.0.0.1:1"), BODY)
        async with draining(server):
            for _ in range(2):
                assert (await broker.send_request(103, broker_ext("a", 0, "127.0.0.1:1"), BODY)).code == 0
                assert (await broker.send_request(105, LOOKUP)).code == 0
            async with Peer.connect(server.namesrv_addr) as fresh:
                assert (await fresh.send_request(103, broker_ext("b", 0, "127.0.0.1:2"), BODY)).code == 0
                assert (await fresh.send_request(106)).code == 0
                assert (await fresh.send_request(104, broker_ext("b", 0, "127.0.0.1:2"))).code == 0
            assert list(server.state.tables.broker_groups) == ["a"]
        assert await broker.is_closed()


async def test_what_is_asked_to_be_kept_is_kept_and_answered(tmp_path: Path) -> None:
    async with start_name_server(tmp_path, **GRACEFUL) as server:
        async with draining(server), Peer.connect(server.namesrv_addr) as admin:
            assert (await admin.send_request(100, {"namespace": "n", "key": "k", "value": "v"})).code == 0
        assert kv_file.load_kv_tables(tmp_path / "kvConfig.json") == {"n": {"k": "v"}}


async def test_it_lasts_as_long_as_the_settings_want(tmp_path: Path) -> None:
    async with start_name_server(tmp_path, **(GRACEFUL | {"shutdownWaitTimeSeconds": 1})) as server:
        begun = asyncio.get_running_loop().time()
        await server.stop()
        assert asyncio.get_running_loop().time() - begun > 0.9
        assert server.shutdown_wait_seconds == 1
        server.state.settings.enableShutdownGracefully = False
        assert server.shutdown_wait_seconds == 0
        server.hurry_shutdown()
