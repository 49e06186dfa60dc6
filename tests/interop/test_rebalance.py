"""Rebalances of released brokers under checked load, on released name servers: 5.5.0, and 4.9.7.

Every message has a key, a sequence number and a hash. The clients look at routes every second.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from nsadmin import AdminClient, DrainRefused
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
from tests.interop.java_parts import WITHOUT_TIMER, JavaBroker, JavaNameServer
from tests.interop.processes import wait_for
from tests.interop.rebalancing import Event, KeyedLoad, Rebalancing, routed

FULL = os.environ.get("NSADMIN_REBALANCE") == "full"
"""The proof with larger topics, also with a broker that dies and on 4.9.7; it takes about five minutes."""
QUEUES, PAUSE_MS = (4, 15) if FULL else (2, 40)
PLAIN, ORDERED = "Plain", "Ordered"
ONE_BY_ONE = ("--max-topics", "1") if FULL else ()
PATIENT = {
    "brokerFastFailureEnable": "false", "osPageCacheBusyTimeOutMills": 60_000,
    "registerNameServerPeriod": 10_000, **WITHOUT_TIMER,
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
        wait_for("messages", lambda: load.count.ordered.sent > 100 and load.count.missing < 50)
        yield World(home, servers, brokers, load, Rebalancing(home / "state", servers), version)


@pytest.fixture(scope="module", params=[jars.NEWEST, *([jars.OLD] if FULL else [])])
def world(
    request: pytest.FixtureRequest, released: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    yield from start_world(tmp_path_factory.mktemp("rebalance"), request.param)


def even(**counts: int) -> Counts:
    return {f"broker-{name}": QueuePair(count, count) for name, count in counts.items()}


def check_load(world: World) -> None:
    """No send failed, nothing came damaged or out of sequence, and nothing is missing."""
    wait_for("the last messages", lambda: world.load.count.missing < 100, interval=0.5)
    count = world.load.count
    assert count.failures == ()
    assert (count.plain.broken, count.ordered.broken) == (0, 0)


def check_shares(world: World, topic: str, counts: Counts) -> None:
    """New messages are spread as the queues are, within 10 % of the whole."""

    def read_ends() -> dict[str, int]:
        rows = world.rebalancing.read("topicStatus", "-t", topic)
        ends = dict.fromkeys(counts, 0)
        for row in rows:
            ends[row["brokerName"]] += row["maxOffset"]
        return ends

    before = read_ends()
    wait_for("new messages", lambda: sum(read_ends().values()) > sum(before.values()) + 300, interval=0.5)
    after = read_ends()
    total = sum(after.values()) - sum(before.values())
    for broker, queues in counts.items():
        planned = queues.write / sum(pair.write for pair in counts.values())
        assert abs((after[broker] - before[broker]) / total - planned) < 0.1


BEFORE = even(a=QUEUES, b=QUEUES)
MOVED, MOVED_IN_ORDER = even(a=QUEUES, c=QUEUES), even(c=2 * QUEUES)
GROWN = even(a=QUEUES, b=QUEUES, c=QUEUES)
full = pytest.mark.skipif(not FULL, reason="set NSADMIN_REBALANCE=full, or run make rebalance-proof")


def test_a_run_that_is_killed_at_every_step_loses_nothing(world: World) -> None:
    plan = world.save_plan(
        "move",
        RebalanceMove(PLAIN, False, BEFORE, MOVED),
        RebalanceMove(ORDERED, True, BEFORE, MOVED_IN_ORDER),
    )
    events, kills = world.rebalancing.run_killed(plan, "--ordered", *ONE_BY_ONE)
    stages = {(event["topic"], event["stage"]) for event in events if event["event"] == "stageBegan"}
    expected_stages = {
        *(
            (PLAIN, stage)
            for stage in ("openReads", "openWrites", "closeWrites", "closeReads", "deleteTopic")
        ),
        *(
            (ORDERED, stage)
            for stage in ("pinOrder", "addQueues", "switchOrder", "readOn", "unpinOrder", "deleteTopic")
        ),
    }
    # A kill hides the event of a topic that enters a step in the same moment.
    assert stages == expected_stages if FULL else stages <= expected_stages
    assert kills == len(stages) > 6
    world.check_routes(PLAIN, MOVED)
    world.check_routes(ORDERED, MOVED_IN_ORDER)
    [status] = world.rebalancing.read("rebalance", "status")
    assert (status["phase"], status["movedTopics"]) == ("done", 2)
    assert '"rebalance' in (world.rebalancing.state / "audit.jsonl").read_text()
    check_shares(world, PLAIN, MOVED)
    check_load(world)


@full
def test_a_rollback_brings_everything_back_while_a_name_server_restarts(world: World) -> None:
    restarts: list[Event] = []

    def restart_name_server(event: Event) -> None:
        if event.get("stage") == "closeWrites" and not restarts:
            restarts.append(event)
            world.servers[1].kill()
            world.servers[1].start()

    code, events, said = world.rebalancing.run(
        world.home / "move.yaml", "--ordered", "--rollback", upon=restart_name_server
    )
    assert (code, events[-1]["event"], len(restarts)) == (0, "finished", 1), said
    world.check_routes(PLAIN, BEFORE)
    world.check_routes(ORDERED, BEFORE)
    check_load(world)


def test_a_script_moves_a_topic_and_moves_it_back(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a topic of its own, which nobody consumes."""
    monkeypatch.setenv("NSADMIN_STATE", str(world.home / "script"))
    monkeypatch.setenv("NSADMIN_AUDIT", str(world.home / "script-audit.jsonl"))
    create_topic(world.brokers["broker-a"].port, "Scripted", 2)
    wait_for_topic(world.servers, "Scripted")
    move = RebalanceMove("Scripted", False, even(a=2), even(c=2))
    plan = RebalancePlan("DefaultCluster", "", "queues", "", (move,), groups_to_create={})
    events: list[str] = []
    with AdminClient(";".join(server.address for server in world.servers)) as admin:
        run = partial(admin.rebalance.run_plan, plan, settle_seconds=0.3, interval_seconds=0.2)
        assert run(dry_run=True).is_done is False
        assert run(on_event=lambda event: events.append(event["event"])).is_done
        world.check_routes("Scripted", even(c=2))
        with pytest.raises(DrainRefused, match="this plan is already done"):
            run()
        assert run(rollback=True).is_done
    world.check_routes("Scripted", even(a=2))
    assert {"began", "finished"} <= set(events), events


@full
def test_a_third_broker_gets_its_share(world: World) -> None:
    plan = world.save_plan(
        "grow", RebalanceMove(PLAIN, False, BEFORE, GROWN), RebalanceMove(ORDERED, True, BEFORE, GROWN)
    )
    _, kills = world.rebalancing.run_killed(plan, "--ordered", *ONE_BY_ONE)
    assert kills == 2 + 11
    world.check_routes(PLAIN, GROWN)
    world.check_routes(ORDERED, GROWN)
    check_shares(world, PLAIN, GROWN)
    check_load(world)


@full
def test_the_first_broker_becomes_empty_and_is_stopped(world: World) -> None:
    plain_after, ordered_after = even(b=QUEUES, c=QUEUES), even(b=2 * QUEUES, c=QUEUES)
    plan = world.save_plan(
        "remove",
        RebalanceMove(PLAIN, False, GROWN, plain_after),
        RebalanceMove(ORDERED, True, GROWN, ordered_after),
    )
    code, events, said = world.rebalancing.run(plan, "--ordered")
    assert (code, events[-1]["event"]) == (0, "finished"), said
    check_shares(world, PLAIN, plain_after)
    quick = ("--settle", "3s", "--interval", "1s", "--intervals", "2", "--yes", "--force")
    drained = world.rebalancing.run_lines("drain", "broker-a", "--for-good", *quick)
    assert "safe" in [event["event"] for event in drained]
    world.brokers["broker-a"].stop()
    wait_for("messages without the broker", lambda: world.load.count.ordered.sent > 0)
    check_load(world)


@full
def test_a_broker_that_dies_in_the_middle_stops_the_run_only_until_it_is_back(world: World) -> None:
    before, after = even(b=QUEUES, c=QUEUES), even(b=QUEUES, c=2 * QUEUES)
    plan = world.save_plan("again", RebalanceMove(PLAIN, False, before, after))
    deaths: list[Event] = []

    def kill_broker(event: Event) -> None:
        if event.get("stage") == "openWrites" and not deaths:
            deaths.append(event)
            world.brokers["broker-c"].kill()
        elif deaths and len(deaths) == 1 and "broker-c to answer" in str(event.get("waiting")):
            deaths.append(event)
            world.brokers["broker-c"].start()

    code, events, said = world.rebalancing.run(plan, upon=kill_broker)
    assert (code, events[-1]["event"], len(deaths)) == (0, "finished", 2), said
    world.check_routes(PLAIN, after)
    count = world.load.finish()
    # Sends to the dead broker fail, and only those; nothing that was stored is lost.
    assert all(
        "broker-c" in failure or world.brokers["broker-c"].address in failure for failure in count.failures
    )
    assert count.missing == 0
    assert count.plain.broken == 0


@full
def test_without_the_steps_of_ordered_topics_the_load_sees_a_broken_sequence(
    released: None, tmp_path: Path
) -> None:
    """The proof can fail: the same move as if the topic was not ordered."""
    for world in start_world(tmp_path, jars.NEWEST):
        plan = world.save_plan("wrong", RebalanceMove(ORDERED, False, BEFORE, GROWN))
        code, _, said = world.rebalancing.run(plan)
        assert code == 0, said
        count = world.load.finish()
        assert (count.missing, count.plain.broken, count.failures) == (0, 0, ())
        assert count.ordered.broken > 0
