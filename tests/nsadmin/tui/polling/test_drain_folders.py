"""What files of this machine have of drains."""

from pathlib import Path

from nsadmin.operations.drain.state import DrainState, QueueSnapshot
from nsadmin.operations.drain.store import EVENTS_FILE, STATE_FILE, DrainStore, drain_folder_of
from nsadmin.operations.restart.state import RestartState, order_processes, start_process
from nsadmin.operations.restart.store import RestartStore
from nsadmin.tui.polling.drain_folders import poll_drains
from nsadmin.tui.polling.poll_records import DrainRecord
from tests.support.screens import NOON

KEPT = DrainState("cluster-a", "broker-a", ("h:1",), NOON - 60_000, NOON, "me", "wait", reopened=2, puts=7)


def test_each_drain_with_what_happened_last(tmp_path: Path) -> None:
    keeping = DrainStore(drain_folder_of(tmp_path, "cluster-a", "broker-a"), "broker-a")
    assert keeping.try_lock()
    keeping.save_drain(KEPT, QueueSnapshot())
    keeping.append_event({"time": NOON, "event": "brokerGone", "addr": "h:1"})
    with open(keeping.drain_folder / EVENTS_FILE, "a") as events:
        events.write('{"time": 1, "event"')
    drain_poll = poll_drains(lambda: NOON, tmp_path)
    [drain] = drain_poll.drains
    assert isinstance(drain, DrainRecord)
    assert (drain.phase, drain.by, drain.reopened, drain.pid is not None) == ("wait", "me", 2, True)
    assert "h:1" in drain.last
    assert (drain.puts, drain.updated) == (7, NOON)
    keeping.release_lock()
    [drain] = poll_drains(lambda: NOON, tmp_path).drains
    assert drain.pid is None


def test_each_restart_with_its_process_and_its_commands(tmp_path: Path) -> None:
    store = RestartStore(tmp_path, "cluster-a")
    processes = order_processes({"broker-a": {0: "h:1", 1: "h:2"}})
    state = start_process(RestartState("cluster-a", processes, NOON, 0, stop_command="stop it", by="me"))
    assert store.restart_lock.acquire_lock()
    store.save_state(state)
    store.append_event({"time": NOON, "event": "stopped", "reason": "exit code 1"})
    [restart] = poll_drains(lambda: NOON, tmp_path).restarts
    assert restart.process_title == "broker-a (slave 1)"
    assert restart.step == "stop"
    assert restart.position == 0
    assert restart.process_count == 2
    assert (restart.stop_command, restart.by, restart.last) == ("stop it", "me", "stopped: exit code 1")
    assert restart.pid is not None
    store.restart_lock.release_lock()
    assert poll_drains(lambda: NOON, tmp_path).restarts[0].pid is None
    store.state_file.write_text("{")
    assert "cluster-a.json" in poll_drains(lambda: NOON, tmp_path).errors[0]


def test_nothing_is_kept_and_a_folder_that_makes_no_sense(tmp_path: Path) -> None:
    assert poll_drains(lambda: NOON, tmp_path).drains == []
    folder = drain_folder_of(tmp_path, "c", "b")
    folder.mkdir(parents=True)
    (folder / STATE_FILE).write_text("{")
    [error] = poll_drains(lambda: NOON, tmp_path).errors
    assert "state.json is not JSON" in error


def test_a_drain_without_notes_has_none(tmp_path: Path) -> None:
    keeping = DrainStore(drain_folder_of(tmp_path, "cluster-a", "broker-a"), "broker-a")
    assert keeping.try_lock()
    keeping.save_drain(KEPT, QueueSnapshot())
    assert poll_drains(lambda: NOON, tmp_path).drains[0].last == ""
    keeping.release_lock()
