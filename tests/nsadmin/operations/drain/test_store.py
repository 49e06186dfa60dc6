"""A drain's folder."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.events import QueueData
from nsadmin.operations.drain.state import DrainState, InvalidStateError, QueueSnapshot
from nsadmin.operations.drain.store import DrainStore, SavedDrain, drain_folder_of, load_drains

STATE = DrainState("C", "broker-a", ("h:1",), 1, 2)
SNAPSHOT = QueueSnapshot({"h:1": {"T": QueueData("broker-a", 8, 8, 6)}}, None)


@pytest.fixture
def drain_store(tmp_path: Path) -> Iterator[DrainStore]:
    new_store = DrainStore(drain_folder_of(tmp_path, "C", "broker-a"), "broker-a")
    yield new_store
    new_store.release_lock()


def test_no_two_brokers_have_one_folder_and_none_is_elsewhere(tmp_path: Path) -> None:
    names = ["a", "A/b", "A b", "..", ".", "", "A%2fb", "A%b"]
    folders = {drain_folder_of(tmp_path, "C", name) for name in names}
    assert len(folders) == len(names)
    assert {folder.parent for folder in folders} == {tmp_path / "drains" / "C"}


def test_what_was_saved_is_there(drain_store: DrainStore) -> None:
    assert drain_store.try_lock()
    assert drain_store.load_drain() is None
    drain_store.save_drain(STATE, SNAPSHOT)
    assert DrainStore(drain_store.drain_folder, "broker-a").load_drain() == (STATE, SNAPSHOT)
    at = (drain_store.drain_folder / "state.json").stat().st_mtime_ns
    drain_store.save_drain(STATE._replace(updated=9), SNAPSHOT)
    assert (drain_store.drain_folder / "state.json").stat().st_mtime_ns == at
    drain_store.save_drain(STATE._replace(phase="wait"), SNAPSHOT)
    assert (DrainStore(drain_store.drain_folder, "broker-a").load_drain() or (STATE, None))[0].phase == "wait"


def test_only_one_process_is_at_it(drain_store: DrainStore) -> None:
    other = DrainStore(drain_store.drain_folder, "broker-a")
    assert drain_store.holder_pid is None
    assert drain_store.try_lock()
    assert drain_store.try_lock()
    assert not other.try_lock()
    assert other.holder_pid == os.getpid()
    drain_store.release_lock()
    assert other.try_lock()
    other.release_lock()
    assert drain_store.holder_pid is None


def test_a_killed_process_is_at_it_no_more(drain_store: DrainStore) -> None:
    drain_store.drain_folder.mkdir(parents=True)
    script = (
        "import sys, os, signal; from pathlib import Path\n"
        "from nsadmin.operations.drain.store import DrainStore\n"
        "store = DrainStore(Path(sys.argv[1]), 'b')\n"
        "assert store.try_lock(); print('taken', flush=True); signal.pause()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(drain_store.drain_folder)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as child:
        assert child.stdout is not None
        try:
            first_line = child.stdout.readline()
            lock_state = drain_store.try_lock(), drain_store.holder_pid
        finally:
            child.kill()
    assert (first_line, lock_state) == (b"taken\n", (False, child.pid))
    assert drain_store.try_lock()
    drain_store.release_lock()


def test_others_read_what_is_noted_from_now_on(drain_store: DrainStore) -> None:
    drain_store.drain_folder.mkdir(parents=True)
    drain_store.append_event({"event": "old"})
    notes = DrainStore(drain_store.drain_folder, "broker-a").follow_events()
    assert notes.read_new_events() == []
    drain_store.append_event({"event": "new", "text": "ß"})
    with open(drain_store.drain_folder / "events.jsonl", "ab") as file:
        file.write(b'{"event":')
    assert notes.read_new_events() == [{"event": "new", "text": "ß"}]
    assert notes.read_new_events() == []
    drain_store.append_event({"event": "after the torn one"})
    assert notes.read_new_events() == [{"event": "after the torn one"}]


def test_what_is_undone_is_put_away(drain_store: DrainStore, tmp_path: Path) -> None:
    assert drain_store.try_lock()
    drain_store.save_drain(STATE, SNAPSHOT)
    drain_store.append_event({"event": "old"})
    drain_store.archive_drain()
    assert drain_store.load_drain() is None
    assert list(load_drains(tmp_path)) == []
    assert json.loads((drain_store.drain_folder / "undone-state.json").read_text())["broker"] == "broker-a"
    drain_store.save_drain(STATE, SNAPSHOT)
    assert drain_store.load_drain() == (STATE, SNAPSHOT)
    drain_store.release_lock()


def test_all_drains_are_found_and_what_makes_no_sense_is_told(
    drain_store: DrainStore, tmp_path: Path
) -> None:
    drain_store.drain_folder.mkdir(parents=True)
    drain_store.save_drain(STATE, SNAPSHOT)
    broken = drain_folder_of(tmp_path, "C", "broker-b")
    broken.mkdir()
    (broken / "state.json").write_text("{")
    drains, bad = load_drains(tmp_path)
    assert drains == SavedDrain(drain_store.drain_folder, STATE, SNAPSHOT, None)
    assert isinstance(bad, InvalidStateError)
    assert "state.json is not JSON" in str(bad)
    with pytest.raises(InvalidStateError, match="broker-b"):
        DrainStore(broken, "broker-b").load_drain()
