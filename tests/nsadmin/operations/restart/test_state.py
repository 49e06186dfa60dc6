"""The order of a rolling restart, and how far it has come."""

import json

import pytest

from nsadmin.operations.drain.state import InvalidStateError, build_state_record
from nsadmin.operations.restart.state import (
    RestartState,
    list_remaining_groups,
    order_processes,
    parse_state_record,
    process_title,
    start_process,
)

GROUPS = {"b": {0: "h:3"}, "a": {0: "h:1", 2: "h:4", 1: "h:2"}}
BEGUN = start_process(RestartState("C", order_processes(GROUPS), 7))


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
        assert parse_state_record(json.loads(json.dumps(build_state_record(state)))) == state


@pytest.mark.parametrize(
    "value",
    [
        [],
        {"version": 2},
        {"version": 1},
        {**build_state_record(BEGUN), "step": "drain"},
        {**build_state_record(BEGUN), "processes": [1]},
        {**build_state_record(BEGUN), "processes": None},
        {**build_state_record(BEGUN), "at": -1},
        {**build_state_record(BEGUN), "at": "1"},
        {name: value for name, value in build_state_record(BEGUN).items() if name != "at"},
    ],
)
def test_what_is_no_state_is_told(value: object) -> None:
    with pytest.raises(InvalidStateError):
        parse_state_record(value)
