"""A plan is laid out the same way each time, and its brokers come and go together."""

import asyncio
from collections import Counter
from pathlib import Path

from namesrv_core.fleet.fleet import (
    ORDERED_TOPIC,
    READ_ONLY_TOPIC,
    BrokerFleet,
    FleetPlan,
    build_order_confs,
    write_order_confs,
)
from namesrv_core.transport import event_loop
from tests.namesrv_core.fleet.running import ask, cluster_info, running_name_server


def test_the_plan_has_its_size() -> None:
    specs = FleetPlan().plan_brokers()
    assert len(specs) == 12
    assert Counter(spec.cluster_name for spec in specs) == {"cluster-a": 6, "cluster-b": 6}
    assert [spec.broker_id for spec in specs] == [0] * 6 + [1] * 6
    for cluster in ("cluster-a", "cluster-b"):
        topics = {c["topicName"] for s in specs if s.cluster_name == cluster for c in s.topic_configs}
        assert len([topic for topic in topics if not topic.startswith("%")]) == 40


def test_the_seed_decides() -> None:
    assert FleetPlan().plan_brokers() == FleetPlan().plan_brokers()
    assert FleetPlan().plan_brokers() != FleetPlan(seed=2).plan_brokers()


def test_topics_are_as_varied_as_in_life() -> None:
    specs = [spec for spec in FleetPlan().plan_brokers() if spec.is_master]
    homes = Counter(c["topicName"] for s in specs for c in s.topic_configs)
    assert homes["orders"] == 6
    assert 1 in homes.values()
    assert {c["perm"] for s in specs for c in s.topic_configs if c["topicName"] == READ_ONLY_TOPIC} == {4}
    assert any(name.startswith("%DLQ%") for name in homes)
    assert any(spec.groups_by_topic["orders"] for spec in specs)


def test_a_topic_has_the_same_readers_in_every_cluster() -> None:
    readers_by_topic: dict[str, set[tuple[str, ...]]] = {}
    for spec in FleetPlan().plan_brokers():
        for topic, groups in spec.groups_by_topic.items():
            readers_by_topic.setdefault(topic, set()).add(groups)
    assert {len(readers) for readers in readers_by_topic.values()} == {1}


def test_ports_follow_each_other_from_the_first_on() -> None:
    fleet = BrokerFleet(FleetPlan(clusters=1, groups=2, topics=1), [], first_port=10911)
    assert [broker._listen_place[1] for broker in fleet.brokers] == [10911, 10921, 10931, 10941]
    assert {broker._listen_place[1] for broker in BrokerFleet(FleetPlan(), []).brokers} == {0}


def test_the_order_configuration_names_every_broker_of_an_ordered_topic(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running_name_server(tmp_path) as address:
            specs = FleetPlan(clusters=2, groups=2, topics=5).plan_brokers()
            await write_order_confs(specs, [address])
            ext = {"namespace": "ORDER_TOPIC_CONFIG", "key": ORDERED_TOPIC}
            stored = (await ask(address, 101, ext)).ext
            assert stored == {"value": build_order_confs(specs)[ORDERED_TOPIC]}
            places = (stored["value"] or "").split(";")
            assert [place.partition(":")[0] for place in places] == [
                f"broker-{x}" for x in ("a-0", "a-1", "b-0", "b-1")
            ]

    event_loop.run_coroutine(asyncio.wait_for(scene(), 20))


def test_any_size_is_possible() -> None:
    specs = FleetPlan(clusters=28, groups=1, replicas=1, topics=300).plan_brokers()
    assert specs[26].cluster_name == "cluster-ba"
    assert len([c for c in specs[0].topic_configs if not c["topicName"].startswith("%")]) == 300
    assert FleetPlan(1, 1, 1, 1).plan_brokers()[0].topic_configs[0]["topicName"] == READ_ONLY_TOPIC


def test_a_fleet_comes_and_goes(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running_name_server(tmp_path) as address:
            fleet = BrokerFleet(FleetPlan(clusters=2, groups=2, replicas=2, topics=5), [address])
            await fleet.start()
            info = await cluster_info(address)
            assert sorted(info["brokerAddrTable"]) == ["broker-a-0", "broker-a-1", "broker-b-0", "broker-b-1"]
            assert all(len(group["brokerAddrs"]) == 2 for group in info["brokerAddrTable"].values())
            slaves = [broker for broker in fleet.brokers if not broker.spec.is_master]
            masters = {b.spec.broker_name: b for b in fleet.brokers if b.spec.is_master}
            for slave in slaves:
                master = masters[slave.spec.broker_name].model.topic_table
                assert slave.model.topic_table.configs == master.configs
                assert slave.model.topic_table.data_version == master.data_version
            await fleet.leave_cluster()
            assert (await cluster_info(address))["brokerAddrTable"] == {}

    event_loop.run_coroutine(asyncio.wait_for(scene(), 20))


def test_leaving_does_not_wait_for_a_name_server_that_says_nothing() -> None:
    async def scene() -> float:
        def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            silences.append(writer)
            connected.set()

        silences: list[asyncio.StreamWriter] = []
        connected = asyncio.Event()
        server = await asyncio.start_server(silent, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        fleet = BrokerFleet(FleetPlan(1, 1, 1, 1), [f"127.0.0.1:{port}"])
        starting = asyncio.ensure_future(fleet.start())
        await connected.wait()
        starting.cancel()
        before = asyncio.get_running_loop().time()
        await fleet.leave_cluster(patience_seconds=0.1)
        taken = asyncio.get_running_loop().time() - before
        server.close()
        for writer in silences:
            writer.close()
        return taken

    assert event_loop.run_coroutine(asyncio.wait_for(scene(), 20)) < 1
