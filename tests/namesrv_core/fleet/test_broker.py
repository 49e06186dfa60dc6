"""Simulated brokers against our name server, over real sockets."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path

from namesrv_core.fleet.broker import SimulatedBroker
from namesrv_core.fleet.broker_model import BrokerSpec, PeerModels
from namesrv_core.fleet.topics import make_topic_config
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.transport import event_loop
from namesrv_core.transport.address import split_addr
from tests.namesrv_core.fleet.running import ask, cluster_info, route, running_name_server, until

TOPICS = (make_topic_config("orders", 8), make_topic_config("payments", 4))
CREATE = {
    "topic": "new", "defaultTopic": "TBW102", "readQueueNums": "4", "writeQueueNums": "4", "perm": "6",
    "topicFilterType": "SINGLE_TAG", "order": "false",
}  # fmt: skip
NEVER = 3600.0


def broker(*name_servers: str, broker_id: int = 0, period: float = NEVER) -> SimulatedBroker:
    spec = BrokerSpec("c", "b", broker_id, TOPICS)
    return SimulatedBroker(spec, name_servers, heartbeat_period=period, metadata_period=0.02)


def play(scene: Coroutine[None, None, None]) -> None:
    event_loop.run_coroutine(asyncio.wait_for(scene, 20))


def test_it_registers_at_every_name_server_and_says_goodbye_to_each(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running_name_server(tmp_path) as name_server, running_name_server(tmp_path) as two:
            mine = broker(name_server, two)
            await mine.start()
            for address in (name_server, two):
                assert await route(address, "orders") == {"b": 6}
            await mine.leave_cluster()
            for address in (name_server, two):
                assert (await cluster_info(address))["brokerAddrTable"] == {}

    play(scene())


def test_a_dead_one_is_gone_at_once_and_its_port_refuses(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running_name_server(tmp_path) as address:
            mine = broker(address)
            await mine.start()
            mine.die_abruptly()

            async def gone() -> bool:
                return await route(address, "orders") == {}

            await until(gone)
            try:
                await ask(mine.broker_addr, RequestCode.GET_BROKER_RUNTIME_INFO)
            except OSError:
                return
            raise AssertionError("a dead broker answers")

    play(scene())


def test_a_new_topic_is_routed_when_the_answer_is_there(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running_name_server(tmp_path) as address:
            mine = broker(address)
            await mine.start()
            assert (await ask(mine.broker_addr, RequestCode.UPDATE_AND_CREATE_TOPIC, CREATE)).code == 0
            assert await route(address, "new") == {"b": 6}
            await mine.leave_cluster()

    play(scene())


def test_a_wipe_holds_through_registrations_and_a_new_topic_opens_only_itself(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running_name_server(tmp_path) as address:
            mine = broker(address)
            await mine.start()
            await ask(address, RequestCode.WIPE_WRITE_PERM_OF_BROKER, {"brokerName": "b"})
            await mine.register_topics()
            assert await route(address, "orders") == {"b": 4}
            await ask(mine.broker_addr, RequestCode.UPDATE_AND_CREATE_TOPIC, CREATE)
            assert (await route(address, "new"), await route(address, "orders")) == ({"b": 6}, {"b": 4})
            await mine.leave_cluster()

    play(scene())


def test_the_brokers_own_permission_reaches_the_route(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running_name_server(tmp_path) as address:
            mine = broker(address)
            await mine.start()
            for permission in (4, 6):
                text = f"brokerPermission={permission}\n".encode()
                await ask(mine.broker_addr, RequestCode.UPDATE_BROKER_CONFIG, body=text)
                assert await route(address, "orders") == {"b": permission}
            await mine.leave_cluster()

    play(scene())


def test_it_comes_back_to_a_name_server_that_was_restarted(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running_name_server(tmp_path) as address:
            mine = broker(address, period=0.02)
            await mine.start()
        _, port = split_addr(address)
        async with running_name_server(tmp_path, port):

            async def back() -> bool:
                return await route(address, "orders") == {"b": 6}

            await until(back)
            await mine.leave_cluster()

    play(scene())


def test_it_follows_the_list_of_name_servers_without_a_restart(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running_name_server(tmp_path) as one, running_name_server(tmp_path) as two:
            mine = broker(one)
            await mine.start()
            for addrs in (f"{one};{two}", "nowhere", two):
                text = f"namesrvAddr={addrs}\n".encode()
                await ask(mine.broker_addr, RequestCode.UPDATE_BROKER_CONFIG, body=text)
                await mine.register_topics()
                assert await route(two, "orders") == {"b": 6}
            # The first one forgets it in its own time.
            assert await route(one, "orders") == {"b": 6}
            await ask(two, RequestCode.WIPE_WRITE_PERM_OF_BROKER, {"brokerName": "b"})
            await ask(mine.broker_addr, RequestCode.UPDATE_AND_CREATE_TOPIC, CREATE)
            assert (await route(one, "new"), await route(two, "new")) == ({}, {"b": 6})
            await mine.leave_cluster()

    play(scene())


def test_a_slave_learns_of_its_master_and_shares_its_topics(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running_name_server(tmp_path) as address:
            slave = broker(address, broker_id=1, period=0.02)
            await slave.start()
            assert (slave.master_addr, len(slave.model.topic_table.configs)) == (None, 15)
            master = broker(address)
            await master.start()

            async def shared() -> bool:
                return slave.model.topic_table.configs == master.model.topic_table.configs

            await until(shared)
            assert slave.master_addr == master.broker_addr
            await ask(master.broker_addr, RequestCode.UPDATE_AND_CREATE_TOPIC, CREATE)
            await until(shared)
            assert "new" in slave.model.topic_table.configs
            master.model.consume_modes["new"] = {"G": {"mode": "POP"}}

            async def mode_copied() -> bool:
                return slave.model.consume_modes == master.model.consume_modes

            await until(mode_copied)
            master.die_abruptly()

            async def alone() -> bool:
                return slave.master_addr is None and await route(address, "new") == {"b": 6}

            await until(alone)
            await slave.leave_cluster()

    play(scene())


def test_it_starts_without_any_name_server() -> None:
    async def scene() -> None:
        mine = broker("127.0.0.1:1")
        await mine.start()
        assert (await ask(mine.broker_addr, RequestCode.GET_BROKER_RUNTIME_INFO)).code == 0
        await mine.leave_cluster()

    play(scene())


def test_oneway_requests_get_no_answer_and_replies_none_either(tmp_path: Path) -> None:
    async def scene() -> None:
        from namesrv_core.protocol.command import RemotingCommand, build_reply, build_request
        from namesrv_core.transport.command_stream import CommandStream

        mine = broker()
        await mine.start()
        asked = build_request(RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE, {"minBrokerId": "0"}, is_oneway=True)
        stream = CommandStream(mine)
        assert mine.command_received(stream, asked) is None
        assert mine.command_received(stream, build_reply(asked)) is None
        assert isinstance(
            mine.command_received(stream, build_request(RequestCode.GET_BROKER_CONFIG)), RemotingCommand
        )
        await mine.leave_cluster()

    play(scene())


def test_a_slave_gets_no_message_of_a_master_that_is_down(tmp_path: Path) -> None:
    now_ms, peers = 1_700_000_000_000, PeerModels()
    spec = BrokerSpec("c", "b", 0, TOPICS)

    async def scene() -> None:
        nonlocal now_ms
        async with running_name_server(tmp_path) as address:
            master, slave = (
                SimulatedBroker(
                    spec._replace(broker_id=broker_id), [address], peer_models=peers, clock_ms=lambda: now_ms
                )
                for broker_id in (0, 1)
            )
            await master.start()
            await slave.start()
            traffic = slave.model.traffic
            assert traffic.stored_count(now_ms + 60_000) > traffic.stored_count(now_ms)
            master.die_abruptly()
            assert traffic.stored_count(now_ms + 60_000) == traffic.stored_count(now_ms)
            died_at_ms, now_ms = now_ms, now_ms + 60_000
            await master.start()
            await master.follow_routes()
            assert master.model.traffic.stored_count(now_ms) == traffic.stored_count(died_at_ms)
            assert traffic.stored_count(now_ms + 60_000) > traffic.stored_count(now_ms)
            for running in (master, slave):
                await running.leave_cluster()

    play(scene())
