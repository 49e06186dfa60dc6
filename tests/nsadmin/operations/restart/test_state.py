"""The order of a rolling restart, and how far it has come."""

import json

import pytest

from nsadmin.operations.drain.state import BadState
from nsadmin.operations.restart.state import State, beginning, groups_left, name, ordered, record, state_of

GROUPS = {"b": {0: "h:3"}, "a": {0: "h:1", 2: "h:4", 1: "h:2"}}
BEGUN = beginning(State("C", ordered(GROUPS), 7))


def test_slaves_come_first_and_one_group_after_the_other() -> None:
    assert [name(process) for process in BEGUN.processes] == ["a (slave 2)", "a (slave 1)", "a", "b"]


def test_each_step_follows_another() -> None:
    steps, state = [], BEGUN
    while not state.is_done:
        steps.append((state.process.addr, state.step))
        state = state.next()
    of_slave, of_master = ["stop", "start", "wait"], ["drain", "stop", "start", "wait", "undrain"]
    assert steps == [
        *[("h:4", step) for step in of_slave],
        *[("h:2", step) for step in of_slave],
        *[("h:1", step) for step in of_master],
        *[("h:3", step) for step in of_master],
    ]
    assert groups_left(state) == []


def test_the_next_one_has_no_past() -> None:
    state = BEGUN._replace(step="wait", boot=5).next()
    assert (state.at, state.step, state.boot, state.before) == (1, "stop", None, BEGUN.process)
    assert groups_left(state._replace(at=3)) == ["b"]


def test_a_state_is_read_back() -> None:
    for state in (BEGUN, BEGUN._replace(at=2, step="drain", boot=9), BEGUN._replace(at=4)):
        assert state_of(json.loads(json.dumps(record(state)))) == state


@pytest.mark.parametrize(
    "value",
    [
        [],
        {"version": 2},
        {"version": 1},
        {**record(BEGUN), "step": "drain"},
        {**record(BEGUN), "processes": [1]},
    ],
)
def test_what_is_no_state_is_told(value: object) -> None:
    with pytest.raises(BadState):
        state_of(value)
