"""A name server of ours in this process, and questions to it and to brokers over real sockets."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from namesrv_core.protocol import fastjson
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_request
from namesrv_core.server.name_server import NameServer
from namesrv_core.state.settings import NameServerSettings
from namesrv_core.transport.request_channel import RequestChannel


@asynccontextmanager
async def running_name_server(home: Path, port: int = 0) -> AsyncIterator[str]:
    """The address of a name server that listens while the block runs."""
    server = NameServer(
        NameServerSettings(
            listenPort=port,
            bindAddress="127.0.0.1",
            kvConfigPath=str(home / "kv.json"),
            configStorePath=str(home / "namesrv.properties"),
            unRegisterBrokerQueueCapacity=3000,
        )
    )
    await server.start()
    try:
        yield server.namesrv_addr
    finally:
        await server.stop()


async def ask(
    address: str, code: int, ext: dict[str, str] | None = None, body: bytes = b""
) -> RemotingCommand:
    channel = RequestChannel(address)
    try:
        return await channel.send_request(build_request(code, ext, body))
    finally:
        channel.close()


async def cluster_info(address: str) -> dict[str, Any]:
    info: dict[str, Any] = fastjson.decode_json(
        (await ask(address, RequestCode.GET_BROKER_CLUSTER_INFO)).body
    )
    return info


async def route(address: str, topic: str) -> dict[str, int]:
    """Permission by broker name; {} where the topic is unknown."""
    answer = await ask(address, RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": topic})
    queues = fastjson.decode_json(answer.body)["queueDatas"] if answer.code == 0 else []
    return {queue["brokerName"]: queue["perm"] for queue in queues}


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Poll; the test's own deadline ends it."""
    while not await holds():  # noqa: ASYNC110 - what it waits for happens in a peer
        await asyncio.sleep(0.01)
