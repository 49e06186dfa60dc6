"""A port stays ours; brokers and name servers go up, down, and freeze."""

import asyncio
import socket
from pathlib import Path

import pytest

from namesrv_core.errors import RocketMQError
from namesrv_core.fleet.fleet import FleetPlan
from namesrv_core.lab import virtual_time
from namesrv_core.lab.lab_cluster import LabCluster, ReservedPort
from namesrv_core.lab.scenario import Scenario
from namesrv_core.protocol import fastjson
from namesrv_core.protocol.codes import RequestCode
from tests.namesrv_core.fleet.running import ask, cluster_info

SMALL = Scenario("x", plan=FleetPlan(1, 1, 1, 1), namesrvs=1)


def test_a_place_is_held_and_given_back() -> None:
    place = ReservedPort("x")
    with pytest.raises(RocketMQError, match=r"x cannot listen at .*:99999"):
        ReservedPort("x", 99999)
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(("127.0.0.1", place.port))
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", place.port))
    place.release_port()
    ReservedPort("x", place.port).release_port()


def test_a_broker_and_a_name_server_freeze(tmp_path: Path) -> None:
    async def scene() -> None:
        loop = asyncio.get_running_loop()
        world = LabCluster(SMALL, tmp_path, lambda: 1_700_000_000 + loop.time())
        await world.start_all()
        seat, site = world.lab_brokers["broker-a-0:0"], world.name_servers["ns-1"]
        address = site.reserved_port.socket_addr
        assert world.can_hear("ns-1", seat)
        assert world.silent_seconds("ns-1", seat) == 0
        await asyncio.sleep(0.5)
        assert world.silent_seconds("ns-1", seat) == 0.5
        site.freeze_server()
        assert not world.can_hear("ns-1", seat)
        assert world.silent_seconds("ns-1", seat) is None
        with pytest.raises(TimeoutError):
            await ask(address, 106)
        site.thaw_server()
        assert "broker-a-0" in (await cluster_info(address))["brokerAddrTable"]
        seat.simulated_broker.freeze()
        with pytest.raises(TimeoutError):
            await ask(seat.reserved_port.socket_addr, 25)
        await asyncio.sleep(130)
        assert (await cluster_info(address))["brokerAddrTable"] == {}
        await seat.simulated_broker.thaw()
        assert "broker-a-0" in (await cluster_info(address))["brokerAddrTable"]
        await site.kill_server()
        await site.start_server()
        assert site.reserved_port.socket_addr == address
        assert (await cluster_info(address))["brokerAddrTable"] == {}
        before = seat.reserved_port.socket_addr
        await world.take_down_broker(seat, is_abrupt=True)
        world.move_broker(seat)
        await world.start_broker(seat)
        assert seat.reserved_port.socket_addr != before
        assert seat.reserved_port.socket_addr in str(await cluster_info(address))
        await world.stop_all()

    virtual_time.run_virtual(scene())


def test_a_restarted_broker_reports_when_it_started_again(tmp_path: Path) -> None:
    async def scene() -> None:
        loop = asyncio.get_running_loop()
        world = LabCluster(SMALL, tmp_path, lambda: 1_700_000_000 + loop.time())
        await world.start_all()
        seat = world.lab_brokers["broker-a-0:0"]
        await asyncio.sleep(60)
        await world.take_down_broker(seat, is_abrupt=True)
        await asyncio.sleep(20)
        await world.start_broker(seat)
        answer = await ask(seat.reserved_port.socket_addr, RequestCode.GET_BROKER_RUNTIME_INFO)
        assert fastjson.decode_json(answer.body)["table"]["bootTimestamp"] == "1700000080000"
        await world.stop_all()

    virtual_time.run_virtual(scene())
