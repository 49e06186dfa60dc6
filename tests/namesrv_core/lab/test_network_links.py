"""Nothing gets over a link that is cut, and all comes late over one that is slow."""

import asyncio
from pathlib import Path

import pytest

from namesrv_core.lab import virtual_time
from namesrv_core.lab.network_links import LinkedChannel, NetworkLink
from namesrv_core.protocol.command import build_request
from tests.namesrv_core.fleet.running import running_name_server

CLUSTER_INFO = 106


async def seconds(channel: LinkedChannel) -> float:
    loop = asyncio.get_running_loop()
    before = loop.time()
    await channel.send_request(build_request(CLUSTER_INFO, {}))
    return loop.time() - before


def test_a_link(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running_name_server(tmp_path) as address:
            link = NetworkLink()
            channel = LinkedChannel(address, link)
            assert await seconds(channel) == 0
            link.delay_seconds = 1
            assert await seconds(channel) == 2
            link.delay_seconds = 2
            with pytest.raises(TimeoutError):
                await seconds(channel)
            link.delay_seconds, link.is_cut = 0, True
            with pytest.raises(TimeoutError):
                await seconds(channel)
            channel.abort()
            assert len(link.held_streams) == 1
            link.is_cut = False
            link.drop_held_streams()
            assert await seconds(channel) == 0
            channel.close()
            await asyncio.sleep(1)

    virtual_time.run_virtual(scene())
