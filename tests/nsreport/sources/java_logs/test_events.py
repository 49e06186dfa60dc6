"""The events of Java's logs, 5.5.0's and 4.9.7's beside each other."""

from typing import Any

import pytest

from tests.nsreport.sources.java_logs.conftest import Read

QUEUES = {"brokerName": "broker-a", "readQueueNums": 4, "writeQueueNums": 4, "perm": 6, "topicSysFlag": 0}


def brokers(found: Read, server: str) -> list[tuple[Any, ...]]:
    return [
        (item["type"], item.get("brokerName"), item.get("brokerId"), item.get("cause"), item["confidence"])
        for item in found.of(server, "BrokerRegistered", "BrokerUnregistered")
    ]


def test_brokers_of_5_x_come_and_go_for_each_reason(real: Read) -> None:
    a, b = ("broker-a", 0), ("broker-b", 0)
    assert brokers(real, "new") == [
        ("BrokerRegistered", *a, "REGISTER_BROKER", 0.9),
        ("BrokerRegistered", *b, "REGISTER_BROKER", 0.9),
        ("BrokerUnregistered", *b, "channel closed", 0.9),
        ("BrokerRegistered", *b, "REGISTER_BROKER", 0.9),
        ("BrokerUnregistered", *b, "channel idle", 0.9),
        ("BrokerRegistered", *b, "REGISTER_BROKER", 0.9),
        ("BrokerUnregistered", *b, "UNREGISTER_BROKER", 0.9),
        ("BrokerUnregistered", *a, "channel closed", 0.9),
    ]


def test_those_of_4_x_have_their_ids_in_the_lines(real: Read) -> None:
    assert [row[1:4] for row in brokers(real, "old")][1:5] == [
        ("broker-b", 0, "REGISTER_BROKER"),
        ("broker-b", 0, "channel closed"),
        ("broker-b", 0, "REGISTER_BROKER"),
        ("broker-b", 0, "channel idle"),
    ]
    assert {item["clusterName"] for item in real.of("old", "BrokerUnregistered")} == {"DefaultCluster"}


def test_times_are_utc_and_dialects_told(real: Read) -> None:
    first = real.of("new", "BrokerRegistered")[0]
    assert (first["time"], str(first["ts"]), str(first["date"])) == (
        1_795_302_887_000, "2026-11-21 23:14:47", "2026-11-21",
    )  # fmt: skip
    assert {item["dialect"] for item in real.of("new", "KvPut", "ServerStarted", "WritePermWiped")} == {"5.x"}
    assert {item["dialect"] for item in real.of("old", "KvPut", "ServerStarted", "WritePermWiped")} == {"4.x"}
    assert {item["cluster"] for item in real.of("old", "WritePermWiped")} == {"DefaultCluster"}
    assert first["sourceFile"].endswith("namesrv.1.log") or first["sourceFile"].endswith("namesrv.log")


@pytest.mark.parametrize("server", ["new", "old"])
def test_what_operators_did_is_there_with_who_asked(real: Read, server: str) -> None:
    [wiped, *_], [added] = real.of(server, "WritePermWiped"), real.of(server, "WritePermAdded")
    assert (wiped["brokerName"], added["brokerName"]) == ("broker-a", "broker-a")
    assert wiped["client"].startswith("127.0.0.1:")
    assert wiped["topics"] == added["topics"] == (16 if server == "new" else 9)
    [setting] = real.of(server, "SettingsChanged")
    assert setting["settingChanges"] == [{"key": "serverWorkerThreads", "before": "8", "after": "9"}]
    assert setting["client"].startswith("127.0.0.1:")
    [deleted] = real.of(server, "KvDeleted")
    assert (deleted["namespace"], deleted["key"]) == ("N", "k")
    assert [item["value"] for item in real.of(server, "KvPut")] == (["v", "w"] if server == "new" else ["v"])


def test_an_updated_kv_item_has_the_value_before_if_it_was_told(real: Read) -> None:
    assert [item.get("before") for item in real.of("new", "KvPut", "KvDeleted")] == [None, "v", "w"]


@pytest.mark.parametrize("server", ["new", "old"])
def test_topics_come_and_change_with_their_queues(real: Read, server: str) -> None:
    changes = [item["changes"][0] for item in real.of(server, "TopicsChanged")]
    orders = [item for item in changes if item["topics"] == ["Orders"]]
    assert orders[0] == {"topics": ["Orders"], "before": None, "after": QUEUES}
    assert orders[1]["before"] == QUEUES
    assert orders[1]["after"] == {**QUEUES, "readQueueNums": 8, "writeQueueNums": 8}


def test_only_4_x_says_which_topics_went_with_a_broker(real: Read) -> None:
    gone = [item for item in real.of("old", "TopicsChanged") if item["reason"] == "unregistration"]
    assert {item["cause"] for item in gone} == {"channel closed", "channel idle"}
    assert {item["changes"][0]["before"]["brokerName"] for item in gone} == {"broker-a", "broker-b"}
    assert not [item for item in real.of("new", "TopicsChanged") if item["reason"] == "unregistration"]


def test_a_server_starts_and_ends(real: Read) -> None:
    kinds = ("ServerStarted", "ServerReady", "ServerStopping")
    assert [item["type"] for item in real.of("old", *kinds)] == list(kinds)
    assert [item.get("address") for item in real.of("rare", "ServerReady")] == ["0.0.0.0:9876"]


def test_conflicts_strangers_and_acting_masters(real: Read) -> None:
    [conflict] = real.of("rare", "AddressConflict")
    assert (conflict["brokerAddr"], conflict["holderAddr"], conflict["holderName"]) == (
        "10.0.0.2:10911", "10.0.0.1:10911", "b",
    )  # fmt: skip
    refused, stranger = real.of("rare", "RegistrationRefused")
    assert (refused["brokerAddr"], refused["brokerId"]) == ("10.0.0.2:10911", 0)
    assert (stranger["brokerAddr"], stranger["brokerId"]) == ("10.0.0.3:10911", 1)
    [changed] = real.of("rare", "MinBrokerIdChanged")
    assert (changed["minBrokerId"], changed["offlineBrokerAddr"]) == (1, "10.0.0.1:10911")
    assert changed["recipients"] == ["10.0.0.4:10911", "10.0.0.5:10911"]
    [deleted] = real.of("rare", "TopicDeleted")
    assert (deleted["topic"], deleted["changes"][0]["before"]["brokerName"]) == ("T", "b")


def test_silence_is_told_from_a_closed_channel_and_an_address_from_a_place(real: Read) -> None:
    expired, *later = real.of("rare", "BrokerUnregistered")
    assert (expired["reason"], expired["cause"], expired["confidence"]) == ("expired", "no heartbeat", 0.5)
    [forgotten] = real.of("rare", "AddressForgotten")
    assert (forgotten["brokerAddr"], forgotten["reason"]) == ("10.0.0.7:10911", "unregistered")
    assert "brokerId" not in forgotten
    # The last one's channel was closed, though the log says so behind its going.
    assert [item["reason"] for item in later] == ["expired", "unregistered", "channel closed"]


def test_who_hears_of_the_closed_channel_may_write_before_the_scan_that_closed_it(real: Read) -> None:
    [gone] = real.of("raced", "BrokerUnregistered")
    assert (gone["brokerName"], gone["reason"], gone["cause"]) == ("raced", "expired", "no heartbeat")


def test_who_registered_before_the_scan_had_not_been_given_up(real: Read) -> None:
    closed, expired = real.of("returned", "BrokerUnregistered")
    assert (closed["reason"], expired["reason"]) == ("channel closed", "expired")
