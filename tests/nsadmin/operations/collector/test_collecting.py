"""The collector against our name server: replaying what it wrote gives what was answered at each poll."""

import json
import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from namesrv_core.history.replay import JournalReplay
from namesrv_core.protocol import fastjson
from namesrv_core.protocol.command import build_request
from namesrv_core.protocol.json_bodies import DataVersion, broker_data_json, queue_data_json
from namesrv_core.storage.journal import reader
from nsadmin import AdminClient
from nsadmin.operations.collector.name_server_watch import MessageSink
from nsadmin.operations.collector.runner import Collector, CollectorPlan, journal_folder_of
from tests.support.name_servers import ServerProgram, call_server, start_program
from tests.support.wire import broker_ext, registration_body, topic_config


class Changing:
    """A name server, and seeded requests that change something on it."""

    def __init__(self, server: ServerProgram, seed: int) -> None:
        self.chance = random.Random(seed)
        self.connection = server.connect()
        self.addr = "{}:{}".format(*self.connection.getpeername()[:2])
        self.version = 0

    def ask(self, code: int, ext: dict[str, str] | None = None, body: bytes = b"") -> Any:
        answer = call_server(build_request(code, ext, body), self.connection)
        return answer if code == 105 else (answer.code, answer.body)

    def something(self) -> None:
        chance, self.version = self.chance, self.version + 1
        name, topic = chance.choice("abc"), chance.choice("TUVW")
        addr = f"127.0.0.1:{chance.randrange(1, 6)}"
        queues = [
            topic_config(each, readQueueNums=chance.choice((4, 8))) for each in chance.sample("TUVW", 2)
        ]
        ext = broker_ext(name, chance.randrange(2), addr)
        code, own, body = chance.choice(
            [
                (103, ext, registration_body(queues, DataVersion(self.version, 0, 1))),
                (103, ext, registration_body(queues, DataVersion(self.version, 0, 1))),
                (103, ext, registration_body(queues, DataVersion(self.version, 0, 1))),
                (104, ext, b""),
                (205, {"brokerName": name}, b""),
                (327, {"brokerName": name}, b""),
                (216, {"topic": topic}, b""),
                (100, {"namespace": "N", "key": topic, "value": name}, b""),
                (102, {"namespace": "N", "key": topic}, b""),
                (318, {}, f"waitSecondsForService={chance.randrange(3)}\n".encode()),
            ]
        )
        self.ask(code, own, body)

    def routes(self) -> dict[str, Any]:
        """What 105 answers now, in standard JSON."""
        asked = ({"topic": topic, "acceptStandardJsonOnly": "true"} for topic in "TUVW")
        return {ext["topic"]: ordered(self.ask(105, ext).body) for ext in asked}


def ordered(body: bytes | None) -> Any:
    """A route without the order of its brokers."""
    if not body:
        return None
    value = json.loads(body)
    return {
        part: sorted(value[part], key=lambda one: str(one["brokerName"]))
        for part in ("queueDatas", "brokerDatas")
    }


def routes_of(replay: JournalReplay) -> dict[str, Any]:
    """What 105 would answer of these tables."""
    return {topic: _route(replay, topic) for topic in "TUVW"}


def _route(replay: JournalReplay, topic: str) -> Any:
    queues = replay.queues_by_topic.get(topic, {})
    groups = {name: replay.broker_groups[name] for name in queues if name in replay.broker_groups}
    if not groups:
        return None
    brokers = [
        broker_data_json(one.cluster_name, name, one.broker_addrs, one.enable_acting_master, one.zone_name)
        for name, one in groups.items()
    ]
    route_data = {"queueDatas": [queue_data_json(queue) for queue in queues.values()], "brokerDatas": brokers}
    return ordered(fastjson.encode_json(route_data, is_standard=True))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProgram]:
    with start_program("--home", str(tmp_path), "--bind", "127.0.0.1", "--port", "0") as name_server:
        yield name_server


@pytest.mark.parametrize("seed", range(3))
def test_the_journal_gives_the_routes_that_were_answered_at_each_poll(
    server: ServerProgram, tmp_path: Path, seed: int
) -> None:
    changing, answers = Changing(server, seed), []
    plan = CollectorPlan((changing.addr,), tmp_path / "collected", None, namespaces=("N",))
    silent = MessageSink(lambda text: None, lambda text: None)
    with closing(changing.connection):
        for _ in range(25):
            for _ in range(changing.chance.randrange(5)):
                changing.something()
            [turn] = Collector(plan, lambda: AdminClient(changing.addr), silent).poll_once().poll_results
            assert turn.poll_error is None
            answers.append(changing.routes())
    folder = journal_folder_of(plan.folder, changing.addr)
    assert [problem.problem_texts for problem in reader.check_journal(folder) if problem.problem_texts] == []
    replay, replayed = JournalReplay(), []
    for record in reader.read_records(folder):
        replay.feed_record(record)
        if record.event_type == "Polled":
            assert replay.is_certain
            replayed.append(routes_of(replay))
    assert replayed == answers
    assert any(answer["T"] != answers[0]["T"] for answer in answers)
