"""What one name server's polls come to."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.events import Event, Polled, PollFailed, PollRecovered
from namesrv_core.history.records import event_of_record
from namesrv_core.storage.journal import reader
from nsadmin import AdminClient
from nsadmin.operations.collector.journals import NameServerJournal
from nsadmin.operations.collector.name_server_poller import NameServerPoller
from nsadmin.operations.collector.name_server_watch import MessageSink, NameServerWatch
from nsadmin.operations.collector.request_pace import RequestPace
from tests.support.fake_servers import FakeNameServer, refuse_with


class Watched:
    """A watch of a fake name server; its time goes on by 20 s with each poll."""

    def __init__(self, folder: Path, server: FakeNameServer, admin: AdminClient) -> None:
        self.folder, self.server, self.now = folder, server, 1_000_000
        self.warned: list[str] = []
        self.remarked: list[str] = []
        self.said: list[str] = []
        self.keeping = NameServerJournal(folder, server.addr)
        poller = NameServerPoller(admin.name_server_tables, server.addr, ["N"], RequestPace(10_000), 64)
        voice = MessageSink(self.warned.append, self.remarked.append, self.said.append)
        self.watch = NameServerWatch(
            server.addr, poller, self.keeping, voice, 15_000, lambda: self.now, lambda: self.now
        )

    def poll(self) -> None:
        self.now += 20_000
        self.watch.run_turn()

    def events(self) -> list[Event | None]:
        return [event_of_record(record) for record in reader.read_records(self.folder)]

    def kinds(self) -> list[str]:
        return [type(event).__name__ for event in self.events()]


@pytest.fixture
def server_watch(tmp_path: Path) -> Iterator[Watched]:
    with FakeNameServer({"C": {"a": {0: "h:1", 1: "h:2"}}}) as server, AdminClient(server.addr) as admin:
        server.routes = {"T": {"a": 6}}
        new_watch = Watched(tmp_path, server, admin)
        yield new_watch
        new_watch.keeping.close()


def test_changes_are_written_and_nothing_is_said_of_them(server_watch: Watched) -> None:
    server_watch.poll()
    server_watch.server.routes["T"]["a"] = 4
    server_watch.poll()
    server_watch.watch.end_run("SIGTERM")
    assert server_watch.kinds() == [
        "CollectorStarted",
        "Snapshot",
        "Polled",
        "TopicsChanged",
        "CollectorStopping",
    ]
    assert server_watch.warned == server_watch.remarked == []
    assert [line.split(": ", 1)[1] for line in server_watch.said] == [
        "polled in 0 ms: 2 brokers, 1 topic, 0 events",
        "polled in 0 ms: 2 brokers, 1 topic, 1 event",
    ]


def test_each_failed_poll_is_written_and_the_first_is_said(server_watch: Watched) -> None:
    server_watch.poll()
    answer = server_watch.server.handlers[106]
    server_watch.server.handlers[106] = refuse_with(1, "not ready")
    server_watch.poll()
    server_watch.poll()
    server_watch.server.handlers[106] = answer
    server_watch.server.kv["N"] = {"k": "v"}
    server_watch.poll()
    failed = "SYSTEM_ERROR (1): not ready"
    assert [event for event in server_watch.events() if isinstance(event, (PollFailed, PollRecovered))] == [
        PollFailed(failed, 1),
        PollFailed(failed, 2),
        PollRecovered(2, 40_000),
    ]
    # What changed meanwhile comes first: then only are the tables known again.
    assert server_watch.kinds()[-3:-1] == ["KvPut", "PollRecovered"]
    addr = server_watch.server.addr
    assert server_watch.warned == [
        f"name server {addr}: {failed}; the collector retries",
        f"name server {addr}: answers again after 2 failed polls",
    ]


def test_a_minute_has_a_proof_of_looking(server_watch: Watched) -> None:
    for _ in range(8):
        server_watch.poll()
    proofs = [event for event in server_watch.events() if isinstance(event, Polled)]
    assert proofs == [Polled(1, 2, 1, 0), Polled(3, 2, 1, 0), Polled(3, 2, 1, 0)]


def test_a_poll_that_takes_longer_than_the_interval_is_told_once(server_watch: Watched) -> None:
    answer = server_watch.server.handlers[206]

    def slow(asked: object) -> object:
        server_watch.now += 16_000
        return answer(asked)  # type: ignore[arg-type]

    server_watch.server.handlers[206] = slow  # type: ignore[assignment]
    server_watch.poll()
    server_watch.poll()
    assert server_watch.remarked == [
        f"name server {server_watch.server.addr}: a poll took 16.0 s, more than the interval of 15 s"
    ]


def test_a_disk_that_takes_nothing_is_told_and_that_it_does_again(
    server_watch: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    server_watch.poll()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as context:
        context.setattr(server_watch.keeping._journal, "append_lines", fail)
        server_watch.server.routes["T"]["a"] = 4
        server_watch.poll()
    server_watch.server.routes["T"]["a"] = 6
    server_watch.poll()
    addr = server_watch.server.addr
    assert server_watch.warned == [
        f"the journal of {addr} cannot be written: No space left on device; the collector continues to poll",
        f"the journal of {addr} is writable again",
    ]
    assert server_watch.kinds()[-3:] == ["EventsLost", "JournalResumed", "Snapshot"]
