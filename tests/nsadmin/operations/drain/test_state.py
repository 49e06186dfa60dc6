"""What a drain remembers, as its folder has it."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesrv_core.events import QueueData
from nsadmin.operations.drain.state import (
    DrainFolder,
    DrainState,
    QueueSnapshot,
    SavedDrain,
    SavedSnapshot,
    load_drains,
    open_drain,
)
from nsadmin.operations.run_folder import InvalidStateError, parse_state

STATE = DrainState(
    "C", "broker-a", ("h:1", "h:2"), 1, 2, "me@here",
    wipes={"h:1": 2}, reopened=3, reopens={"h:1": 3}, closed_since=5,
)  # fmt: skip
RECORD = msgspec.to_builtins(STATE)
SNAPSHOT = QueueSnapshot({"h:1": {"T": QueueData("broker-a", 8, 8, 6)}}, None)
numbers = st.integers(0, 65536)
queues = st.dictionaries(st.text(max_size=9), st.builds(QueueData, st.just("b"), *[numbers] * 4), max_size=4)


def parse(record: object) -> DrainState:
    return parse_state(json.loads(json.dumps(record)), DrainState)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[DrainFolder]:
    drain_folder = open_drain(tmp_path, "C", "broker-a")
    yield drain_folder
    drain_folder.lock.release()


def test_a_state_is_read_back() -> None:
    assert parse(RECORD) == STATE


@pytest.mark.parametrize("name", RECORD)
@pytest.mark.parametrize("value", ["x", [1], {"a": "b"}, 1.5, True])
def test_a_field_of_another_type_is_no_state(name: str, value: object) -> None:
    is_text = name in ("by", "tunnel") and isinstance(value, str)
    if not (isinstance(value, type(RECORD[name])) or is_text):
        with pytest.raises(InvalidStateError):
            parse({**RECORD, name: value})


@pytest.mark.parametrize("name", [name for name in RECORD if name not in DrainState.later_fields])
def test_a_missing_field_is_no_state(name: str) -> None:
    with pytest.raises(InvalidStateError, match=name):
        parse({other: value for other, value in RECORD.items() if other != name})


def test_a_file_of_an_older_version_has_one_sum_for_all_name_servers() -> None:
    old = parse({name: value for name, value in RECORD.items() if name != "reopens"})
    assert (old.reopened, old.count_reopens("h:1")) == (3, None)
    assert (STATE.reopened, STATE.count_reopens("h:1"), STATE.count_reopens("h:2")) == (3, 3, 0)


@given(
    st.builds(
        QueueSnapshot,
        st.dictionaries(st.text(max_size=9), queues, max_size=3),
        st.none() | queues,
        st.just(False),
    )
)
def test_a_snapshot_is_read_back(snapshot: QueueSnapshot) -> None:
    record = json.loads(json.dumps(msgspec.to_builtins(SavedSnapshot.of(snapshot))))
    assert parse_state(record, SavedSnapshot).to_snapshot("b") == snapshot


@pytest.mark.parametrize(
    ("record", "says"),
    [
        ([], "not a JSON object"),
        ({"version": 2}, "version 2 is not supported: this nsadmin reads version 1"),
        ({"version": 1, "nameServers": []}, "object missing required field cluster"),
        ({**RECORD, "phase": "asleep"}, "invalid enum value 'asleep' at phase"),
    ],
)
def test_what_is_no_state_is_told(record: object, says: str) -> None:
    with pytest.raises(InvalidStateError, match=says):
        parse(record)


@pytest.mark.parametrize(
    "broken",
    [
        {"version": 1},
        {"version": 1, "nameServers": {"h": {"t": [1]}}, "broker": None},
        {"version": 1, "nameServers": {"h": {"t": [1, 2, 3, "4"]}}, "broker": None},
        {"version": 1, "nameServers": {}, "broker": [1]},
    ],
)
def test_what_is_no_snapshot_is_told(broken: Any) -> None:
    with pytest.raises(InvalidStateError, match=r"nameServers|broker"):
        parse_state(broken, SavedSnapshot)


def test_no_two_brokers_have_one_folder_and_none_is_elsewhere(tmp_path: Path) -> None:
    names = ["a", "A/b", "A b", "..", ".", "", "A%2fb", "A%b"]
    folders = {open_drain(tmp_path, "C", name).path for name in names}
    assert len(folders) == len(names)
    assert {path.parent for path in folders} == {tmp_path / "drains" / "C"}


def test_what_was_saved_is_there(folder: DrainFolder) -> None:
    assert folder.lock.acquire()
    assert folder.load() is None
    folder.save(STATE, SNAPSHOT)
    other = DrainFolder(folder.path)
    assert other.load() == SavedDrain(other, STATE, SNAPSHOT, os.getpid())


def test_what_is_undone_is_put_away(folder: DrainFolder, tmp_path: Path) -> None:
    assert folder.lock.acquire()
    folder.save(STATE, SNAPSHOT)
    folder.events.append({"event": "old"})
    folder.archive()
    assert folder.load() is None
    assert list(load_drains(tmp_path)) == []
    assert json.loads((folder.path / "undone-state.json").read_text())["broker"] == "broker-a"
    assert (folder.path / "undone-events.jsonl").exists()
    folder.save(STATE, SNAPSHOT)
    assert folder.load() == SavedDrain(folder, STATE, SNAPSHOT, os.getpid())


def test_all_drains_are_found_and_what_makes_no_sense_is_told(folder: DrainFolder, tmp_path: Path) -> None:
    folder.save(STATE, SNAPSHOT)
    for file_name in ("state.json", "snapshot.json"):
        broken = open_drain(tmp_path, "C", "broker-b")
        broken.save(STATE, SNAPSHOT)
        (broken.path / file_name).write_text("{")
        drain, bad = load_drains(tmp_path)
        assert drain[1:] == (STATE, SNAPSHOT, None)  # type: ignore[index]
        assert isinstance(bad, InvalidStateError)
        assert f"broker-b/{file_name} is not JSON" in str(bad)
        with pytest.raises(InvalidStateError, match="broker-b"):
            broken.load()
