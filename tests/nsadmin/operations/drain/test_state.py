"""What a drain remembers, as files have it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesrv_core.events import QueueData
from nsadmin.operations.drain.state import (
    DrainState,
    InvalidStateError,
    QueueSnapshot,
    build_snapshot_record,
    build_state_record,
    parse_snapshot_record,
    parse_state_record,
)

STATE = DrainState(
    "C",
    "broker-a",
    ("h:1", "h:2"),
    1,
    2,
    "me@here",
    wipes={"h:1": 2},
    reopened=3,
    reopens={"h:1": 3},
    closed_since=5,
)
numbers = st.integers(0, 65536)
queues = st.dictionaries(st.text(max_size=9), st.builds(QueueData, st.just("b"), *[numbers] * 4), max_size=4)


def test_a_state_is_read_back() -> None:
    assert parse_state_record(json.loads(json.dumps(build_state_record(STATE)))) == STATE


@pytest.mark.parametrize("name", build_state_record(STATE))
@pytest.mark.parametrize("value", ["x", [1], {"a": "b"}, 1.5, True])
def test_a_field_of_another_type_is_no_state(name: str, value: object) -> None:
    own_type = type(build_state_record(STATE)[name])
    if not (isinstance(value, own_type) or (name == "by" and isinstance(value, str))):
        with pytest.raises(InvalidStateError):
            parse_state_record({**build_state_record(STATE), name: value})


@pytest.mark.parametrize(
    "name", [name for name in build_state_record(STATE) if name not in ("puts", "reopens")]
)
def test_a_missing_field_is_no_state(name: str) -> None:
    record = build_state_record(STATE)
    del record[name]
    with pytest.raises(InvalidStateError, match=name):
        parse_state_record(record)


def test_a_file_of_an_older_version_has_one_sum_for_all_name_servers() -> None:
    record = build_state_record(STATE)
    assert record["reopened"] == 3
    del record["reopens"]
    old = parse_state_record(json.loads(json.dumps(record)))
    assert (old.reopened, old.count_reopens("h:1")) == (3, None)
    assert (STATE.reopened, STATE.count_reopens("h:1"), STATE.count_reopens("h:2")) == (3, 3, 0)


@given(st.builds(QueueSnapshot, st.dictionaries(st.text(max_size=9), queues, max_size=3), st.none() | queues))
def test_a_snapshot_is_read_back(snapshot: QueueSnapshot) -> None:
    assert parse_snapshot_record(json.loads(json.dumps(build_snapshot_record(snapshot))), "b") == snapshot


@pytest.mark.parametrize(
    ("record", "says"),
    [
        ([], "not a JSON object"),
        ({"version": 2}, "version 2 is not supported: this nsadmin reads version 1"),
        ({"version": 1, "nameServers": []}, "object missing required field cluster"),
        ({**build_state_record(STATE), "phase": "asleep"}, "invalid enum value 'asleep' at phase"),
    ],
)
def test_what_is_no_state_is_told(record: object, says: str) -> None:
    with pytest.raises(InvalidStateError, match=says):
        parse_state_record(record)


@pytest.mark.parametrize(
    "broken",
    [
        {"version": 1},
        {"version": 1, "nameServers": {"h": {"t": [1]}}, "broker": None},
        {"version": 1, "nameServers": {"h": {"t": [1, 2, 3, "4"]}}, "broker": None},
        {"version": 1, "nameServers": {}, "broker": [1]},
    ],
)
def test_what_is_no_snapshot_is_told(broken: object) -> None:
    with pytest.raises(InvalidStateError, match=r"nameServers|broker"):
        parse_snapshot_record(broken, "b")
