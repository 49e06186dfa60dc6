"""Each cause, produced by a lab and found; how long one looks; what brokers are asked."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from namesrv_core.lab.links import Link, LinkedChannel
from namesrv_core.lab.world import World
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import reply
from nsadmin import AdminClient
from nsadmin.client.topic_configs import TopicPatch
from nsadmin.operations.divergence.findings import PATIENCE, in_words, name_of
from nsadmin.operations.divergence.looking import Look, Looking
from tests.support.servers import FakeBroker, FakeNameServer, body, closed_port, refuse
from tests.support.worlds import Living, living

A, B = "broker-a-0:0", "broker-a-1:0"


class Time:
    """A clock in the test's hand; who pauses moves it."""

    def __init__(self) -> None:
        self.now = 0
        self.paused: list[float] = []

    def __call__(self) -> int:
        return self.now

    def pause(self, seconds: float) -> None:
        self.paused.append(seconds)
        self.now += round(seconds * 1000)


def judged(world: Living, *, settle: int = 0, **more: Any) -> Look:
    time = Time()
    with AdminClient(world.addresses, timeout=1) as admin:
        return Looking(admin, time, settle=settle, **more).judge(time.pause, lambda look, seconds: None)


def told(look: Look) -> list[tuple[str, str, int, str]]:
    return [
        (found.what, name_of(found.differences[0].item), len(found.differences), found.cause.kind)
        for found in look.findings
    ]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Living]:
    with living(tmp_path) as found:
        yield found


def test_a_healthy_lab_agrees(world: Living) -> None:
    look = judged(world)
    assert (look.verdict, look.findings) == ("agree", ())
    assert [len(picture.brokers) for picture in look.pictures] == [2, 2, 2]


def test_wiped_on_one_only(world: Living) -> None:
    with AdminClient(world.addresses[1]) as admin:
        [done] = admin.brokers.wipe_write_perm("broker-a-0")
    assert done.result
    look = judged(world)
    # Topics that inherit or may only be read differ in another way, or not at all.
    assert {(found.what, found.place, found.cause.kind) for found in look.findings} == {
        ("topic", "broker-a-0", "wiped")
    }
    assert f"wiped on {world.addresses[1]} only" in look.findings[0].cause.text
    assert max(len(found.differences) for found in look.findings) > 20
    assert look.verdict == "diverge"


def test_kv_written_to_one_only(world: Living) -> None:
    with AdminClient(world.addresses[2]) as admin:
        admin.kv.put("ORDER_TOPIC_CONFIG", "T", "broker-a-0:1")
        admin.kv.put("own", "k", "v")
        admin.name_servers.update("orderMessageEnable", "true")
    look = judged(world, namespaces=("own",))
    assert told(look) == [
        ("kv", "ORDER_TOPIC_CONFIG T", 1, "kv-written-to-some"),
        ("kv", "own k", 1, "kv-written-to-some"),
        ("setting", "orderMessageEnable", 1, "own-files"),
    ]
    assert f"written to {world.addresses[2]} only" in look.findings[0].cause.text
    assert judged(world, sections=("broker", "topic")).verdict == "agree"


def test_a_broker_with_a_partial_list(tmp_path: Path) -> None:
    def part(world: World) -> None:
        world.seats[B].servers = ("ns-1", "ns-2")

    with living(tmp_path, prepare=part) as world:
        look = judged(world)
        assert told(look) == [("broker", B, 1, "partial-list")]
        [found] = look.findings
        assert found.cause.text.endswith(f"its namesrvAddr does not name {world.addresses[2]}")
        # All that is only there differs because of it.
        assert {topic.item.place for topic in found.implied} == {"broker-a-1"}
        assert len(found.implied) > 20


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Brokers do not wait long for what cannot come."""

    def channel(address: str, link: Link) -> LinkedChannel:
        made = LinkedChannel(address, link)
        made._timeout = 0.2
        return made

    monkeypatch.setattr("namesrv_core.lab.world.LinkedChannel", channel)


@pytest.mark.usefixtures("impatient")
def test_a_partition_from_the_start_and_one_that_hides_a_change(tmp_path: Path) -> None:
    def cut(world: World) -> None:
        world.seats[B].links["ns-3"].is_cut = True

    with living(tmp_path, prepare=cut) as world:
        look = judged(world)
        assert told(look) == [("broker", B, 1, "partition")]
        assert f"does not reach {world.addresses[2]}" in look.findings[0].cause.text
        world.world.seats[A].links["ns-2"].is_cut = True
        with AdminClient(world.addresses, timeout=5) as admin:
            for topic, queues in (("fresh", 4), ("orders", 16)):
                patch = TopicPatch(read_queue_nums=queues, write_queue_nums=queues)
                [done] = admin.topic_configs.update([world.broker(A).broker_addr], topic, patch)
                assert done.error is None
        look = judged(world, sections=("topic",))
        found = {(name, kind) for _, name, _, kind in told(look)}
        assert {("fresh", "not-registered"), ("orders", "behind")} <= found
        behind = next(found for found in look.findings if found.cause.kind == "behind")
        assert f"{world.addresses[1]} has not heard" in behind.cause.text


def test_a_topic_that_was_deleted_on_one_only(world: Living) -> None:
    names = {"topic": "orders", "clusterName": "cluster-a"}
    assert world.do(lambda world: world.ask("ns-1", RequestCode.DELETE_TOPIC_IN_NAMESRV, names)).code == 0
    look = judged(world)
    assert {(found.names, found.cause.kind) for found in look.findings} == {(("orders",), "not-registered")}
    assert f"not on {world.addresses[0]}" in in_words(
        look.findings[0].differences[0], look.comparison.servers
    )


def test_a_name_server_that_knows_nobody(world: Living, tmp_path: Path) -> None:
    with FakeNameServer() as empty, AdminClient([*world.addresses, empty.addr]) as admin:
        look = Looking(admin, Time(), settle=0, sections=("broker", "topic")).look()
    assert {found.cause.kind for found in look.findings} == {"no-brokers"}


# How long one looks


@pytest.fixture
def servers() -> Iterator[list[FakeNameServer]]:
    with FakeBroker() as broker, FakeNameServer() as one, FakeNameServer() as two:
        for server in (one, two):
            server.clusters = {"C": {"broker-a": {0: broker.addr}}}
            server.routes = {"T": {"broker-a": 6}, "U": {"broker-a": 6}}
        yield [one, two]


def judge(servers: list[FakeNameServer], act: Callable[[int], None]) -> tuple[Look, Time, list[str]]:
    """Judge with an operator who acts in the pauses, told their number; what was said of the waiting."""
    time, said = Time(), list[str]()

    def pause(seconds: float) -> None:
        time.pause(seconds)
        act(len(time.paused))

    with AdminClient([server.addr for server in servers]) as admin:
        look = Looking(admin, time).judge(
            pause, lambda look, seconds: said.append(f"{len(look.findings)} {seconds:g}")
        )
    return look, time, said


def test_who_agrees_is_looked_at_once(servers: list[FakeNameServer]) -> None:
    look, time, said = judge(servers, lambda _: None)
    assert (look.verdict, time.paused, said) == ("agree", [], [])
    assert servers[0].codes().count(106) == 1


def test_what_goes_by_itself_was_convergence(servers: list[FakeNameServer]) -> None:
    servers[0].routes["T"] = {"broker-a": 4}

    def heal(number: int) -> None:
        if number == 2:
            servers[0].routes["T"] = {"broker-a": 6}

    look, time, said = judge(servers, heal)
    assert (look.verdict, time.now, said) == ("agree", 20_000, ["1 60"])


def test_what_stays_is_drift_and_what_came_up_meanwhile_is_new(servers: list[FakeNameServer]) -> None:
    servers[0].routes["T"] = {"broker-a": 4}

    def disturb(number: int) -> None:
        if number == 3:
            servers[1].routes["U"] = {"broker-a": 2}

    look, time, _ = judge(servers, disturb)
    assert (look.verdict, time.now) == ("diverge", PATIENCE)
    assert [(found.names, found.state) for found in look.findings] == [(("T",), "drift"), (("U",), "new")]


def test_kv_is_drift_after_a_moment(servers: list[FakeNameServer]) -> None:
    servers[0].kv = {"ORDER_TOPIC_CONFIG": {"T": "broker-a:4"}}
    look, time, said = judge(servers, lambda _: None)
    assert (look.verdict, time.paused, said) == ("diverge", [2.0], ["1 2"])


def test_one_that_is_silent_hides_nothing_and_is_not_forgotten(servers: list[FakeNameServer]) -> None:
    dead = f"127.0.0.1:{closed_port()}"
    with AdminClient([servers[0].addr, dead, servers[1].addr]) as admin:
        look = Looking(admin, Time(), settle=0).look()
        assert (look.verdict, [answer.addr for answer in look.answers if answer.error]) == ("partial", [dead])
        servers[0].routes["T"] = {"broker-a": 4}
        assert Looking(admin, Time(), settle=0).look().verdict == "diverge"
    with AdminClient([servers[0].addr, dead]) as admin:
        assert Looking(admin, Time(), settle=0).look().verdict == "unknown"


# What brokers are asked


def config(broker: FakeBroker, **items: Any) -> None:
    text = "".join(f"{key}={value}\n" for key, value in items.items())
    broker.handlers[26] = lambda asked: reply(asked, body=text.encode())


def test_a_broker_that_allows_less_registers_less(servers: list[FakeNameServer]) -> None:
    with FakeBroker() as broker:
        for server in servers:
            server.clusters = {"C": {"broker-a": {0: broker.addr}}}
        servers[0].routes["T"] = {"broker-a": 4}
        topic = {"topicName": "T", "readQueueNums": 8, "writeQueueNums": 8, "perm": 6}
        broker.handlers[351] = lambda asked: body(asked, topic)
        with AdminClient([server.addr for server in servers]) as admin:
            config(broker, namesrvAddr="null", brokerPermission="4")
            [found] = Looking(admin, Time(), settle=0).look().findings
            assert found.cause.kind == "write-perm-added"
            config(broker, namesrvAddr="null", brokerPermission="6")
            [found] = Looking(admin, Time(), settle=0).look().findings
            assert found.cause.kind == "wiped"
            # One that refuses to tell is there all the same.
            broker.handlers[26] = refuse(1, "no")
            servers[1].clusters = {"C": {"broker-b": {0: broker.addr}}}
            look = Looking(admin, Time(), settle=0, sections=("broker",)).look()
            assert {found.cause.kind for found in look.findings} == {"partition"}
