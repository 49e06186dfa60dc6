"""How far a rolling restart has come, on the disk."""

import json
import os
from pathlib import Path

import pytest

from nsadmin.operations.drain.state import InvalidStateError, build_state_record
from nsadmin.operations.restart.state import RestartState, order_processes, start_process
from nsadmin.operations.restart.store import RestartStore, SavedRestart, load_restarts

BEGUN = start_process(RestartState("C/D", order_processes({"a": {0: "h:1", 1: "h:2"}}), 7))


def test_it_is_kept_until_it_is_done(tmp_path: Path) -> None:
    progress = RestartStore(tmp_path, "C/D")
    assert progress.load_state() is None
    (tmp_path / "restarts").mkdir()
    progress.save_state(BEGUN)
    assert RestartStore(tmp_path, "C/D").load_state() == BEGUN
    assert RestartStore(tmp_path, "C").load_state() is None
    progress.delete_state()
    progress.delete_state()
    assert progress.load_state() is None


def test_unfinished_restarts_with_their_process_and_events(tmp_path: Path) -> None:
    store = RestartStore(tmp_path, "C/D")
    assert store.restart_lock.acquire_lock()
    store.save_state(BEGUN)
    store.append_event({"event": "paused"})
    [saved] = load_restarts(tmp_path)
    assert isinstance(saved, SavedRestart)
    assert (saved.restart_state, saved.holder_pid) == (BEGUN, os.getpid())
    assert saved.events_file.read_text() == '{"event": "paused"}\n'
    store.restart_lock.release_lock()
    store.clear_events()
    assert not saved.events_file.exists()
    store.state_file.write_text("{}")
    [error] = load_restarts(tmp_path)
    assert isinstance(error, InvalidStateError)


def test_a_file_of_an_earlier_release_has_no_commands(tmp_path: Path) -> None:
    store = RestartStore(tmp_path, "C")
    store.state_file.parent.mkdir()
    record = build_state_record(BEGUN)
    for field_name in ("stop_command", "start_command", "by"):
        del record[field_name]
    store.state_file.write_text(json.dumps(record))
    assert store.load_state() == BEGUN


@pytest.mark.parametrize("text", ["", "{}", "no JSON"])
def test_what_is_no_progress_is_told_with_its_file(tmp_path: Path, text: str) -> None:
    progress = RestartStore(tmp_path, "C")
    progress.state_file.parent.mkdir()
    progress.state_file.write_text(text)
    with pytest.raises(InvalidStateError, match=r"restarts/C\.json( is not JSON)?: .*restore the file"):
        progress.load_state()
