"""Drains of released brokers under load, on released name servers: 5.5.0 with 5.5.0, and 4.9.7 with 4.9.7.

The clients look at routes every second, and the drain is told so; what is measured is what clients saw.
"""

import json
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from nsadmin import AdminClient, CheckState
from tests.interop import jars, wire
from tests.interop.cluster import create_topic, wait_for_broker, wait_for_registration, wait_for_runtime_info
from tests.interop.draining import QUICK, Draining, Load, Ordered, named, queues
from tests.interop.java_parts import WITHOUT_TIMER, JavaBroker, JavaNameServer
from tests.interop.processes import wait_for

TOPIC, READ_ONLY, RETRY = "Loaded", "ReadOnly", "%RETRY%Loaded-consumer"
# What a broker says, that may not be written to, to clients that have not looked at routes since.
NO_PERMISSION = "16"
# Brokers refuse messages that waited 200 ms, or while their disk is slow: the machine's failure, drain or
# no drain. These let them wait, so that each failure that is seen is the drain's, and counts.
# They register every 10 s, the shortest period that brokers accept.
PATIENT = {
    "brokerFastFailureEnable": "false", "osPageCacheBusyTimeOutMills": 60_000,
    "registerNameServerPeriod": 10_000, **WITHOUT_TIMER,
}  # fmt: skip
MADE_LATE = "RMQ_SYS_TRANS_HALF_TOPIC"


class World(NamedTuple):
    """Two name servers, two brokers, perhaps slaves of broker-b, a load; broker-a is drained."""

    servers: list[JavaNameServer]
    broker: JavaBroker
    other: JavaBroker
    load: Load
    drain: Draining
    slaves: list[JavaBroker]

    @property
    def queues(self) -> list[dict[str, dict[str, Any]]]:
        return [queues(server, self.broker.name) for server in self.servers]

    def wait_for_writes(self) -> None:
        """Until the producer writes to the broker, which it does to every other queue."""
        begun = self.puts()
        wait_for("messages on the broker", lambda: self.puts() > begun + 20, interval=0.5)

    def puts(self) -> int:
        words = ("brokerStatus", "-b", self.broker.address, "--filter", "key=msgPutTotalTodayNow")
        result = self.drain("--timeout", "10", *words)
        assert result.code == 0, result.err
        return int(result.rows[0]["value"])


def world(home: Path, version: str, slaves: int = 0) -> Iterator[World]:
    with ExitStack() as ends, ThreadPoolExecutor() as pool:
        servers = [JavaNameServer(home / f"namesrv-{at}", version=version) for at in range(2)]
        list(pool.map(lambda server: ends.enter_context(server), servers))
        addrs = [server.address for server in servers]
        brokers = [
            JavaBroker(home / name, addrs, name, version=version, config=PATIENT)
            for name in ("broker-a", "broker-b")
        ]
        more = [
            JavaBroker(home / "slave", addrs, "broker-b", broker_id=at + 1, config=WITHOUT_TIMER)
            for at in range(slaves)
        ]
        list(pool.map(lambda broker: ends.enter_context(broker), [*brokers, *more]))
        for broker in brokers:
            wait_for_registration(servers, broker)
            wait_for_runtime_info(broker.port)
            create_topic(broker.port, TOPIC)
            create_topic(broker.port, READ_ONLY, perm=4)
        for server in servers:
            wait_for("topics", lambda server=server: TOPIC in queues(server, "broker-a"))  # type: ignore[misc]
        load = ends.enter_context(Load(home / "load", addrs, TOPIC, version))
        # Its consumer makes a topic on each broker when it first tells of itself.
        for server in servers:
            wait_for("the group", lambda server=server: RETRY in queues(server, "broker-a"))  # type: ignore[misc]
        yield World(
            servers, brokers[0], brokers[1], load, Draining(home / "state", servers, "broker-a"), more
        )


@pytest.fixture(scope="module")
def newest(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    yield from world(tmp_path_factory.mktemp("drain"), jars.NEWEST, slaves=1)


@pytest.fixture(scope="module")
def old(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    yield from world(tmp_path_factory.mktemp("drain-old"), jars.OLD)


def differing(before: dict[str, Any], now: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What is otherwise, by topic; brokers of 4.9 make a topic of their own in their first minutes."""
    names = (before.keys() | now.keys()) - ({MADE_LATE} - before.keys())
    return {name: (before.get(name), now.get(name)) for name in names if before.get(name) != now.get(name)}


def drained_stopped_and_started(world: World) -> None:
    """The whole of it: drained under load, reopened in the middle, stopped, started, undrained."""
    world.wait_for_writes()
    before = world.queues
    assert {topic: queue["perm"] for topic, queue in before[0].items()}.items() >= {
        TOPIC: 6, READ_ONLY: 4, "TBW102": 7,
    }.items()  # fmt: skip
    created = f"Created{time.time_ns()}"

    def upon(event: dict[str, Any]) -> None:
        if event["event"] == "closed" and created not in world.queues[0]:
            # A drain does not close a topic that no other broker has.
            for broker in (world.other, world.broker):
                create_topic(broker.port, created)

    code, events, said = world.drain.run(upon=upon)
    assert (code, [line for line in said.splitlines() if "unread message" not in line]) == (0, [])
    assert {tuple(event["topics"]) for event in named(events, "reopened")} == {(created,)}
    assert {event["cause"] for event in named(events, "reopened")} == {"created during the drain"}
    [safe] = named(events, "safe")
    assert safe["unknown"] == []
    assert [event["puts"] for event in named(events, "progress")][-1] == 0
    assert not any(queue["perm"] & 2 for table in world.queues for queue in table.values())
    at_safe = world.load.counts
    world.broker.stop()
    after_stop = world.load.counts
    assert after_stop.sent > at_safe.sent
    assert after_stop.failures == ()

    world.broker.start()
    wait_for_registration(world.servers, world.broker)
    wait_for_runtime_info(world.broker.port)
    undone = world.drain("undrain", "broker-a")
    assert (undone.code, [row["result"] for row in undone.rows]) == (0, ["unchanged"] * 2), undone
    restored = world.queues
    for table in restored:
        assert table.pop(created)["perm"] == 6
    assert [differing(was, now) for was, now in zip(before, restored, strict=True)] == [{}] * 2
    world.wait_for_writes()
    assert world.load.counts.failures == ()


def drained_for_good(world: World, *args: str) -> list[dict[str, Any]]:
    """Drained while its consumer reads nothing, which reads again when all else is done."""
    waiting = []

    def upon(event: dict[str, Any]) -> None:
        if event["event"] == "progress" and event["waitingFor"] == ["consumers to read all messages"]:
            waiting.append(event)
            if len(waiting) == 2:
                world.load.order("resume")

    world.wait_for_writes()
    world.load.order("suspend")
    world.wait_for_writes()
    code, events, said = world.drain.run("--force", "--for-good", *args, upon=upon)
    assert (code, said, [event["event"] for event in events[-2:]]) == (0, "", ["safe", "holdEnded"])
    assert all(event["lag"] > 0 and event["groupsBehind"] == 1 for event in waiting[:2])
    assert len(waiting) >= 2
    assert [event["lag"] for event in named(events, "progress")][-1] == 0
    return events


def test_newest_under_load(newest: World) -> None:
    drained_stopped_and_started(newest)


def test_newest_killed_in_each_phase(newest: World) -> None:
    before = newest.queues
    phases = ("snapshotTaken", "wiped", "closed", "settle", "wait")
    for number in range(len(phases)):
        # On a busy machine, a drain gets further before it is killed.
        newest.drain.killed_upon(*phases[number:])
    [row, _] = newest.drain("drainStatus").rows
    assert (row["brokerName"], row["openTopics"], row["pid"]) == ("broker-a", 0, None)
    code, events, _ = newest.drain.run("--force")
    assert (code, events[0]["resumed"], len(named(events, "safe"))) == (0, "wait", 1)
    assert named(events, "snapshotTaken") == named(events, "reopened") == []
    assert newest.drain("undrain", "broker-a").code == 0
    assert newest.queues == before


def tell_of_orderly_consumer(broker: JavaBroker, topic: str) -> None:
    """A heartbeat of a consumer: its retry topic gets the flag `order` of the topic that it reads."""
    subscription = {
        "topic": topic, "subString": "*", "subVersion": 1, "classFilterMode": False, "tagsSet": [],
        "codeSet": [], "expressionType": "TAG",
    }  # fmt: skip
    consumer = {
        "groupName": "Flipping", "consumeType": "CONSUME_PASSIVELY", "messageModel": "CLUSTERING",
        "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET", "subscriptionDataSet": [subscription],
        "unitMode": False,
    }  # fmt: skip
    heartbeat = {"clientID": "10.0.0.9@flipping", "consumerDataSet": [consumer], "producerDataSet": []}
    with closing(wire.Connection(broker.port)) as connection:
        connection.send(wire.frame(wire.json_header(34, {}, 1), json.dumps(heartbeat).encode()))
        # The broker may first send a request of its own: NOTIFY_CONSUMER_IDS_CHANGED.
        answers = iter(connection.receive, None)
        assert next(answer.code for answer in answers if answer.flag & 1) == 0


def test_newest_says_that_a_consumer_flipped_the_order_of_its_retry_topic(newest: World) -> None:
    where = ("-b", newest.broker.address, "--yes")
    assert newest.drain("updateTopic", "Sequenced", "-o", "true", *where).code == 0
    tell_of_orderly_consumer(newest.broker, TOPIC)
    retry = "%RETRY%Flipping"
    for server in newest.servers:
        wait_for("the retry topic", lambda server=server: retry in queues(server, "broker-a"))  # type: ignore[misc]
    causes: list[str] = []

    def upon(event: dict[str, Any]) -> None:
        if event["event"] == "safe" and not causes:
            tell_of_orderly_consumer(newest.broker, "Sequenced")
        if event["event"] == "reopened":
            causes.append(event["cause"])
            child.terminate()

    with newest.drain.start("--force", "--hold") as child:
        for _ in newest.drain.events(child, upon):
            pass
    assert causes[0] == (f"the broker registered all its topics after a change: {retry} order false -> true")
    assert newest.drain("undrain", "broker-a").code == 0


def test_newest_wiped_is_undone_by_a_broker_that_registers_anew(newest: World) -> None:
    """The way of 4.9 does the same on 5.5: the broker is told the permission that it has."""
    from nsadmin import AdminClient

    before = newest.queues
    assert newest.drain("wipeWritePerm", "broker-a").code == 0
    assert newest.queues != before
    with AdminClient(newest.servers[0].address) as admin:
        assert admin.broker_configs.force_registration(newest.broker.address).result == "6"
    wait_for("what was before", lambda: newest.queues == before)


def test_newest_durable_through_the_broker(newest: World) -> None:
    before = newest.queues
    events = drained_for_good(newest, "--durable")
    assert [(event["before"], event["after"]) for event in named(events, "permissionSet")] == [(6, 4)]
    assert not any(queue["perm"] & 2 for table in newest.queues for queue in table.values())
    refused = newest.load.counts.failures
    assert {failure.split()[4] for failure in refused} <= {NO_PERMISSION}
    assert newest.drain("undrain", "broker-a").code == 0
    assert newest.queues == before
    assert newest.load.counts.failures == refused


def test_newest_drained_by_a_script(newest: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NSADMIN_STATE", str(tmp_path))
    newest.wait_for_writes()
    before = newest.queues
    held: list[tuple[str, set[int]]] = []

    def stop_broker(addr: str) -> None:
        held.append((addr, {queue["perm"] & 2 for server in newest.queues for queue in server.values()}))

    with AdminClient([server.address for server in newest.servers]) as admin:
        result = admin.drain(
            "broker-a",
            # Topics of earlier tests exist on this broker only.
            force=True,
            when_safe=stop_broker,
            settle_seconds=5,
            interval_seconds=2,
            quiet_intervals=2,
        )
        assert (result.is_safe, result.unknown_servers) == (True, ())
        assert held == [(newest.broker.address, {0})]
        # A name stands for the address of the master.
        [config] = admin.broker_configs.get_each(["broker-a"])
        assert config.value()["brokerName"] == "broker-a"
        assert admin.checks.check_brokers().state is CheckState.OK
        assert all(server.is_restored for server in admin.undrain("broker-a"))
    assert [differing(*pair) for pair in zip(before, newest.queues, strict=True)] == [{}, {}]


def test_newest_with_a_name_server_that_dies(newest: World) -> None:
    before = newest.queues
    last = newest.servers[1]

    def upon(event: dict[str, Any]) -> None:
        if event["event"] == "closed":
            last.kill()

    refused = newest.load.counts.failures
    code, events, _ = newest.drain.run("--force", upon=upon)
    assert (code, named(events, "safe")[0]["unknown"]) == (3, [last.address])
    assert newest.puts() == newest.puts()
    assert newest.load.counts.failures == refused
    kept = newest.drain("undrain", "broker-a")
    assert (kept.code, [row["result"] for row in kept.rows]) == (3, ["done", "failed"]), kept
    last.start()
    wait_for_broker(newest.servers, "broker-a")
    assert newest.drain("undrain", "broker-a").code == 0
    assert newest.queues == before


def test_newest_rolling_restart_with_a_slave(newest: World, tmp_path: Path) -> None:
    # The test before restarted a name server.
    for broker_id in (0, 1):
        wait_for_broker(newest.servers, "broker-b", broker_id)
    before = newest.queues
    [slave] = newest.slaves
    brokers = {
        ("broker-a", "0"): newest.broker, ("broker-b", "1"): slave, ("broker-b", "0"): newest.other,
    }  # fmt: skip
    with Ordered(tmp_path / "orders", brokers, newest.servers) as orders:
        refused = newest.load.counts.failures
        words = ("rollingRestart", "-c", "DefaultCluster", "--force", "--patience", "2m", *QUICK, "--yes")
        commands = ("--stop", orders.command("stop"), "--start", orders.command("start"))
        first = newest.drain.told(*words, *commands, "--pause-after", "1")
        assert (first[-1]["event"], first[-1]["left"]) == ("paused", ["broker-b"])
        second = newest.drain.told(*words, *commands)
        assert (second[0]["resumed"], second[-1]["event"]) == (True, "finished")
        assert orders.done == [
            f"{step} {name} {number}"
            for name, number in (("broker-a", 0), ("broker-b", 1), ("broker-b", 0))
            for step in ("stop", "start")
        ]
        assert newest.load.counts.failures == refused
        assert newest.queues == before


def test_newest_all_that_was_sent_was_consumed(newest: World) -> None:
    assert newest.load.order("stop").sent > 300
    wait_for("all messages", lambda: newest.load.counts.missing == 0, interval=0.5)


def test_newest_frozen_has_the_risks_of_one_that_answers(newest: World) -> None:
    """Its own topics, which it cannot name now, are no reason to refuse the drain."""
    dry_run = ("--timeout", "2", "drain", "broker-a", "--dry-run")
    alive = newest.drain(*dry_run)
    os.kill(newest.broker.child.pid, signal.SIGSTOP)
    try:
        frozen = newest.drain(*dry_run)
    finally:
        os.kill(newest.broker.child.pid, signal.SIGCONT)
    # Only the broker itself knows what its consumers have not read.
    known = [line for line in alive.err.splitlines() if "unread message" not in line]
    unknown = "nsadmin: it is unknown how many unread messages broker-a has: no answer within 2 s"
    assert (frozen.code, frozen.rows) == (alive.code, alive.rows)
    assert frozen.err.splitlines() == [*known, unknown]


def test_old_under_load(old: World) -> None:
    drained_stopped_and_started(old)


def test_old_undone_without_a_restart(old: World) -> None:
    """Name servers of 4.9 do not take queues topic by topic."""
    before = old.queues
    drained_for_good(old)
    undone = old.drain("undrain", "broker-a")
    assert (undone.code, {row["how"] for row in undone.rows}) == (0, {"by a registration of the broker"})
    assert [differing(was, now) for was, now in zip(before, old.queues, strict=True)] == [{}] * 2


def test_old_all_that_was_sent_was_consumed(old: World) -> None:
    assert old.load.order("stop").sent > 300
    wait_for("all messages", lambda: old.load.counts.missing == 0, interval=0.5)
