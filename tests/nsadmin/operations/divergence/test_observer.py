"""Each cause, produced by a lab and found; how long one looks; what brokers are asked."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from namesrv_core.lab.lab_cluster import LabCluster
from namesrv_core.lab.network_links import LinkedChannel, NetworkLink
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import build_reply
from nsadmin import AdminClient
from nsadmin.client.topics.topic_configs import TopicPatch
from nsadmin.operations.divergence.causes import NEW_LIST_MS, BrokerFacts, DivergenceCause
from nsadmin.operations.divergence.comparison import compare_snapshots
from nsadmin.operations.divergence.observer import (
    DivergenceObservation,
    DivergenceObserver,
    gather_broker_facts,
)
from nsadmin.operations.divergence.verdict import (
    DEFAULT_SETTLE_MS,
    bundle_differences,
    describe_difference,
    format_item_name,
)
from tests.support.cluster_snapshots import make_broker_entry, make_cluster_snapshot, make_queue_entry
from tests.support.fake_servers import FakeBroker, FakeNameServer, answer_json, closed_port, refuse_with
from tests.support.lab_cluster_thread import LabClusterThread, start_lab_cluster

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


def judged(world: LabClusterThread, *, settle: int = 0, **more: Any) -> DivergenceObservation:
    time = Time()
    with AdminClient(world.addresses, timeout=10) as admin:
        return DivergenceObserver(admin, time, settle_ms=settle, **more).observe_until_settled(
            time.pause, lambda look, seconds: None
        )


def told(look: DivergenceObservation) -> list[tuple[str, str, int, str]]:
    return [
        (
            finding.section_name,
            format_item_name(finding.differences[0].item),
            len(finding.differences),
            finding.cause.kind,
        )
        for finding in look.findings
    ]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[LabClusterThread]:
    with start_lab_cluster(tmp_path) as cluster_thread:
        yield cluster_thread


def test_a_healthy_lab_agrees(world: LabClusterThread) -> None:
    look = judged(world)
    assert (look.verdict, look.findings) == ("agree", ())
    assert [len(picture.brokers) for picture in look.server_snapshots] == [2, 2, 2]


def test_wiped_on_one_only(world: LabClusterThread) -> None:
    with AdminClient(world.addresses[1]) as admin:
        [done] = admin.brokers.wipe_write_perm("broker-a-0")
    assert done.result
    look = judged(world)
    # Topics that inherit or may only be read differ in another way, or not at all.
    assert {(finding.section_name, finding.parent_name, finding.cause.kind) for finding in look.findings} == {
        ("topic", "broker-a-0", "wiped")
    }
    assert f"removed on {world.addresses[1]} only" in look.findings[0].cause.text
    assert max(len(finding.differences) for finding in look.findings) > 20
    assert look.verdict == "diverge"


def test_kv_written_to_one_only(world: LabClusterThread) -> None:
    with AdminClient(world.addresses[2]) as admin:
        admin.kv.put_value("ORDER_TOPIC_CONFIG", "T", "broker-a-0:1")
        admin.kv.put_value("own", "k", "v")
        admin.name_servers.update_item("orderMessageEnable", "true")
    look = judged(world)
    # Our name servers list their namespaces.
    assert look.namespaces == (("ORDER_TOPIC_CONFIG", "own"), ())
    assert told(look) == [
        ("kv", "ORDER_TOPIC_CONFIG T", 1, "kv-written-to-some"),
        ("kv", "own k", 1, "kv-written-to-some"),
        ("setting", "orderMessageEnable", 1, "own-files"),
    ]
    assert f"written to {world.addresses[2]} only" in look.findings[0].cause.text
    assert judged(world, sections=("broker", "topic")).verdict == "agree"


def test_a_broker_with_a_partial_list(tmp_path: Path) -> None:
    def part(world: LabCluster) -> None:
        world.lab_brokers[B].listed_servers = ("ns-1", "ns-2")

    with start_lab_cluster(tmp_path, prepare=part) as world:
        look = judged(world)
        assert told(look) == [("broker", B, 1, "partial-list")]
        [finding] = look.findings
        assert finding.cause.text.endswith(f"its namesrvAddr does not name {world.addresses[2]}")
        # All that is only there differs because of it.
        assert {topic.item.parent_name for topic in finding.implied_topics} == {"broker-a-1"}
        assert len(finding.implied_topics) > 20


@pytest.fixture
def short_settle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Brokers do not wait long for what cannot come."""

    def channel(address: str, link: NetworkLink) -> LinkedChannel:
        new_channel = LinkedChannel(address, link)
        new_channel._timeout_seconds = 0.2
        return new_channel

    monkeypatch.setattr("namesrv_core.lab.lab_cluster.LinkedChannel", channel)


@pytest.mark.usefixtures("short_settle")
def test_a_partition_from_the_start_and_one_that_hides_a_change(tmp_path: Path) -> None:
    def cut(world: LabCluster) -> None:
        world.lab_brokers[B].links_by_server["ns-3"].is_cut = True

    with start_lab_cluster(tmp_path, prepare=cut) as world:
        look = judged(world)
        assert told(look) == [("broker", B, 1, "partition")]
        assert f"do not reach {world.addresses[2]}" in look.findings[0].cause.text
        world.world.lab_brokers[A].links_by_server["ns-2"].is_cut = True
        with AdminClient(world.addresses, timeout=5) as admin:
            for topic, queues in (("fresh", 4), ("orders", 16)):
                patch = TopicPatch(read_queue_nums=queues, write_queue_nums=queues)
                [done] = admin.topic_configs.update_topic([world.broker(A).broker_addr], topic, patch)
                assert done.error is None
        look = judged(world, sections=("topic",))
        names_and_kinds = {(name, kind) for _, name, _, kind in told(look)}
        assert {("fresh", "not-registered"), ("orders", "behind")} <= names_and_kinds
        behind = next(finding for finding in look.findings if finding.cause.kind == "behind")
        assert f"{world.addresses[1]} missed the last registration" in behind.cause.text


def test_a_topic_that_was_deleted_on_one_only(world: LabClusterThread) -> None:
    names = {"topic": "orders", "clusterName": "cluster-a"}
    assert (
        world.run_deed(
            lambda world: world.send_request("ns-1", RequestCode.DELETE_TOPIC_IN_NAMESRV, names)
        ).code
        == 0
    )
    look = judged(world)
    assert {(finding.item_names, finding.cause.kind) for finding in look.findings} == {
        (("orders",), "not-registered")
    }
    assert f"not on {world.addresses[0]}" in describe_difference(
        look.findings[0].differences[0], look.comparison.server_addrs
    )


def test_a_name_server_that_knows_nobody(world: LabClusterThread, tmp_path: Path) -> None:
    with FakeNameServer() as empty, AdminClient([*world.addresses, empty.addr]) as admin:
        look = DivergenceObserver(admin, Time(), settle_ms=0, sections=("broker", "topic")).observe_once()
    assert {finding.cause.kind for finding in look.findings} == {"no-brokers"}


# How long one looks


@pytest.fixture
def servers() -> Iterator[list[FakeNameServer]]:
    with FakeBroker() as broker, FakeNameServer() as first_server, FakeNameServer() as two:
        for server in (first_server, two):
            server.clusters = {"C": {"broker-a": {0: broker.addr}}}
            server.routes = {"T": {"broker-a": 6}, "U": {"broker-a": 6}}
        yield [first_server, two]


def judge(
    servers: list[FakeNameServer], act: Callable[[int], None]
) -> tuple[DivergenceObservation, Time, list[str]]:
    """Judge with an operator who acts in the pauses, told their number; what was said of the waiting."""
    time, pauses = Time(), list[str]()

    def pause(seconds: float) -> None:
        time.pause(seconds)
        act(len(time.paused))

    with AdminClient([server.addr for server in servers]) as admin:
        look = DivergenceObserver(admin, time).observe_until_settled(
            pause, lambda look, seconds: pauses.append(f"{len(look.findings)} {seconds:g}")
        )
    return look, time, pauses


def test_who_agrees_is_looked_at_once(servers: list[FakeNameServer]) -> None:
    look, time, pauses = judge(servers, lambda _: None)
    assert (look.verdict, time.paused, pauses) == ("agree", [], [])
    assert servers[0].asked_codes().count(106) == 1


def test_what_goes_by_itself_was_convergence(servers: list[FakeNameServer]) -> None:
    servers[0].routes["T"] = {"broker-a": 4}

    def heal(number: int) -> None:
        if number == 2:
            servers[0].routes["T"] = {"broker-a": 6}

    look, time, pauses = judge(servers, heal)
    assert (look.verdict, time.now, pauses) == ("agree", 20_000, ["1 60"])


def test_what_stays_is_drift_and_what_came_up_meanwhile_is_new(servers: list[FakeNameServer]) -> None:
    servers[0].routes["T"] = {"broker-a": 4}

    def disturb(number: int) -> None:
        if number == 3:
            servers[1].routes["U"] = {"broker-a": 2}

    look, time, _ = judge(servers, disturb)
    assert (look.verdict, time.now) == ("diverge", DEFAULT_SETTLE_MS)
    assert [(finding.item_names, finding.state) for finding in look.findings] == [
        (("T",), "drift"),
        (("U",), "new"),
    ]


def test_kv_is_drift_after_a_moment(servers: list[FakeNameServer]) -> None:
    servers[0].kv = {"ORDER_TOPIC_CONFIG": {"T": "broker-a:4"}}
    look, time, pauses = judge(servers, lambda _: None)
    assert (look.verdict, time.paused, pauses) == ("diverge", [2.0], ["1 2"])
    # A difference of brokers lasts longer, and is looked at when that of KV config is decided.
    servers[0].routes["T"] = {"broker-a": 4}
    assert judge(servers, lambda _: None)[1].paused == [2.0, *[10.0] * 5, 8.0]


def test_one_that_is_silent_hides_nothing_and_is_not_forgotten(servers: list[FakeNameServer]) -> None:
    dead = f"127.0.0.1:{closed_port()}"
    with AdminClient([servers[0].addr, dead, servers[1].addr]) as admin:
        look = DivergenceObserver(admin, Time(), settle_ms=0, namespaces=("own",)).observe_once()
        # Apache's name servers, like these, do not list their namespaces.
        assert look.namespaces == (("ORDER_TOPIC_CONFIG", "own"), (servers[0].addr, servers[1].addr))
        assert (look.verdict, [answer.addr for answer in look.snapshot_results if answer.error]) == (
            "partial",
            [dead],
        )
        servers[0].routes["T"] = {"broker-a": 4}
        assert DivergenceObserver(admin, Time(), settle_ms=0).observe_once().verdict == "diverge"
    with AdminClient([servers[0].addr, dead]) as admin:
        assert DivergenceObserver(admin, Time(), settle_ms=0).observe_once().verdict == "unknown"


def test_topics_of_a_single_name_server_are_read_on_request(servers: list[FakeNameServer]) -> None:
    with AdminClient([servers[0].addr]) as admin:
        looks = [
            DivergenceObserver(admin, Time(), settle_ms=0, reads_single=reads_single).observe_once()
            for reads_single in (False, True)
        ]
    assert [(look.verdict, look.has_topics) for look in looks] == [("unknown", False), ("unknown", True)]
    assert [sorted(look.server_snapshots[0].topics) for look in looks] == [[], ["T", "U"]]


# What brokers are asked


def config(broker: FakeBroker, **items: Any) -> None:
    text = "".join(f"{key}={value}\n" for key, value in items.items())
    broker.handlers[26] = lambda asked: build_reply(asked, body=text.encode())


def test_a_broker_that_allows_less_registers_less(servers: list[FakeNameServer]) -> None:
    with FakeBroker() as broker:
        for server in servers:
            server.clusters = {"C": {"broker-a": {0: broker.addr}}}
        servers[0].routes["T"] = {"broker-a": 4}
        topic: dict[str, Any] = {"topicName": "T", "readQueueNums": 8, "writeQueueNums": 8, "perm": 6}
        broker.handlers[351] = lambda asked: answer_json(asked, topic)
        with AdminClient([server.addr for server in servers]) as admin:
            for allowed, kind in (("4", "write-perm-added"), ("6", "wiped"), ("7", "wiped"), ("?", "wiped")):
                config(broker, namesrvAddr="null", brokerPermission=allowed)
                [finding] = DivergenceObserver(admin, Time(), settle_ms=0).observe_once().findings
                assert finding.cause.kind == kind
            config(broker, namesrvAddr="null")
            [finding] = DivergenceObserver(admin, Time(), settle_ms=0).observe_once().findings
            assert finding.cause.kind == "wiped"
            # A broker with read and write permission keeps the inherit bit, which addWritePerm removes.
            topic["perm"] = 7
            servers[0].routes["T"], servers[1].routes["T"] = {"broker-a": 6}, {"broker-a": 7}
            [finding] = DivergenceObserver(admin, Time(), settle_ms=0).observe_once().findings
            assert finding.cause.text.startswith(f"addWritePerm was sent to {servers[0].addr}")
            # One that refuses to tell is there all the same.
            broker.handlers[26] = refuse_with(1, "no")
            servers[1].clusters = {"C": {"broker-b": {0: broker.addr}}}
            look = DivergenceObserver(admin, Time(), settle_ms=0, sections=("broker",)).observe_once()
            assert {finding.cause.kind for finding in look.findings} == {"partition"}


def test_a_broker_tells_how_it_registers_a_topic() -> None:
    topic = {"topicName": "T", "readQueueNums": 8, "writeQueueNums": 4, "perm": 7, "topicSysFlag": 2}
    with FakeBroker() as broker, AdminClient("h:1", timeout=5) as admin:
        brokers = {"a": make_broker_entry(broker.addr)}
        tables = (
            {"T": {"a": make_queue_entry(perm)}, "U": {"a": make_queue_entry(1, perm)}} for perm in (6, 4)
        )
        pictures = [make_cluster_snapshot("h:1", brokers, table) for table in tables]
        broker.handlers[351] = lambda asked: (
            answer_json(asked, topic) if (asked.ext or {})["topic"] == "T" else build_reply(asked, 17)
        )
        bundles = bundle_differences(compare_snapshots(pictures))
        for items, names in (({"namesrvAddr": "h:1; h:2;"}, ("h:1", "h:2")), ({}, ())):
            config(broker, brokerPermission=4, **items)
            value = {"readQueueNums": 8, "writeQueueNums": 4, "perm": 4, "topicSysFlag": 2}
            facts = BrokerFacts(True, names, {"T": value, "U": None})
            assert gather_broker_facts(admin, bundles, pictures) == {broker.addr: facts}


def test_brokers_are_asked_for_32_topics_at_most(servers: list[FakeNameServer]) -> None:
    with FakeBroker() as first, FakeBroker() as second:
        addr_by_name = {"broker-a": first.addr, "broker-b": second.addr}
        # Topics that differ in the same way are asked for once.
        perms = [divmod(number, 4) for number in range(20)]
        for index, server in enumerate(servers):
            server.clusters = {"C": {name: {0: addr} for name, addr in addr_by_name.items()}}
            server.routes = {
                f"T{number}": dict.fromkeys(addr_by_name, perm[index] + 8 * index)
                for number, perm in enumerate(perms)
            }
        for broker in (first, second):
            config(broker, namesrvAddr="null")
        with AdminClient([server.addr for server in servers]) as admin:
            DivergenceObserver(admin, Time(), sections=("topic",)).observe_once()
        assert [broker.asked_codes().count(351) for broker in (first, second)] == [20, 12]


def test_a_list_that_was_just_changed_takes_effect_within_2_minutes(servers: list[FakeNameServer]) -> None:
    """Right after `updateBrokerConfig namesrvAddr`, the broker names the server and has not read its list."""
    with FakeBroker() as broker:
        servers[0].clusters = {"C": {"broker-a": {0: broker.addr}}}
        servers[0].routes["T"] = {"broker-a": 6}
        servers[1].clusters, servers[1].routes = {"C": {"broker-b": {0: broker.addr}}}, {}
        list_text = ";".join(server.addr for server in servers)

        def change_settings(age_ms: int, counter: int = 1) -> None:
            changed_ms = int(time.time() * 1000) - age_ms
            version = f'{{"counter":{counter},"stateVersion":0,"timestamp":{changed_ms}}}'
            broker.handlers[26] = lambda asked: build_reply(
                asked, ext={"version": version}, body=f"namesrvAddr={list_text}\n".encode()
            )

        def find_cause_of_a() -> DivergenceCause:
            with AdminClient([server.addr for server in servers]) as admin:
                observer = DivergenceObserver(admin, Time(), settle_ms=0, sections=("broker",))
                return next(
                    finding.cause
                    for finding in observer.observe_once().findings
                    if finding.differences[0].item.name == "broker-a"
                )

        change_settings(age_ms=30_000)
        cause = find_cause_of_a()
        assert cause.kind == "new-list"
        assert "its settings changed less than 3 minutes ago" in cause.text
        assert "the broker reads a new list within 2 minutes" in cause.advice
        change_settings(age_ms=NEW_LIST_MS + 1_000)
        assert find_cause_of_a().kind == "partition"
        # The counter is 0 since a start: nobody changed its list.
        change_settings(age_ms=1_000, counter=0)
        assert find_cause_of_a().kind == "partition"
