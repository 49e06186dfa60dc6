"""The order of a rolling restart, and how far it has come."""

import json
import os
from pathlib import Path

import msgspec
import pytest

from nsadmin.operations.restart.state import (
    RestartState,
    list_remaining_groups,
    load_restarts,
    open_restart,
    plan_restart,
    process_title,
)
from nsadmin.operations.run_folder import InvalidStateError, SavedRun, parse_state

GROUPS = {"b": {0: "h:3"}, "a": {0: "h:1", 2: "h:4", 1: "h:2"}}
BEGUN = plan_restart("C", GROUPS, 7)
RECORD = msgspec.to_builtins(BEGUN)


def test_slaves_come_first_and_one_group_after_the_other() -> None:
    assert [process_title(process) for process in BEGUN.processes] == ["a (slave 2)", "a (slave 1)", "a", "b"]


def test_each_step_follows_another() -> None:
    steps, state = [], BEGUN
    while not state.is_done:
        steps.append((state.current_process.addr, state.step))
        state = state.advance_step()
    of_slave, of_master = ["stop", "start", "wait"], ["drain", "stop", "start", "wait", "undrain"]
    assert steps == [
        *[("h:4", step) for step in of_slave],
        *[("h:2", step) for step in of_slave],
        *[("h:1", step) for step in of_master],
        *[("h:3", step) for step in of_master],
    ]
    assert list_remaining_groups(state) == []


def test_the_next_one_has_no_past() -> None:
    state = BEGUN._replace(step="wait", boot=5).advance_step()
    assert (state.at, state.step, state.boot, state.previous_process) == (
        1,
        "stop",
        None,
        BEGUN.current_process,
    )
    assert list_remaining_groups(state._replace(at=3)) == ["b"]


def test_a_state_is_read_back() -> None:
    for state in (BEGUN, BEGUN._replace(at=2, step="drain", boot=9), BEGUN._replace(at=4)):
        assert parse_state(json.loads(json.dumps(msgspec.to_builtins(state))), RestartState) == state


@pytest.mark.parametrize(
    "value",
    [
        [],
        {"version": 2},
        {"version": 1},
        {**RECORD, "step": "drain"},
        {**RECORD, "processes": [1]},
        {**RECORD, "processes": None},
        {**RECORD, "at": -1},
        {**RECORD, "at": "1"},
        {name: value for name, value in RECORD.items() if name != "at"},
    ],
)
def test_what_is_no_state_is_told(value: object) -> None:
    with pytest.raises(InvalidStateError):
        parse_state(value, RestartState)


def test_a_wrong_step_is_named_and_what_is_done_has_none() -> None:
    with pytest.raises(InvalidStateError, match=r'^invalid step "drain"$'):
        parse_state({**RECORD, "step": "drain"}, RestartState)
    assert plan_restart("C", {}, 7).is_done


def test_it_is_kept_until_it_is_done(tmp_path: Path) -> None:
    run = open_restart(tmp_path, "C/D")
    assert run.state.load() is None
    run.state.save(BEGUN)
    assert open_restart(tmp_path, "C/D").state.load() == BEGUN
    assert open_restart(tmp_path, "C").state.load() is None
    run.state.delete()
    run.state.delete()
    assert run.state.load() is None


def test_unfinished_restarts_with_their_process_and_events(tmp_path: Path) -> None:
    run = open_restart(tmp_path, "C/D.x")
    assert run.lock.acquire()
    run.state.save(BEGUN)
    run.events.append({"event": "paused"})
    [saved] = load_restarts(tmp_path)
    assert isinstance(saved, SavedRun)
    assert (saved.state, saved.holder_pid) == (BEGUN, os.getpid())
    assert saved.folder.events.read_last(99) == [{"event": "paused"}]
    assert {path.name for path in (tmp_path / "restarts").iterdir()} == {
        "C%2fD.x.json", "C%2fD.x.events.jsonl", "C%2fD.x.lock",
    }  # fmt: skip
    run.lock.release()
    run.events.delete()
    assert not saved.folder.events.path.exists()
    run.state.path.write_text("{}")
    [error] = load_restarts(tmp_path)
    assert isinstance(error, InvalidStateError)


def test_a_file_of_an_earlier_release_has_no_commands(tmp_path: Path) -> None:
    run = open_restart(tmp_path, "C")
    run.state.path.parent.mkdir()
    later = ("stop_command", "start_command", "by")
    run.state.path.write_text(
        json.dumps({name: value for name, value in RECORD.items() if name not in later})
    )
    assert run.state.load() == BEGUN


@pytest.mark.parametrize("text", ["", "{}", "no JSON"])
def test_what_is_no_progress_is_told_with_its_file(tmp_path: Path, text: str) -> None:
    run = open_restart(tmp_path, "C")
    run.state.path.parent.mkdir()
    run.state.path.write_text(text)
    with pytest.raises(InvalidStateError, match=r"restarts/C\.json( is not JSON)?: .*restore the file"):
        run.state.load()
