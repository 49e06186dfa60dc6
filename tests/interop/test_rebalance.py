"""Rebalances of released brokers under checked load, on released name servers: 5.5.0, and 4.9.7.

Every message has a key, a sequence number and a hash. The clients look at routes every second.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from nsadmin.operations.rebalance.rebalance_plan import (
    QueuePair,
    RebalanceMove,
    RebalancePlan,
    save_rebalance_plan,
)
from tests.interop import jars
from tests.interop.cluster import (
    create_topic,
    wait_for_broker,
    wait_for_runtime_info,
    wait_for_topic,
    wait_on_each,
)
from tests.interop.java_parts import JavaBroker, JavaNameServer
from tests.interop.processes import wait_for
from tests.interop.rebalancing import KeyedLoad, Rebalancing, routed

FULL = os.environ.get("NSADMIN_REBALANCE") == "full"
"""The proof with larger topics, also with a broker that dies and on 4.9.7; it takes about ten minutes."""
QUEUES, PAUSE_MS = (4, 5) if FULL else (2, 20)
PLAIN, ORDERED = "Plain", "Ordered"
PATIENT = {
    "brokerFastFailureEnable": "false", "osPageCacheBusyTimeOutMills": 60_000,
    "registerNameServerPeriod": 10_000,
}  # fmt: skip

Counts = dict[str, QueuePair]


class World(NamedTuple):
    """Two name servers, three brokers, of which the third is new, and the load."""

    home: Path
    servers: list[JavaNameServer]
    brokers: dict[str, JavaBroker]
    load: KeyedLoad
    rebalancing: Rebalancing
    version: str

    def save_plan(self, name: str, *moves: RebalanceMove) -> Path:
        path = self.home / f"{name}.yaml"
        brokers = sorted({broker for move in moves for broker in (*move.before, *move.after)})
        groups = {broker: (f"{PLAIN}-consumer", f"{ORDERED}-consumer") for broker in brokers}
        plan = RebalancePlan("DefaultCluster", "", "queues", "", moves, groups_to_create=groups)
        save_rebalance_plan(plan, path)
        return path

    def check_routes(self, topic: str, counts: Counts) -> None:
        for server in self.servers:
            assert routed(server, topic) == {broker: tuple(pair) for broker, pair in counts.items()}


def start_world(home: Path, version: str) -> Iterator[World]:
    with ExitStack() as ends, ThreadPoolExecutor() as pool:
        config = {"orderMessageEnable": "true"}
        servers = [JavaNameServer(home / f"namesrv-{at}", config, version) for at in range(2)]
        list(pool.map(lambda server: ends.enter_context(server), servers))
        addrs = [server.address for server in servers]
        brokers = {
            name: JavaBroker(home / name, addrs, name, version=version, config=PATIENT)
            for name in ("broker-a", "broker-b", "broker-c")
        }
        first_two = [brokers["broker-a"], brokers["broker-b"]]
        list(pool.map(lambda broker: ends.enter_context(broker), first_two))
        for broker in first_two:
            wait_for_broker(servers, broker.name)
            wait_for_runtime_info(broker.port)
            create_topic(broker.port, PLAIN, QUEUES)
            create_topic(broker.port, ORDERED, QUEUES)
        for topic in (PLAIN, ORDERED):
            wait_for_topic(servers, topic)
            wait_on_each(servers, topic, lambda server, topic=topic: len(routed(server, topic)) == 2)  # type: ignore[misc]
        third = pool.submit(ends.enter_context, brokers["broker-c"])
        load = ends.enter_context(KeyedLoad(home / "load", addrs, PLAIN, ORDERED, version, PAUSE_MS))
        third.result()
        wait_for_broker(servers, "broker-c")
        wait_for_runtime_info(brokers["broker-c"].port)
        wait_for("messages", lambda: load.count.ordered.sent > 100 and load.count.missing < 50, 60)
        yield World(home, servers, brokers, load, Rebalancing(home / "state", servers), version)


@pytest.fixture(scope="module", params=[jars.NEWEST, *([jars.OLD] if FULL else [])])
def world(
    request: pytest.FixtureRequest, released: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    yield from start_world(tmp_path_factory.mktemp("rebalance"), request.param)


def even(**counts: int) -> Counts:
    return {f"broker-{name}": QueuePair(count, count) for name, count in counts.items()}


def test_a_third_broker_gets_its_share_and_the_run_is_killed_at_every_step(world: World) -> None:
    before, after = even(a=QUEUES, b=QUEUES), even(a=QUEUES - 1, b=QUEUES - 1, c=2)
    grown = even(a=QUEUES, b=QUEUES, c=QUEUES)
    plan = world.save_plan(
        "scale-out", RebalanceMove(PLAIN, False, before, after), RebalanceMove(ORDERED, True, before, grown)
    )
    events, kills = world.rebalancing.run_killed(plan, "--ordered")
    stages = [event for event in events if event["event"] == "stageBegan"]
    assert kills == len({(event["topic"], event["position"]) for event in stages})
    assert events[-1]["event"] == "finished"
    world.check_routes(PLAIN, after)
    world.check_routes(ORDERED, grown)
    count = world.load.count
    assert count.failures == ()
    assert (count.plain.broken, count.ordered.broken) == (0, 0)
