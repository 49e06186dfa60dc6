"""What files of this machine have of drains."""

from pathlib import Path

from nsadmin.operations.drain.state import (
    DrainState,
    QueueSnapshot,
    open_drain,
)
from nsadmin.operations.restart.state import (
    open_restart,
    plan_restart,
)
from nsadmin.tui.polling.drain_folders import poll_drains
from nsadmin.tui.polling.poll_records import DrainRecord, DrainsPolled
from tests.support.installations import make_installation
from tests.support.screens import NOON

KEPT = DrainState("cluster-a", "broker-a", ("h:1",), NOON - 60_000, NOON, "me", "wait", reopened=2, puts=7)


def poll(state_home: Path) -> DrainsPolled:
    return poll_drains(lambda: NOON, make_installation(state_home, "h:1", brokers=["h:2"]))


def test_each_drain_with_what_happened_last(tmp_path: Path) -> None:
    keeping = open_drain(tmp_path, "cluster-a", "broker-a")
    assert keeping.lock.acquire()
    keeping.save(KEPT, QueueSnapshot())
    keeping.events.append({"time": NOON, "event": "brokerGone", "addr": "h:1"})
    with open(keeping.events.path, "a") as events:
        events.write('{"time": 1, "event"')
    drain_poll = poll(tmp_path)
    [drain] = drain_poll.drains
    assert isinstance(drain, DrainRecord)
    assert (drain.phase, drain.by, drain.reopened, drain.pid is not None) == ("wait", "me", 2, True)
    assert "h:1" in drain.last
    assert (drain.puts, drain.updated) == (7, NOON)
    keeping.lock.release()
    [drain] = poll(tmp_path).drains
    assert drain.pid is None


def test_each_restart_with_its_process_and_its_commands(tmp_path: Path) -> None:
    store = open_restart(tmp_path, "cluster-a")
    state = plan_restart("cluster-a", {"broker-a": {0: "h:1", 1: "h:2"}}, NOON)
    state = state._replace(stop_command="stop it", by="me")
    assert store.lock.acquire()
    store.state.save(state)
    store.events.append({"time": NOON, "event": "stopped", "reason": "exit code 1"})
    [restart] = poll(tmp_path).restarts
    assert restart.process_title == "broker-a (slave 1)"
    assert restart.step == "stop"
    assert restart.position == 0
    assert restart.process_count == 2
    assert (restart.stop_command, restart.by, restart.last) == ("stop it", "me", "stopped: exit code 1")
    assert restart.pid is not None
    store.lock.release()
    assert poll(tmp_path).restarts[0].pid is None
    store.state.path.write_text("{")
    assert "cluster-a.json" in poll(tmp_path).errors[0]


def test_nothing_is_kept_and_a_folder_that_makes_no_sense(tmp_path: Path) -> None:
    assert poll(tmp_path).drains == []
    folder = open_drain(tmp_path, "c", "b").path
    folder.mkdir(parents=True)
    (folder / "state.json").write_text("{")
    [error] = poll(tmp_path).errors
    assert "state.json is not JSON" in error


def test_a_drain_without_notes_has_none(tmp_path: Path) -> None:
    keeping = open_drain(tmp_path, "cluster-a", "broker-a")
    assert keeping.lock.acquire()
    keeping.save(KEPT, QueueSnapshot())
    assert poll(tmp_path).drains[0].last == ""
    keeping.lock.release()
