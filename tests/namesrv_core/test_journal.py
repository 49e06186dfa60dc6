"""The journal of a real server: complete after kill -9, and never in the way of an answer."""

import json
import random
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from namesrv_core.events import EventsLost, JournalRepaired, ServerStopping
from namesrv_core.history.records import JournalRecord, event_of_record
from namesrv_core.history.replay import JournalReplay
from namesrv_core.protocol import codec
from namesrv_core.protocol.command import build_request
from namesrv_core.protocol.json_bodies import DataVersion
from namesrv_core.server import journal_recorder
from namesrv_core.storage.journal import reader, rolling_writer
from tests.support.name_servers import (
    Peer,
    call_server,
    run_on_loop,
    start_name_server,
    start_program,
    wait_until,
)
from tests.support.wire import broker_ext, registration_body


def at(home: Path, *args: str) -> tuple[str, ...]:
    folder = ("--journal-dir", str(home / "journal"))
    return ("--home", str(home), "--bind", "127.0.0.1", "--port", "0", *folder, *args)


def records(home: Path) -> list[JournalRecord]:
    """All records, of a journal that must be whole."""
    assert [p.problem_texts for p in reader.check_journal(home / "journal") if p.problem_texts] == []
    return list(reader.read_records(home / "journal"))


def kinds(home: Path) -> list[str]:
    return [record.event_type for record in records(home)]


def test_a_life_from_start_to_stop_is_in_the_journal_with_the_signal_that_ended_it(tmp_path: Path) -> None:
    with start_program(*at(tmp_path)) as server, server.connect() as connection:
        assert (
            call_server(build_request(100, {"namespace": "n", "key": "k", "value": "v"}), connection).code
            == 0
        )
        assert b"\njournal=ok\n" in call_server(build_request(319), connection).body
        assert server.end(signal.SIGTERM)[0] == 0
    assert kinds(tmp_path) == ["Snapshot", "ServerStarted", "ServerReady", "KvPut", "ServerStopping"]
    assert event_of_record(records(tmp_path)[-1]) == ServerStopping("SIGTERM")
    assert {record.server_name for record in records(tmp_path)} == {records(tmp_path)[0].server_name}


def test_a_snapshot_is_taken_on_sigusr1(tmp_path: Path) -> None:
    with start_program(*at(tmp_path)) as server, server.connect() as connection:
        server.process.send_signal(signal.SIGUSR1)
        while kinds(tmp_path).count("Snapshot") < 2:
            call_server(build_request(106), connection)
    assert kinds(tmp_path)[3] == "Snapshot"


def last_segment(home: Path) -> list[Path]:
    return sorted((home / "journal").glob("*.jsonl"))[-1:]


def test_kill_9_leaves_a_journal_that_goes_on_without_a_hole(tmp_path: Path) -> None:
    chance, number, torn = random.Random(5), 0, 0
    for _ in range(4):
        with start_program(*at(tmp_path)) as server, server.connect() as connection:
            # So few that their lines in the log, which nobody reads meanwhile, fit into a pipe.
            for _ in range(60):
                ext = broker_ext("a", 0, f"127.0.0.1:{number + 1}")
                asked = build_request(103, ext, registration_body([f"T{number}", f"U{number}"]))
                connection.sendall(codec.encode_command(asked))
                number += 1
            connection.recv(chance.randrange(1, 5_000))
            while not any(path.stat().st_size for path in last_segment(tmp_path)):
                with server.connect() as other:
                    call_server(build_request(106), other)
            server.end(signal.SIGKILL)
        for last in last_segment(tmp_path):
            content = last.read_bytes()
            if chance.random() < 0.7:
                # A kill does not always strike within a write; what it leaves if it does looks like this.
                content = content[: -chance.randrange(1, 40)]
                last.write_bytes(content)
            torn += bool(content) and not content.endswith(b"\n")
    with start_program(*at(tmp_path)) as server:
        server.end(signal.SIGTERM)
    records_left = records(tmp_path)
    assert [record.seq for record in records_left] == list(range(1, len(records_left) + 1))
    repairs = [event_of_record(r) for r in records_left if r.event_type == JournalRepaired.__name__]
    assert 0 < len(repairs) <= torn


def test_two_servers_do_not_share_a_journal(tmp_path: Path) -> None:
    with (
        start_program(*at(tmp_path)),
        pytest.raises(AssertionError, match="another process writes the journal"),
    ):
        start_program(*at(tmp_path)).__enter__()


def test_a_journal_that_cannot_be_there_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "journal").write_text("a file")
    with pytest.raises(AssertionError, match=r"nsadmin namesrv: .*journal: File exists"):
        start_program(*at(tmp_path)).__enter__()


def test_no_request_moves_or_shortens_the_journal(tmp_path: Path) -> None:
    with start_program(*at(tmp_path)) as server, server.connect() as connection:
        for key in ("journalDir", "journalKeepDays", "journalFsync", "journalServerId"):
            assert call_server(build_request(318, body=f"{key}=1\n".encode()), connection).code == 16


def test_tables_at_any_moment_are_those_that_were_answered_then(tmp_path: Path) -> None:
    answers: list[bytes] = []
    with start_program(*at(tmp_path)) as server, server.connect() as connection:
        for number in range(10):
            call_server(
                build_request(103, broker_ext(f"b{number}", 0, f"h:{number}"), registration_body(["T", "U"])),
                connection,
            )
            answers.append(call_server(build_request(105, {"topic": "T"}), connection).body)
        server.end(signal.SIGTERM)
    replay, routes_shown = JournalReplay(), []
    for record in records(tmp_path):
        replay.feed_record(record)
        if record.event_type == "TopicsChanged":
            routes_shown.append([queue.broker_name for queue in replay.queues_by_topic["T"].values()])
    assert routes_shown == [[item["brokerName"] for item in json.loads(b)["queueDatas"]] for b in answers]


@pytest.mark.parametrize("seed", range(3))
def test_the_files_give_the_live_tables_after_any_requests_of_many_clients(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)

    async def something(peer: Peer) -> None:
        name, topics = f"b{chance.randrange(4)}", chance.sample(["T", "U", "V", "W"], 2)
        version = DataVersion(chance.randrange(5), 0, 1)
        ext = broker_ext(name, chance.randrange(2), f"h:{chance.randrange(6) + 1}")
        code, own, body = chance.choice(
            [
                (103, ext, registration_body(topics, version)),
                (103, ext, registration_body(topics, version)),
                (104, ext, b""),
                (205, {"brokerName": name}, b""),
                (327, {"brokerName": name}, b""),
                (216, {"topic": topics[0]}, b""),
                (100, {"namespace": "n", "key": topics[0], "value": name}, b""),
                (102, {"namespace": "n", "key": topics[0]}, b""),
                (318, {}, f"waitSecondsForService={chance.randrange(3)}\n".encode()),
            ]
        )
        assert (await peer.send_request(code, own, body)).code == 0

    @run_on_loop
    async def test() -> None:
        async with start_name_server(tmp_path, journalDir=str(tmp_path / "journal"), listenPort=0) as server:
            for _ in range(12):
                async with (
                    Peer.connect(server.namesrv_addr) as peer,
                    Peer.connect(server.namesrv_addr) as other,
                ):
                    for _ in range(chance.randrange(1, 15)):
                        await something(chance.choice((peer, other)))
            async with Peer.connect(server.namesrv_addr) as peer:
                await something(peer)
                server.take_snapshot()

    test()
    # Every snapshot was compared with what the events before it give.
    reasons = [r.event_fields["reason"] for r in records(tmp_path) if r.event_type == "Snapshot"]
    assert reasons == ["start", "request"]


class SlowDisk:
    """Files that take nothing until `release` is called, or refuse everything."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.write: Callable[[Any, memoryview], int] = lambda file, data: int(file.write(data))
        really, disk = rolling_writer._open_for_append, self

        class File:
            def __init__(self, path: Path) -> None:
                self._file = really(path)

            def write(self, data: memoryview) -> int:
                return disk.write(self._file, data)

            def __getattr__(self, name: str) -> Any:
                return getattr(self._file, name)

        monkeypatch.setattr(rolling_writer, "_open_for_append", File)
        monkeypatch.setattr(journal_recorder, "_RETRY_SECONDS", 0.01)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> SlowDisk:
    return SlowDisk(monkeypatch)


async def register_many(peer: Peer, count: int) -> None:
    for number in range(count):
        ext = broker_ext(f"b{number}", 0, f"h:{number}")
        assert (await peer.send_request(103, ext, registration_body(["T", "U"]))).code == 0


def test_a_disk_that_hangs_delays_no_answer_and_what_it_missed_is_counted(
    tmp_path: Path, disk: SlowDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, reached = threading.Event(), threading.Event()
    really = disk.write

    def hang(file: Any, data: memoryview) -> int:
        reached.set()
        gate.wait(20)
        return really(file, data)

    monkeypatch.setattr(journal_recorder, "MAX_WAITING_CHANGES", 50)

    @run_on_loop
    async def test() -> None:
        async with (
            start_name_server(tmp_path, journalDir=str(tmp_path / "journal")) as server,
            Peer.connect(server.namesrv_addr) as peer,
        ):
            disk.write = hang
            await register_many(peer, 100)
            await wait_until(reached.is_set)
            assert not gate.is_set()
            gate.set()
            disk.write = really
            await wait_until(lambda: any(record.event_type == "Snapshot"
                                    and record.event_fields["reason"] == "loss"
                                    for record in reader.read_records(tmp_path / "journal")))  # fmt: skip
            await register_many(peer, 1)

    test()
    events = [event_of_record(record) for record in records(tmp_path)]
    assert sum(event.lost for event in events if isinstance(event, EventsLost)) > 0
    replay = JournalReplay()
    for record in records(tmp_path):
        replay.feed_record(record)
    assert replay.is_certain
    assert len(replay.broker_groups) == 100


def test_a_full_disk_is_in_the_status_while_the_server_goes_on_and_over_when_there_is_room(
    tmp_path: Path, disk: SlowDisk
) -> None:
    really = disk.write

    def full(file: Any, data: memoryview) -> int:
        raise OSError(28, "No space left on device")

    @run_on_loop
    async def test() -> None:
        async with (
            start_name_server(tmp_path, journalDir=str(tmp_path / "journal")) as server,
            Peer.connect(server.namesrv_addr) as peer,
        ):
            disk.write = full
            await register_many(peer, 3)
            while b"\njournal=failing: No space left on device\n" not in (await peer.send_request(319)).body:
                assert (await peer.send_request(105, {"topic": "T"})).code == 0
            disk.write = really
            while b"\njournal=ok\n" not in (await peer.send_request(319)).body:
                assert (await peer.send_request(105, {"topic": "T"})).code == 0

    test()
    record_kinds = kinds(tmp_path)
    assert record_kinds.count("BrokerRegistered") == 3
    assert record_kinds.count("JournalResumed") == 1
