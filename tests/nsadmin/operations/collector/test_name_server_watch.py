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
from tests.support.servers import FakeNameServer, refuse_with


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
def watched(tmp_path: Path) -> Iterator[Watched]:
    with FakeNameServer({"C": {"a": {0: "h:1", 1: "h:2"}}}) as server, AdminClient(server.addr) as admin:
        server.routes = {"T": {"a": 6}}
        new_watch = Watched(tmp_path, server, admin)
        yield new_watch
        new_watch.keeping.close()


def test_changes_are_written_and_nothing_is_said_of_them(watched: Watched) -> None:
    watched.poll()
    watched.server.routes["T"]["a"] = 4
    watched.poll()
    watched.watch.end_run("SIGTERM")
    assert watched.kinds() == ["CollectorStarted", "Snapshot", "Polled", "TopicsChanged", "CollectorStopping"]
    assert watched.warned == watched.remarked == []
    assert [line.split(": ", 1)[1] for line in watched.said] == [
        "polled in 0 ms: 2 brokers, 1 topics, 0 events",
        "polled in 0 ms: 2 brokers, 1 topics, 1 events",
    ]


def test_each_failed_poll_is_written_and_the_first_is_said(watched: Watched) -> None:
    watched.poll()
    answer = watched.server.handlers[106]
    watched.server.handlers[106] = refuse_with(1, "not ready")
    watched.poll()
    watched.poll()
    watched.server.handlers[106] = answer
    watched.server.kv["N"] = {"k": "v"}
    watched.poll()
    failed = "SYSTEM_ERROR (1): not ready"
    assert [event for event in watched.events() if isinstance(event, (PollFailed, PollRecovered))] == [
        PollFailed(failed, 1),
        PollFailed(failed, 2),
        PollRecovered(2, 40_000),
    ]
    # What changed meanwhile comes first: then only are the tables known again.
    assert watched.kinds()[-3:-1] == ["KvPut", "PollRecovered"]
    addr = watched.server.addr
    assert watched.warned == [
        f"name server {addr}: {failed}; the collector retries",
        f"name server {addr}: answers again after 2 failed polls",
    ]


def test_a_minute_has_a_proof_of_looking(watched: Watched) -> None:
    for _ in range(8):
        watched.poll()
    proofs = [event for event in watched.events() if isinstance(event, Polled)]
    assert proofs == [Polled(1, 2, 1, 0), Polled(3, 2, 1, 0), Polled(3, 2, 1, 0)]


def test_a_poll_that_takes_longer_than_the_interval_is_told_once(watched: Watched) -> None:
    answer = watched.server.handlers[206]

    def slow(asked: object) -> object:
        watched.now += 16_000
        return answer(asked)  # type: ignore[arg-type]

    watched.server.handlers[206] = slow  # type: ignore[assignment]
    watched.poll()
    watched.poll()
    assert watched.remarked == [
        f"name server {watched.server.addr}: a poll took 16.0 s, more than the interval"
    ]


def test_a_disk_that_takes_nothing_is_told_and_that_it_does_again(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched.poll()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as context:
        context.setattr(watched.keeping._journal, "append_lines", fail)
        watched.server.routes["T"]["a"] = 4
        watched.poll()
    watched.server.routes["T"]["a"] = 6
    watched.poll()
    addr = watched.server.addr
    assert watched.warned == [
        f"the journal of {addr} cannot be written: No space left on device; the collector continues to poll",
        f"the journal of {addr} is writable again",
    ]
    assert watched.kinds()[-3:] == ["EventsLost", "JournalResumed", "Snapshot"]
