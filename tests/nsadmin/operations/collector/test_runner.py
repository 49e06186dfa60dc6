"""Collecting from several name servers at a time: what they were, and how much they were asked."""

import random
import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from namesrv_core.errors import RocketMQError
from namesrv_core.history.replay import JournalReplay
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.storage.journal import reader
from nsadmin import AdminClient
from nsadmin.operations.collector.name_server_watch import MessageSink
from nsadmin.operations.collector.runner import Collector, CollectorPlan, journal_folder_of
from tests.support.fake_servers import FakeNameServer, closed_port

SILENT = MessageSink(lambda text: None, lambda text: None)


def collector(plan: CollectorPlan, voice: MessageSink = SILENT) -> Collector:
    return Collector(plan, lambda: AdminClient(plan.addrs, timeout=5), voice)


def fill(server: FakeNameServer, topics: int) -> None:
    server.clusters = {"C": {"a": {0: "h:1"}}}
    server.routes = {f"T{number}": {"a": 6} for number in range(topics)}


def until(condition: Callable[[], object]) -> None:
    ends = monotonic() + 20
    while not condition():
        assert monotonic() < ends, "it never came"
        sleep(0.01)


def test_each_name_server_has_a_journal_of_its_own(tmp_path: Path) -> None:
    with FakeNameServer() as first_server, FakeNameServer(host="::1") as other:
        fill(first_server, 3)
        addrs = (first_server.addr, other.addr, f"127.0.0.1:{closed_port()}")
        first, second, third = collector(CollectorPlan(addrs, tmp_path, None)).poll_once().poll_results
    assert (first.broker_count, first.topic_count, first.event_count, first.poll_error) == (1, 3, 0, None)
    assert (second.topic_count, second.poll_error) == (0, None)
    assert third.topic_count is None
    assert third.poll_error is not None
    servers = [
        record.server_name
        for addr in addrs
        for record in reader.read_last_records(journal_folder_of(tmp_path, addr), 1)
    ]
    assert servers == list(addrs)
    assert ":" not in "".join(path.name for path in tmp_path.iterdir())


def test_a_folder_that_somebody_writes_to_stops_the_start_and_nothing_stays_locked(tmp_path: Path) -> None:
    with FakeNameServer() as first_server, FakeNameServer() as other:
        plan = CollectorPlan((first_server.addr,), tmp_path, 0.01)
        running = collector(plan)
        thread = threading.Thread(target=running.poll_until_stopped)
        thread.start()
        until(lambda: first_server.asked_codes().count(106) > 1)
        with pytest.raises(RocketMQError, match="another process writes the journal"):
            collector(CollectorPlan((other.addr, first_server.addr), tmp_path, None)).poll_once()
        running.request_stop()
        thread.join()
        assert [
            turn.poll_error
            for turn in collector(CollectorPlan((other.addr, first_server.addr), tmp_path, None))
            .poll_once()
            .poll_results
        ] == [None] * 2


def test_polling_goes_on_until_it_is_stopped_and_a_dead_server_holds_nobody_up(tmp_path: Path) -> None:
    messages: list[str] = []
    with FakeNameServer() as first_server:
        fill(first_server, 3)
        dead = f"127.0.0.1:{closed_port()}"
        running = collector(
            CollectorPlan((dead, first_server.addr), tmp_path, 0.01),
            MessageSink(messages.append, lambda text: None),
        )
        thread = threading.Thread(target=running.poll_until_stopped)
        thread.start()
        until(lambda: first_server.asked_codes().count(106) > 3)
        first_server.routes["T1"]["a"] = 4
        asked = first_server.asked_codes().count(106)
        until(lambda: first_server.asked_codes().count(106) > asked + 2)
        running.request_stop()
        thread.join()
    assert messages == [
        f"name server {dead}: connection refused, no server listens on this port; the collector retries"
    ]
    kinds = [
        record.event_type for record in reader.read_records(journal_folder_of(tmp_path, first_server.addr))
    ]
    assert kinds == ["CollectorStarted", "Snapshot", "Polled", "TopicsChanged", "CollectorStopping"]
    failed = [record.event_type for record in reader.read_records(journal_folder_of(tmp_path, dead))]
    assert {"CollectorStarted", "PollFailed", "CollectorStopping"} == set(failed)


def test_a_mistake_in_a_thread_ends_all_and_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: object, seen: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("nsadmin.operations.collector.name_server_poller.NameServerPoller.accept_poll", fail)
    with FakeNameServer() as first_server, FakeNameServer() as other, pytest.raises(ZeroDivisionError):
        collector(CollectorPlan((first_server.addr, other.addr), tmp_path, 0.01)).poll_until_stopped()


def test_no_more_requests_go_out_than_may(tmp_path: Path) -> None:
    times: list[float] = []
    with FakeNameServer() as first_server, FakeNameServer() as other:
        for server in (first_server, other):
            fill(server, 150)
            answer = server.handlers[105]

            def timed(asked: RemotingCommand, answer: Any = answer) -> Any:
                times.append(monotonic())
                return answer(asked)

            server.handlers[105] = timed
        turns = (
            collector(
                CollectorPlan((first_server.addr, other.addr), tmp_path, None, max_in_flight=20, rate=200)
            )
            .poll_once()
            .poll_results
        )
        assert [turn.topic_count for turn in turns] == [150, 150]
    assert len(times) == 300
    # 308 requests at 200 a second: the last ones come in the next second, however fast the servers are.
    assert max(times) - min(times) > 0.9


def test_no_more_requests_are_under_way_than_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    ask = AdminClient.name_server_tables.func  # type: ignore[attr-defined]

    def counted(self: AdminClient) -> Any:
        tables = ask(self)
        plain = tables.get_route_bodies

        def route_bodies(addr: str, topics: list[str]) -> Any:
            sizes.append(len(topics))
            return plain(addr, topics)

        tables.get_route_bodies = route_bodies
        return tables

    monkeypatch.setattr(AdminClient, "name_server_tables", property(counted))
    with FakeNameServer() as first_server, FakeNameServer() as other:
        fill(first_server, 50)
        fill(other, 50)
        collector(
            CollectorPlan((first_server.addr, other.addr), tmp_path, None, max_in_flight=20)
        ).poll_once()
    # Half of them for each of the two.
    assert max(sizes) == 10
    assert sum(sizes) == 100


@pytest.mark.parametrize("seed", range(3))
def test_the_journal_gives_at_each_poll_what_was_answered(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    with FakeNameServer() as server:
        plan = CollectorPlan((server.addr,), tmp_path, None)
        routes_shown: list[dict[str, dict[str, int]]] = []
        for _ in range(15):
            server.clusters = {
                "C": {name: {0: f"h:{chance.randrange(9)}"} for name in chance.sample("abc", 2)}
            }
            server.routes = {
                topic: {name: chance.choice((4, 6)) for name in chance.sample("abc", chance.randrange(3))}
                for topic in chance.sample("TUVW", 3)
            }
            assert [turn.poll_error for turn in collector(plan).poll_once().poll_results] == [None]
            routes_shown.append({topic: dict(found) for topic, found in server.routes.items() if found})
    assert [
        found.problem_texts
        for found in reader.check_journal(journal_folder_of(tmp_path, server.addr))
        if found.problem_texts
    ] == []
    replay, replayed = JournalReplay(), []
    for record in reader.read_records(journal_folder_of(tmp_path, server.addr)):
        replay.feed_record(record)
        if record.event_type == "Polled":
            replayed.append(
                {
                    topic: {name: queue.perm for name, queue in found.items()}
                    for topic, found in replay.queues_by_topic.items()
                }
            )
    assert replayed == routes_shown
