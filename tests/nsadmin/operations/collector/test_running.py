"""Collecting from several name servers at a time: what they were, and how much they were asked."""

import random
import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from namesrv_core.errors import RocketMQError
from namesrv_core.history.replay import Replay
from namesrv_core.protocol.command import Command
from namesrv_core.storage import reading
from nsadmin import AdminClient
from nsadmin.operations.collector.running import Collector, Plan, folder_of
from nsadmin.operations.collector.watching import Voice
from tests.support.servers import FakeNameServer, closed_port

SILENT = Voice(lambda text: None, lambda text: None)


def collector(plan: Plan, voice: Voice = SILENT) -> Collector:
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
    with FakeNameServer() as one, FakeNameServer(host="::1") as other:
        fill(one, 3)
        addrs = (one.addr, other.addr, f"127.0.0.1:{closed_port()}")
        first, second, third = collector(Plan(addrs, tmp_path, None)).once().turns
    assert (first.brokers, first.topics, first.events, first.error) == (1, 3, 0, None)
    assert (second.topics, second.error) == (0, None)
    assert third.topics is None
    assert third.error is not None
    servers = [record.server for addr in addrs for record in reading.last(folder_of(tmp_path, addr), 1)]
    assert servers == list(addrs)
    assert ":" not in "".join(path.name for path in tmp_path.iterdir())


def test_a_folder_that_somebody_writes_to_stops_the_start_and_nothing_stays_locked(tmp_path: Path) -> None:
    with FakeNameServer() as one, FakeNameServer() as other:
        plan = Plan((one.addr,), tmp_path, 0.01)
        running = collector(plan)
        thread = threading.Thread(target=running.run)
        thread.start()
        until(lambda: one.codes().count(106) > 1)
        with pytest.raises(RocketMQError, match="is written by another process"):
            collector(Plan((other.addr, one.addr), tmp_path, None)).once()
        running.stop()
        thread.join()
        assert [
            turn.error for turn in collector(Plan((other.addr, one.addr), tmp_path, None)).once().turns
        ] == [None] * 2


def test_polling_goes_on_until_it_is_stopped_and_a_dead_server_holds_nobody_up(tmp_path: Path) -> None:
    told: list[str] = []
    with FakeNameServer() as one:
        fill(one, 3)
        dead = f"127.0.0.1:{closed_port()}"
        running = collector(Plan((dead, one.addr), tmp_path, 0.01), Voice(told.append, lambda text: None))
        thread = threading.Thread(target=running.run)
        thread.start()
        until(lambda: one.codes().count(106) > 3)
        one.routes["T1"]["a"] = 4
        asked = one.codes().count(106)
        until(lambda: one.codes().count(106) > asked + 2)
        running.stop()
        thread.join()
    assert told == [f"name server {dead}: connection refused, nothing listens there; polling goes on"]
    kinds = [record.type for record in reading.records(folder_of(tmp_path, one.addr))]
    assert kinds == ["CollectorStarted", "Snapshot", "Polled", "TopicsChanged", "CollectorStopping"]
    failed = [record.type for record in reading.records(folder_of(tmp_path, dead))]
    assert {"CollectorStarted", "PollFailed", "CollectorStopping"} == set(failed)


def test_a_mistake_in_a_thread_ends_all_and_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: object, seen: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("nsadmin.operations.collector.polling.Poller.believe", fail)
    with FakeNameServer() as one, FakeNameServer() as other, pytest.raises(ZeroDivisionError):
        collector(Plan((one.addr, other.addr), tmp_path, 0.01)).run()


def test_no_more_requests_go_out_than_may(tmp_path: Path) -> None:
    times: list[float] = []
    with FakeNameServer() as one, FakeNameServer() as other:
        for server in (one, other):
            fill(server, 150)
            answer = server.handlers[105]

            def timed(asked: Command, answer: Any = answer) -> Any:
                times.append(monotonic())
                return answer(asked)

            server.handlers[105] = timed
        turns = collector(Plan((one.addr, other.addr), tmp_path, None, in_flight=20, rate=200)).once().turns
        assert [turn.topics for turn in turns] == [150, 150]
    assert len(times) == 300
    # 308 requests at 200 a second: the last ones come in the next second, however fast the servers are.
    assert max(times) - min(times) > 0.9


def test_no_more_requests_are_under_way_than_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    ask = AdminClient.tables.func  # type: ignore[attr-defined]

    def counted(self: AdminClient) -> Any:
        tables = ask(self)
        plain = tables.route_bodies

        def route_bodies(addr: str, topics: list[str]) -> Any:
            sizes.append(len(topics))
            return plain(addr, topics)

        tables.route_bodies = route_bodies
        return tables

    monkeypatch.setattr(AdminClient, "tables", property(counted))
    with FakeNameServer() as one, FakeNameServer() as other:
        fill(one, 50)
        fill(other, 50)
        collector(Plan((one.addr, other.addr), tmp_path, None, in_flight=20)).once()
    # Half of them for each of the two.
    assert max(sizes) == 10
    assert sum(sizes) == 100


@pytest.mark.parametrize("seed", range(3))
def test_the_journal_gives_at_each_poll_what_was_answered(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    with FakeNameServer() as server:
        plan = Plan((server.addr,), tmp_path, None)
        shown: list[dict[str, dict[str, int]]] = []
        for _ in range(15):
            server.clusters = {
                "C": {name: {0: f"h:{chance.randrange(9)}"} for name in chance.sample("abc", 2)}
            }
            server.routes = {
                topic: {name: chance.choice((4, 6)) for name in chance.sample("abc", chance.randrange(3))}
                for topic in chance.sample("TUVW", 3)
            }
            assert [turn.error for turn in collector(plan).once().turns] == [None]
            shown.append({topic: dict(found) for topic, found in server.routes.items() if found})
    assert [
        found.problems for found in reading.check(folder_of(tmp_path, server.addr)) if found.problems
    ] == []
    replay, replayed = Replay(), []
    for record in reading.records(folder_of(tmp_path, server.addr)):
        replay.feed(record)
        if record.type == "Polled":
            replayed.append(
                {
                    topic: {name: queue.perm for name, queue in found.items()}
                    for topic, found in replay.topics.items()
                }
            )
    assert replayed == shown
