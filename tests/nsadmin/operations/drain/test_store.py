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
def keeping(tmp_path: Path) -> Iterator[DrainStore]:
    new_store = DrainStore(drain_folder_of(tmp_path, "C", "broker-a"), "broker-a")
    yield new_store
    new_store.release_lock()


def test_no_two_brokers_have_one_folder_and_none_is_elsewhere(tmp_path: Path) -> None:
    names = ["a", "A/b", "A b", "..", ".", "", "A%2fb", "A%b"]
    folders = {drain_folder_of(tmp_path, "C", name) for name in names}
    assert len(folders) == len(names)
    assert {folder.parent for folder in folders} == {tmp_path / "drains" / "C"}


def test_what_was_saved_is_there(keeping: DrainStore) -> None:
    assert keeping.try_lock()
    assert keeping.load_drain() is None
    keeping.save_drain(STATE, SNAPSHOT)
    assert DrainStore(keeping.drain_folder, "broker-a").load_drain() == (STATE, SNAPSHOT)
    at = (keeping.drain_folder / "state.json").stat().st_mtime_ns
    keeping.save_drain(STATE._replace(updated=9), SNAPSHOT)
    assert (keeping.drain_folder / "state.json").stat().st_mtime_ns == at
    keeping.save_drain(STATE._replace(phase="wait"), SNAPSHOT)
    assert (DrainStore(keeping.drain_folder, "broker-a").load_drain() or (STATE, None))[0].phase == "wait"


def test_only_one_process_is_at_it(keeping: DrainStore) -> None:
    other = DrainStore(keeping.drain_folder, "broker-a")
    assert keeping.holder_pid is None
    assert keeping.try_lock()
    assert keeping.try_lock()
    assert not other.try_lock()
    assert other.holder_pid == os.getpid()
    keeping.release_lock()
    assert other.try_lock()
    other.release_lock()
    assert keeping.holder_pid is None


def test_a_killed_process_is_at_it_no_more(keeping: DrainStore) -> None:
    keeping.drain_folder.mkdir(parents=True)
    script = (
        "import sys, os, signal; from pathlib import Path\n"
        "from nsadmin.operations.drain.store import DrainStore\n"
        "store = DrainStore(Path(sys.argv[1]), 'b')\n"
        "assert store.try_lock(); print('taken', flush=True); signal.pause()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(keeping.drain_folder)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as child:
        assert child.stdout is not None
        try:
            first_line = child.stdout.readline()
            lock_state = keeping.try_lock(), keeping.holder_pid
        finally:
            child.kill()
    assert (first_line, lock_state) == (b"taken\n", (False, child.pid))
    assert keeping.try_lock()
    keeping.release_lock()


def test_others_read_what_is_noted_from_now_on(keeping: DrainStore) -> None:
    keeping.drain_folder.mkdir(parents=True)
    keeping.append_event({"event": "old"})
    notes = DrainStore(keeping.drain_folder, "broker-a").follow_events()
    assert notes.read_new_events() == []
    keeping.append_event({"event": "new", "text": "ß"})
    with open(keeping.drain_folder / "events.jsonl", "ab") as file:
        file.write(b'{"event":')
    assert notes.read_new_events() == [{"event": "new", "text": "ß"}]
    assert notes.read_new_events() == []


def test_what_is_undone_is_put_away(keeping: DrainStore, tmp_path: Path) -> None:
    assert keeping.try_lock()
    keeping.save_drain(STATE, SNAPSHOT)
    keeping.append_event({"event": "old"})
    keeping.archive_drain()
    assert keeping.load_drain() is None
    assert list(load_drains(tmp_path)) == []
    assert json.loads((keeping.drain_folder / "undone-state.json").read_text())["broker"] == "broker-a"
    keeping.save_drain(STATE, SNAPSHOT)
    assert keeping.load_drain() == (STATE, SNAPSHOT)
    keeping.release_lock()


def test_all_drains_are_found_and_what_makes_no_sense_is_told(keeping: DrainStore, tmp_path: Path) -> None:
    keeping.drain_folder.mkdir(parents=True)
    keeping.save_drain(STATE, SNAPSHOT)
    broken = drain_folder_of(tmp_path, "C", "broker-b")
    broken.mkdir()
    (broken / "state.json").write_text("{")
    drains, bad = load_drains(tmp_path)
    assert drains == SavedDrain(keeping.drain_folder, STATE, SNAPSHOT, None)
    assert isinstance(bad, InvalidStateError)
    assert "state.json is not JSON" in str(bad)
    with pytest.raises(InvalidStateError, match="broker-b"):
        DrainStore(broken, "broker-b").load_drain()
