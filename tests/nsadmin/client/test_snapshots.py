"""Pictures of what a name server knows: taken live and out of a journal, kept in files, compared."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import zstandard

from namesrv_core.errors import RocketMQError
from namesrv_core.events import Group, KvPut, Member, SettingChange, SettingsChanged
from namesrv_core.history.replay import JournalReplay
from nsadmin import AdminClient
from nsadmin.client.snapshots import (
    ClusterSnapshot,
    InvalidSnapshotError,
    SnapshotItem,
    decode_snapshot,
    encode_snapshot,
    iterate_items,
    snapshot_of_replay,
    take_cluster_snapshot,
    take_server_snapshots,
)
from tests.support.bounded_process import run_bounded
from tests.support.fake_servers import FakeNameServer, answer_json, closed_port
from tests.support.journals import make_snapshot, registration_events

QUEUES = {"readQueueNums": 8, "writeQueueNums": 8, "perm": 6, "topicSysFlag": 0}
PICTURE = ClusterSnapshot(
    "s:9876",
    7,
    {"a": {"clusterName": "c", "brokerAddrs": {"0": "x:1"}}, "b": {"clusterName": "c", "brokerAddrs": {}}},
    {"T": {"a": QUEUES}, "\u4e3b\u9898": {"b": QUEUES}},
    {"ORDER_TOPIC_CONFIG": {"T": "a:4"}, "n": {"k": "v"}},
    {"listenPort": "9876"},
)


@pytest.fixture
def server() -> Iterator[FakeNameServer]:
    with FakeNameServer({"C": {"broker-a": {0: "x:1", 1: "y:1"}}}) as running:
        running.routes = {"T": {"broker-a": 6}, "U": {"broker-a": 4}}
        yield running


def test_a_live_picture_has_brokers_topics_kv_and_settings(server: FakeNameServer) -> None:
    with AdminClient(server.addr) as admin:
        taken = take_cluster_snapshot(admin, 7, ("none",))
    assert (taken.source, taken.time) == (server.addr, 7)
    assert taken.brokers == {"broker-a": {"clusterName": "C", "brokerAddrs": {"0": "x:1", "1": "y:1"}}}
    assert {topic: brokers["broker-a"]["perm"] for topic, brokers in taken.topics.items()} == {"T": 6, "U": 4}
    assert set(taken.kv) == {"ORDER_TOPIC_CONFIG", "none"}
    assert decode_snapshot(encode_snapshot(taken)) == taken


def test_a_topic_that_cannot_be_read_is_no_half_picture(server: FakeNameServer) -> None:
    server.handlers[105] = lambda request: None
    with AdminClient(server.addr, timeout=0.2) as admin, pytest.raises(RocketMQError):
        take_cluster_snapshot(admin, 7)


def test_a_picture_of_the_past_is_that_of_the_tables_without_secrets() -> None:
    tables = JournalReplay()
    tables.apply_event(
        make_snapshot("start", groups=(Group("c", "b", False, None, (Member(1, "y:1"), Member(0, "x:1"))),))
    )
    for event in registration_events("a", "T"):
        tables.apply_event(event)
    tables.apply_event(KvPut("n", "password", None, "hidden"))
    tables.apply_event(KvPut("n", "k", None, "v"))
    tables.apply_event(
        SettingsChanged((SettingChange("listenPort", None, "1"), SettingChange("aSecretKey", None, "hidden")))
    )
    taken = snapshot_of_replay("s", 7, tables)
    assert taken.brokers["b"]["brokerAddrs"] == {"0": "x:1", "1": "y:1"}
    assert taken.topics == {"T": {"a": QUEUES}}
    assert (taken.kv, taken.settings) == ({"n": {"k": "v"}}, {"listenPort": "1"})
    assert b"hidden" not in zstandard.ZstdDecompressor().decompress(encode_snapshot(taken))


def test_a_topic_whose_brokers_are_all_unknown_is_in_no_picture() -> None:
    tables = JournalReplay()
    tables.apply_event(make_snapshot("start"))
    tables.apply_event(registration_events("a", "T")[1])
    assert snapshot_of_replay("s", 7, tables).topics == {}


def test_items_are_what_routes_are_made_of() -> None:
    assert [tuple(item) for item, _ in iterate_items(PICTURE)] == [
        ("broker", "a", None), ("broker", "b", None), ("order", "T", None),
        ("topic", "T", "a"), ("topic", "\u4e3b\u9898", "b"),
    ]  # fmt: skip
    assert dict(iterate_items(PICTURE, "T")) == {
        SnapshotItem("broker", "a", None): PICTURE.brokers["a"],
        SnapshotItem("order", "T", None): "a:4",
        SnapshotItem("topic", "T", "a"): QUEUES,
    }
    assert list(iterate_items(PICTURE, "none")) == []


def test_a_file_gives_the_picture_back_compressed_or_not() -> None:
    data = encode_snapshot(PICTURE)
    assert decode_snapshot(data) == PICTURE
    assert decode_snapshot(zstandard.ZstdDecompressor().decompress(data)) == PICTURE


def changed(**fields: Any) -> bytes:
    value = json.loads(zstandard.ZstdDecompressor().decompress(encode_snapshot(PICTURE))) | fields
    return json.dumps({name: item for name, item in value.items() if item is not None}).encode()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "neither JSON nor compressed JSON"),
        (b"\x28\xb5\x2f\xfd", "neither JSON nor compressed JSON"),
        (b"[]", "not an nsadmin-snapshot"),
        (changed(format="other"), "not an nsadmin-snapshot"),
        (changed(version=2), "version 2 is not supported: this nsadmin reads version 1"),
        (changed(topics=None), "the field topics is missing"),
    ],
)
def test_what_is_no_picture(data: bytes, said: str) -> None:
    with pytest.raises(InvalidSnapshotError, match=said):
        decode_snapshot(data)


def test_each_name_server_is_looked_at_by_itself(server: FakeNameServer) -> None:
    dead = f"127.0.0.1:{closed_port()}"
    with FakeNameServer({"C": {"broker-a": {1: "y:1"}}, "D": {"broker-a": {1: "y:1"}}}) as other:
        other.routes = {"T": {"broker-a": 4}, "listed": {}}
        other.kv = {"n": {"password": "p"}}
        with AdminClient([server.addr, dead, other.addr]) as admin:
            first_snapshot, none, two = take_server_snapshots(admin, 7, ("n",))
    assert first_snapshot.result is not None
    assert two.result is not None
    assert (first_snapshot.result.source, first_snapshot.result.time) == (server.addr, 7)
    assert first_snapshot.result.topics["T"] == {"broker-a": QUEUES}
    assert two.result.topics == {"T": {"broker-a": {**QUEUES, "perm": 4}}, "listed": {}}
    assert two.result.brokers == {"broker-a": {"clusterName": "C, D", "brokerAddrs": {"1": "y:1"}}}
    assert (first_snapshot.result.kv, two.result.kv) == ({}, {"n": {"password": "p"}})
    assert two.result.settings == other.config
    assert (none.addr, none.result, none.error is not None) == (dead, None, True)


def test_of_a_static_topic_it_knows_how_new_its_mapping_is(server: FakeNameServer) -> None:
    mapped = {"broker-a": {"topic": "T", "totalQueues": 1, "bname": "broker-a", "epoch": 7}}
    server.handlers[105] = lambda asked: answer_json(asked, {"topicQueueMappingByBroker": mapped})
    with AdminClient(server.addr) as admin:
        [snapshot] = take_server_snapshots(admin, 7)
    assert snapshot.result is not None
    assert snapshot.result.topics["T"] == {"broker-a": {"mappingEpoch": 7}}


@pytest.mark.parametrize("name", ["source", "time", "brokers", "topics", "kv", "settings"])
@pytest.mark.parametrize("value", [None, [1], {"a": 5}, 1.5])
def test_a_picture_of_other_things_is_none(name: str, value: object) -> None:
    whole = json.loads(zstandard.ZstdDecompressor().decompress(encode_snapshot(PICTURE)))
    with pytest.raises(InvalidSnapshotError, match=f"the field {name} is malformed"):
        decode_snapshot(json.dumps({**whole, name: value}).encode())


def test_a_file_that_inflates_without_measure_is_no_picture() -> None:
    program = """
import zstandard
from nsadmin.client.snapshots import InvalidSnapshotError, decode_snapshot
try:
    decode_snapshot(zstandard.compress(b" " * (1 << 28)) if sys.argv[1] == "zst" else b"[" * 100_000)
except InvalidSnapshotError as error:
    print(error)
"""
    assert "inflates to more than" in run_bounded(program, "zst", megabytes=1500)
    assert "nested too deeply" in run_bounded(program, "json")
