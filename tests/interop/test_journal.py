"""The journal about a real broker: what it registered, what changed, how it ended."""

from itertools import pairwise
from pathlib import Path

import pytest

from namesrv_core.history.records import JournalRecord
from namesrv_core.history.replay import JournalReplay
from namesrv_core.storage.journal import reader
from tests.interop import wire
from tests.interop.cluster import (
    brokers,
    create_topic,
    route,
    wait_for_broker,
    wait_for_runtime_info,
    wait_for_topic,
)
from tests.interop.java_parts import JavaBroker
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for

TOPIC = "JournalTopic"


@pytest.fixture(scope="module")
def journal(released: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The journal of a server that saw a broker come, create a topic, be wiped and be killed."""
    home = tmp_path_factory.mktemp("journal")
    folder = home / "kept"
    with OurNameServer(home / "ours", {"journalDir": str(folder)}) as server:
        broker = JavaBroker(home / "broker", [server.address])
        broker.start()
        try:
            wait_for_broker([server], "broker-a")
            wait_for_runtime_info(broker.port)
            create_topic(broker.port, TOPIC, queues=3)
            wait_for_topic([server], TOPIC)
            assert wire.ask(server.port, 205, {"brokerName": "broker-a"}).code == 0
            current_route = route(server, TOPIC)
            assert current_route is not None
            assert current_route["queueDatas"][0]["perm"] == 4
        finally:
            broker.kill()
        wait_for("the end of the broker", lambda: not brokers(server))
    return folder


@pytest.fixture(scope="module")
def records(journal: Path) -> list[JournalRecord]:
    return list(reader.read_records(journal))


def of(records: list[JournalRecord], kind: str) -> list[JournalRecord]:
    return [record for record in records if record.event_type == kind]


def test_the_journal_is_whole(journal: Path) -> None:
    assert [problem.problem_texts for problem in reader.check_journal(journal)] == [()]


def test_a_real_broker_is_told_with_all_that_it_says_about_itself(records: list[JournalRecord]) -> None:
    (registered,) = of(records, "BrokerRegistered")
    assert registered.event_fields["clusterName"] == "DefaultCluster"
    assert registered.event_fields["info"]["haServerAddr"]
    assert registered.event_fields["info"]["dataVersion"]["timestamp"] > 0
    assert registered.origin.cause == "REGISTER_BROKER"
    assert registered.origin.client_addr


def test_its_heartbeats_are_not(records: list[JournalRecord]) -> None:
    versions = [record.event_fields["info"]["dataVersion"] for record in of(records, "BrokerChanged")]
    assert all(one != other for one, other in pairwise(versions))


def test_a_topic_is_told_as_it_came(records: list[JournalRecord]) -> None:
    changes = [change for record in of(records, "TopicsChanged") for change in record.event_fields["changes"]]
    (created,) = [change for change in changes if TOPIC in change["topics"] and "before" not in change]
    assert (created["after"]["readQueueNums"], created["after"]["perm"]) == (3, 6)


def test_a_wipe_is_told_with_whose_doing_it_was(records: list[JournalRecord]) -> None:
    (wiped,) = of(records, "WritePermWiped")
    assert wiped.origin.cause == "WIPE_WRITE_PERM_OF_BROKER"
    assert (wiped.origin.client_addr or "").startswith("127.0.0.1:")


def test_a_killed_broker_is_told_by_its_channel_and_takes_its_topics_along(
    records: list[JournalRecord],
) -> None:
    (gone,) = of(records, "BrokerUnregistered")
    assert gone.event_fields["reason"] == "channel closed"
    replay = JournalReplay()
    for record in records:
        if record.seq == gone.seq:
            assert replay.queues_by_topic[TOPIC]["broker-a"].perm == 4
        replay.feed_record(record)
    assert (replay.broker_groups, replay.queues_by_topic) == ({}, {})
