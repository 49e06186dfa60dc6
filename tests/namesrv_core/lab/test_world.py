"""A port stays ours; brokers and name servers go up, down, and freeze."""

import asyncio
import socket
from pathlib import Path

import pytest

from namesrv_core.errors import RocketMQError
from namesrv_core.fleet.fleet import FleetPlan
from namesrv_core.lab import virtual_time
from namesrv_core.lab.scenario import Scenario
from namesrv_core.lab.world import Place, World
from tests.namesrv_core.fleet.running import ask, cluster_info

SMALL = Scenario("x", plan=FleetPlan(1, 1, 1, 1), namesrvs=1)


def test_a_place_is_held_and_given_back() -> None:
    place = Place("x")
    with pytest.raises(RocketMQError, match=r"x cannot listen at .*:99999"):
        Place("x", 99999)
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(("127.0.0.1", place.port))
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", place.port))
    place.close()
    Place("x", place.port).close()


def test_a_broker_and_a_name_server_freeze(tmp_path: Path) -> None:
    async def scene() -> None:
        loop = asyncio.get_running_loop()
        world = World(SMALL, tmp_path, lambda: 1_700_000_000 + loop.time())
        await world.start()
        seat, site = world.seats["broker-a-0:0"], world.sites["ns-1"]
        address = site.place.address
        assert world.hears("ns-1", seat)
        assert world.silence("ns-1", seat) == 0
        await asyncio.sleep(0.5)
        assert world.silence("ns-1", seat) == 0.5
        site.freeze()
        assert not world.hears("ns-1", seat)
        assert world.silence("ns-1", seat) is None
        with pytest.raises(TimeoutError):
            await ask(address, 106)
        site.thaw()
        assert "broker-a-0" in (await cluster_info(address))["brokerAddrTable"]
        seat.broker.freeze()
        with pytest.raises(TimeoutError):
            await ask(seat.place.address, 25)
        await asyncio.sleep(130)
        assert (await cluster_info(address))["brokerAddrTable"] == {}
        await seat.broker.thaw()
        assert "broker-a-0" in (await cluster_info(address))["brokerAddrTable"]
        await site.die()
        await site.start()
        assert site.place.address == address
        assert (await cluster_info(address))["brokerAddrTable"] == {}
        before = seat.place.address
        await world.down(seat, abruptly=True)
        world.move(seat)
        await world.up(seat)
        assert seat.place.address != before
        assert seat.place.address in str(await cluster_info(address))
        await world.stop()

    virtual_time.run_virtual(scene())
