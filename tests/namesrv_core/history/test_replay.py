"""Whatever is asked of a name server: its tables are those that the journal gives back."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from namesrv_core.events import (
    BrokerRegistered,
    CollectorStarted,
    CollectorStopping,
    Event,
    EventsLost,
    KvPut,
    PollFailed,
    PollRecovered,
    QueueData,
    SettingChange,
    SettingsChanged,
    Snapshot,
    SnapshotMark,
    TopicChange,
    TopicsChanged,
    group_topic_changes,
)
from namesrv_core.history.record_lines import encode_record_line, parse_record_line
from namesrv_core.history.records import JournalRecord, RecordOrigin
from namesrv_core.history.replay import JournalReplay
from namesrv_core.protocol import fastjson
from namesrv_core.protocol.json_bodies import DataVersion
from namesrv_core.state import liveness
from namesrv_core.state.settings import NameServerSettings
from namesrv_core.state.snapshot import build_snapshot, copy_tables
from namesrv_core.state.unregistration import Departure, DepartureOrder, leave_in_steps
from tests.support.wire import Wire, broker_ext, registration_body, topic_config

EMPTY = Snapshot("start", (), (), (), (), (), (), {}, {})


def record(seq: int, event: Event) -> JournalRecord:
    """The event after it was written and read again."""
    return parse_record_line(encode_record_line(seq, "s", RecordOrigin(1000 + seq, "test"), event))


def replayed(events: Iterable[Event], first: int = 1) -> JournalReplay:
    replay = JournalReplay()
    for seq, event in enumerate(events, first):
        replay.feed_record(record(seq, event))
    return replay


def taken(wire: Wire, now: int) -> Snapshot:
    """A snapshot of the live tables, after it was written and read again."""
    kv = {namespace: dict(table) for namespace, table in wire.state.kv_config.tables_by_namespace.items()}
    return build_snapshot(copy_tables(wire.state, now, kv, wire.state.settings.shown_items()), "interval")


def live_contents(wire: Wire, now: int) -> Any:
    return replayed([taken(wire, now)]).table_contents()


CLUSTERS = st.sampled_from(["c", "d"])
NAMES = st.sampled_from(["a", "b", "é"])
IDS = st.integers(0, 2)
ADDRS = st.sampled_from(["x:1", "y:1", "z:1", "w:1"])
TOPICS = st.sampled_from(["T", "U", "V", "\u4e3b\u9898", "W"])
CONFIGS = st.builds(
    lambda topic, perm, queues: topic_config(topic, perm=perm, readQueueNums=queues, writeQueueNums=queues),
    TOPICS, st.sampled_from([2, 4, 6]), st.sampled_from([4, 8]),
)  # fmt: skip
VERSIONS = st.builds(DataVersion, st.integers(1, 3), st.integers(0, 1), st.just(1))
MAPPINGS = st.dictionaries(
    TOPICS,
    st.builds(
        lambda topic, bname, epoch: {
            "topic": topic, "bname": bname, "epoch": epoch, "totalQueues": 2, "currIdMap": {"0": 0, "1": 1},
        },
        TOPICS, NAMES, st.integers(0, 2),
    ),
    max_size=2,
)  # fmt: skip
MORE = st.fixed_dictionaries(
    {},
    optional={
        "enableActingMaster": st.sampled_from(["true", "false"]),
        "__ZONE_NAME": st.sampled_from(["z1", "z2"]),
        "heartbeatTimeoutMillis": st.sampled_from(["1000", "60000"]),
        "haServerAddr": st.sampled_from(["h1", "h2"]),
    },
)
TEXTS = st.sampled_from(["", "k", "\u4e3b\u9898", "a=b\nc", "\x00"])
NAMESPACES = TEXTS | st.just("ORDER_TOPIC_CONFIG")


class NameServerLife(RuleBasedStateMachine):
    """Requests, silence and closed channels in any order; the tables against the replay after each step."""

    @initialize(deletes=st.booleans())
    def start(self, deletes: bool) -> None:
        self.wire = Wire(settings=NameServerSettings(deleteTopicWithBrokerRegistration=deletes))
        self.now = 1_700_000_000_000
        self.seq = 0
        self.replay = JournalReplay()
        self.departures: Iterator[Departure] = iter(())
        self.follow([taken(self.wire, self.now)])

    def follow(self, events: Sequence[Event]) -> None:
        for event in events:
            self.seq += 1
            self.replay.feed_record(record(self.seq, event))

    def ask(self, code: int, ext: dict[str, Any] | None = None, body: bytes = b"", channel: int = 1) -> None:
        self.wire.send_request(code, ext, body, channel=channel, now=self.now)
        self.follow(self.wire.events)

    @rule(
        cluster=CLUSTERS, name=NAMES, number=IDS, addr=ADDRS, configs=st.lists(CONFIGS, max_size=4),
        version=VERSIONS, mappings=MAPPINGS, filters=st.sampled_from([None, [], ["f1"], ["f1", None]]),
        more=MORE, channel=st.integers(1, 4),
    )  # fmt: skip
    def register(
        self, cluster: str, name: str, number: int, addr: str, configs: list[Any], version: DataVersion,
        mappings: dict[str, object], filters: object, more: dict[str, str], channel: int,
    ) -> None:  # fmt: skip
        body = registration_body(configs, version, mappings, filters)
        self.ask(103, broker_ext(name, number, addr, cluster) | more, body, channel)

    @rule(cluster=CLUSTERS, name=NAMES, number=IDS, addr=ADDRS, channel=st.integers(1, 4))
    def unregister(self, cluster: str, name: str, number: int, addr: str, channel: int) -> None:
        self.ask(104, broker_ext(name, number, addr, cluster), channel=channel)

    @rule(cluster=CLUSTERS, name=NAMES, addr=ADDRS)
    def heartbeat(self, cluster: str, name: str, addr: str) -> None:
        self.ask(904, {"clusterName": cluster, "brokerName": name, "brokerAddr": addr})

    @rule(channel=st.integers(1, 4), steps=st.integers(0, 3))
    def close(self, channel: int, steps: int) -> None:
        self.leave(liveness.end_channel(self.wire.state.tables, channel), steps)

    @rule(passed=st.sampled_from([500, 900, 50_000, 130_000]), steps=st.integers(0, 3))
    def wait(self, passed: int, steps: int) -> None:
        self.now += passed
        self.leave(liveness.find_expired_brokers(self.wire.state.tables, self.now), steps)
        for events in liveness.detect_silent_brokers(self.wire.state.tables, self.now):
            self.follow(events)

    def leave(self, order: DepartureOrder, steps: int) -> None:
        """Complete the departures that are under way, then begin new ones with so many steps."""
        self.take_steps()
        self.departures = leave_in_steps(self.wire.state.tables, [order])
        self.take_steps(steps)

    @rule()
    def take_steps(self, steps: int | None = None) -> None:
        for departure in islice(self.departures, steps):
            self.follow(departure.events)

    @rule(name=NAMES, code=st.sampled_from([205, 327]))
    def permission(self, name: str, code: int) -> None:
        self.ask(code, {"brokerName": name})

    @rule(topic=TOPICS, cluster=st.sampled_from([None, "c", "d"]))
    def delete_topic(self, topic: str, cluster: str | None) -> None:
        self.ask(216, {"topic": topic} | ({"clusterName": cluster} if cluster else {}))

    @rule(topic=TOPICS, names=st.lists(NAMES, max_size=2))
    def register_topic(self, topic: str, names: list[str]) -> None:
        queues = [
            {"brokerName": name, "readQueueNums": 4, "writeQueueNums": 4, "perm": 6, "topicSysFlag": 0}
            for name in names
        ]
        self.ask(217, {"topic": topic}, fastjson.encode_json({"queueDatas": queues}))

    @rule(namespace=NAMESPACES, key=TEXTS, value=st.none() | TEXTS)
    def put(self, namespace: str, key: str, value: str | None) -> None:
        ext = {"namespace": namespace, "key": key} | ({} if value is None else {"value": value})
        self.ask(100, ext)

    @rule(namespace=NAMESPACES, key=TEXTS)
    def delete(self, namespace: str, key: str) -> None:
        self.ask(102, {"namespace": namespace, "key": key})

    @rule(number=st.integers(1, 3))
    def configure(self, number: int) -> None:
        self.ask(318, body=f"waitSecondsForService={number}\nproductEnvName=e{number}\n".encode())

    @rule()
    def take_a_snapshot(self) -> None:
        self.follow([taken(self.wire, self.now)])

    @invariant()
    def the_tables_are_those_of_the_replay(self) -> None:
        assert self.replay.is_certain
        assert self.replay.table_contents() == live_contents(self.wire, self.now)


TestNameServerLife = NameServerLife.TestCase
TestNameServerLife.settings = settings(max_examples=150, stateful_step_count=30, deadline=None)


def test_tables_are_uncertain_until_the_first_snapshot() -> None:
    replay = replayed([KvPut("n", "k", None, "v")])
    assert not replay.is_certain
    replay.feed_record(record(2, EMPTY))
    assert replay.is_certain
    assert replay.kv_tables == {}


def test_a_loss_makes_the_tables_uncertain_until_the_next_snapshot() -> None:
    replay = replayed([EMPTY, EventsLost(3)])
    assert not replay.is_certain
    replay.feed_record(record(3, SnapshotMark("interval", 0)))
    assert not replay.is_certain
    replay.feed_record(record(4, EMPTY))
    assert replay.is_certain


@pytest.mark.parametrize(
    "event", [PollFailed("no", 1), CollectorStarted("1", 1, 1), CollectorStopping("SIGTERM")]
)
def test_tables_are_uncertain_while_nobody_sees_the_name_server(event: Event) -> None:
    assert not replayed([EMPTY, event]).is_certain
    assert not replayed([EMPTY, event, KvPut("n", "k", None, "v")]).is_certain
    assert replayed([EMPTY, event, PollRecovered(1, 1)]).is_certain
    assert not replayed([EMPTY, EventsLost(1), event, PollRecovered(1, 1)]).is_certain
    assert not replayed([event, PollRecovered(1, 1)]).is_certain


def test_a_broker_of_which_nothing_is_kept_is_in_its_place_and_not_among_the_live() -> None:
    replay = replayed([EMPTY, BrokerRegistered("c", "a", 0, "x:1", 1, info=None)])
    assert replay.broker_groups["a"].broker_addrs == {0: "x:1"}
    assert replay.live_infos == {}


def test_a_setting_goes_that_is_nothing_afterwards() -> None:
    put = SettingsChanged((SettingChange("s", None, "1"), SettingChange("t", None, "1")))
    gone = SettingsChanged((SettingChange("s", "1", None), SettingChange("none", None, None)))
    assert replayed([EMPTY, put, gone]).settings == {"t": "1"}


def test_a_hole_in_the_sequence_makes_the_tables_uncertain() -> None:
    replay = replayed([EMPTY])
    replay.feed_record(record(3, KvPut("n", "k", None, "v")))
    assert not replay.is_certain
    assert (replay.last_seq, replay.last_time_ms) == (3, 1003)


def test_a_record_of_a_kind_that_is_not_known_changes_nothing() -> None:
    replay = replayed([EMPTY])
    replay.feed_record(
        parse_record_line(b'{"v":1,"seq":2,"time":5,"server":"s","type":"Later","cause":"?","how":1}')
    )
    assert replay.is_certain
    assert replay.last_time_ms == 5


@given(st.permutations(["a", "b", "c"]))
def test_queues_keep_the_order_in_which_brokers_came(names: Sequence[str]) -> None:
    events: list[Event] = [EMPTY]
    for name in names:
        events += [
            BrokerRegistered("c", name, 0, f"{name}:1", 1),
            TopicsChanged(
                name, "registration", group_topic_changes([TopicChange("T", None, QueueData(name, 8, 8, 6))])
            ),
        ]
    assert list(replayed(events).queues_by_topic["T"]) == list(names)
