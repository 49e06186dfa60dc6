"""The collector on a released name server, and our own journal of the same broker: they tell the same."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from namesrv_core.history.records import JournalRecord
from namesrv_core.history.replay import JournalReplay
from namesrv_core.protocol.codes import Perm
from namesrv_core.storage.journal import reader
from nsadmin import AdminClient
from nsadmin.operations.collector.name_server_watch import MessageSink, PollResult
from nsadmin.operations.collector.runner import Collector, CollectorPlan, journal_folder_of
from tests.interop import wire
from tests.interop.cluster import (
    NameServer,
    create_topic,
    permissions,
    route,
    wait_for_broker,
    wait_for_topic,
    wait_on_each,
)
from tests.interop.java_parts import JavaBroker, JavaNameServer
from tests.interop.our_server import OurNameServer

Routes = dict[str, dict[str, tuple[int, int, int]]]


class Both(NamedTuple):
    """A released name server that is polled, ours that keeps a journal, and a broker registered with both."""

    java: JavaNameServer
    ours: OurNameServer
    broker: JavaBroker
    folder: Path

    def poll(self) -> PollResult:
        plan = CollectorPlan((self.java.address,), self.folder, None)
        silent = MessageSink(lambda text: None, lambda text: None)
        [turn] = Collector(plan, lambda: AdminClient(self.java.address), silent).poll_once().poll_results
        return turn

    @property
    def collected(self) -> Path:
        return journal_folder_of(self.folder, self.java.address)

    @property
    def journal(self) -> Path:
        return self.ours.home / "journal"

    def on_each(self, code: int, ext: dict[str, str]) -> None:
        for server in (self.java, self.ours):
            assert wire.ask(server.port, code, ext).code == 0


@pytest.fixture(scope="module")
def both(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    home = tmp_path_factory.mktemp("collected")
    (home / "java").mkdir()
    (home / "ours").mkdir()
    (home / "broker").mkdir()
    config = {"journalDir": home / "ours" / "journal"}
    with (
        JavaNameServer(home / "java") as java,
        OurNameServer(home / "ours", config) as ours,
        JavaBroker(home / "broker", [java.address, ours.address]) as broker,
    ):
        wait_for_broker([java, ours], broker.name)
        yield Both(java, ours, broker, home / "collected")


def routes(replay: JournalReplay) -> Routes:
    return {
        topic: {
            name: (queue.read_queue_nums, queue.write_queue_nums, queue.perm)
            for name, queue in queues.items()
        }
        for topic, queues in replay.queues_by_topic.items()
    }


def tables(folder: Path) -> JournalReplay:
    assert [problem.problem_texts for problem in reader.check_journal(folder) if problem.problem_texts] == []
    return reader.replay_to_end(folder)


def answered(java: JavaNameServer) -> Routes:
    """What 105 answers for each topic of 206."""
    answers: Routes = {}
    for topic in json.loads(wire.ask(java.port, 206).body)["topicList"]:
        queues = (route(java, topic) or {"queueDatas": []})["queueDatas"]
        answers[topic] = {
            queue["brokerName"]: (queue["readQueueNums"], queue["writeQueueNums"], queue["perm"])
            for queue in queues
        }
    return {topic: queues for topic, queues in answers.items() if queues}


def read_queues(server: NameServer, topic: str) -> object:
    current_route = route(server, topic)
    return current_route and current_route["queueDatas"][0]["readQueueNums"]


def new(folder: Path, after: int) -> list[JournalRecord]:
    return [record for record in reader.read_records(folder) if record.seq > after]


def agree(both: Both) -> PollResult:
    """Poll; what the journals give is what is answered, on the one that is polled and on ours."""
    turn = both.poll()
    assert turn.poll_error is None
    polled, own = tables(both.collected), tables(both.journal)
    assert routes(polled) == routes(own) == answered(both.java)
    assert {name: group.comparable_contents() for name, group in polled.broker_groups.items()} == {
        name: group.comparable_contents() for name, group in own.broker_groups.items()
    }
    assert polled.broker_names_by_cluster == own.broker_names_by_cluster
    return turn


def changes(folder: Path, topic: str) -> list[Any]:
    """What happened to a topic, as the journal has it: queues before and after, whoever did it."""
    changes_seen = []
    for record in reader.read_records(folder):
        for group in record.event_fields.get("changes", ()):
            if topic in group["topics"]:
                changes_seen.append((group.get("before"), group.get("after")))
    return changes_seen


def test_the_history_of_routes_is_that_of_our_own_journal(both: Both) -> None:
    first = agree(both)
    assert first.topic_count is not None
    assert first.topic_count > 5

    create_topic(both.broker.port, "Collected", queues=4)
    wait_for_topic([both.java, both.ours], "Collected")
    agree(both)

    create_topic(both.broker.port, "Collected", queues=8)
    wait_on_each([both.java, both.ours], "8 queues", lambda server: read_queues(server, "Collected") == 8)
    agree(both)

    both.on_each(205, {"brokerName": both.broker.name})
    assert not any(perm & Perm.WRITE for perm in permissions(both.java, both.broker.name).values())
    agree(both)

    both.on_each(327, {"brokerName": both.broker.name})
    agree(both)

    history = changes(both.collected, "Collected")
    assert history == changes(both.journal, "Collected")
    shown_queues = [[queue and (queue["readQueueNums"], queue["perm"]) for queue in step] for step in history]
    assert shown_queues == [[None, (4, 6)], [(4, 6), (8, 6)], [(8, 6), (8, 4)], [(8, 4), (8, 6)]]


def test_values_and_settings_are_told_with_what_was_before(both: Both) -> None:
    agree(both)
    after = both.poll() and reader.read_last_records(both.collected, 1)[0].seq
    key = {"namespace": "ORDER_TOPIC_CONFIG", "key": "Collected"}
    both.on_each(100, {**key, "value": "broker-a:4"})
    assert wire.ask(both.java.port, 318, body=b"waitSecondsForService=46\n").code == 0
    agree(both)
    assert tables(both.collected).kv_tables == tables(both.journal).kv_tables
    both.on_each(102, key)
    agree(both)
    changes_told = [
        (record.event_type, record.event_fields)
        for record in new(both.collected, after)
        if record.event_type not in ("Snapshot", "Polled")
    ]
    change = {"key": "waitSecondsForService", "before": "45", "after": "46"}
    assert changes_told == [
        ("KvPut", {"namespace": "ORDER_TOPIC_CONFIG", "key": "Collected", "value": "broker-a:4"}),
        ("SettingsChanged", {"settingChanges": [change]}),
        ("KvDeleted", {"namespace": "ORDER_TOPIC_CONFIG", "key": "Collected", "before": "broker-a:4"}),
    ]


def test_a_broker_that_went_and_a_name_server_that_does_not_answer(both: Both) -> None:
    agree(both)
    both.broker.stop()
    wait_on_each([both.java, both.ours], "no broker", lambda server: not permissions(server, "broker-a"))
    agree(both)
    types = [record.event_type for record in new(both.collected, 0)]
    assert types[-3:] == ["BrokerUnregistered", "TopicsChanged", "Polled"]
    assert not tables(both.collected).broker_groups
    both.java.stop()
    assert both.poll().poll_error is not None
    assert not tables(both.collected).is_certain
    assert reader.read_last_records(both.collected, 1)[0].event_type == "PollFailed"
