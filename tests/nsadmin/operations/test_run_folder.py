"""What a procedure keeps on disk: written whole, read back with types, and named if it is damaged."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

from nsadmin.operations.drain.state import DrainFolder, DrainState, QueueSnapshot, SavedDrain
from nsadmin.operations.run_folder import (
    InvalidStateError,
    RecordFile,
    RunEvent,
    RunFolder,
    SavedState,
    StateFile,
    convert_saved,
    load_all,
    read_json_file,
)
from tests.support.hostile_folder import limit_file_size


class Move(SavedState, frozen=True):
    later_fields: ClassVar = ("addedLater",)

    topic_names: tuple[str, ...]
    updated: int = 0
    is_done: bool = False
    added_later: int = 7


class Moved(RunEvent, frozen=True):
    topic_name: str
    brokers: tuple[str, ...] = ()


class Progress(RunEvent, frozen=True):
    is_status: ClassVar = True

    done: int


def parse(json_value: Any) -> dict[str, str | int]:
    return convert_saved(json_value, dict[str, str | int])


def open_run(folder: Path) -> RunFolder[Move]:
    return RunFolder(Move, folder / "state.json")


def test_a_state_is_read_back_even_with_a_lone_surrogate(tmp_path: Path) -> None:
    file = StateFile(tmp_path / "state.json", Move)
    assert file.load() is None
    file.save(Move(("\ud800é",), 1))
    assert StateFile(file.path, Move).load() == Move(("\ud800é",), 1)
    assert json.loads(file.path.read_bytes().decode("utf-8", "surrogatepass")) == {
        "version": 1, "topicNames": ["\ud800é"], "updated": 1, "isDone": False, "addedLater": 7,
    }  # fmt: skip
    assert file.path.stat().st_mode & 0o077 == 0


def test_a_state_is_written_if_more_than_its_time_changed(tmp_path: Path) -> None:
    file = StateFile(tmp_path / "state.json", Move)
    file.save(Move(("a",), 1))
    written = file.path.stat().st_mtime_ns
    file.save(Move(("a",), 2))
    assert file.path.stat().st_mtime_ns == written
    file.save(Move(("b",), 2))
    assert StateFile(file.path, Move).load() == Move(("b",), 2)
    file.delete()
    file.delete()
    assert file.load() is None
    file.save(Move(("b",), 2))
    assert file.load() == Move(("b",), 2)


@pytest.mark.parametrize("content", [b"", b"no JSON", b"{", b"\xff", b"[" * 50_000])
def test_a_file_that_is_not_json_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "state.json").write_bytes(content)
    with pytest.raises(
        InvalidStateError, match=r"/state\.json is not JSON: .*: restore the file, or move it away"
    ):
        open_run(tmp_path).state.load()


def test_what_is_damaged_or_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text('{"a":null}')
    with pytest.raises(InvalidStateError, match=r"/state\.json: expected int \| str, got null"):
        read_json_file(tmp_path / "state.json", parse)
    with pytest.raises(InvalidStateError, match=f"cannot read {tmp_path}: Is a directory"):
        read_json_file(tmp_path, parse)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[]", "not a JSON object"),
        ("{}", "the field version is missing"),
        ('{"version":2}', "version 2 is not supported: this nsadmin reads version 1"),
        ('{"version":1}', "object missing required field topicNames"),
        ('{"version":1,"topicNames":["a"],"updated":1}', "the field isDone is missing"),
        ('{"version":1,"topicNames":["a",1],"updated":1}', r"expected str, got int at topicNames\[1\]"),
    ],
)
def test_what_is_no_state_is_told(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "state.json").write_text(text)
    with pytest.raises(
        InvalidStateError, match=rf"/state\.json: {problem}: restore the file, or move it away"
    ):
        open_run(tmp_path).state.load()


def test_a_field_that_earlier_releases_did_not_write_may_be_missing(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text('{"version":1,"topicNames":[],"updated":1,"isDone":true,"more":1}')
    assert open_run(tmp_path).state.load() == Move((), 1, True)


def test_an_event_is_a_record_and_a_status_is_not_in_the_file(tmp_path: Path) -> None:
    run = open_run(tmp_path)
    assert run.record(Moved(5, "orders", ("a", "b"))) == {
        "time": 5, "event": "moved", "topicName": "orders", "brokers": ["a", "b"],
    }  # fmt: skip
    assert run.record(Progress(6, 1)) == {"time": 6, "event": "progress", "done": 1}
    assert (
        run.events.path.read_text() == '{"time":5,"event":"moved","topicName":"orders","brokers":["a","b"]}\n'
    )


def test_others_read_what_is_appended_from_now_on(tmp_path: Path) -> None:
    events = RecordFile(tmp_path / "events.jsonl")
    assert RecordFile(tmp_path / "none.jsonl").follow().read_new() == []
    events.append({"event": "old"})
    follower = RecordFile(events.path).follow()
    assert follower.read_new() == []
    events.append({"event": "new", "text": "ß\ud800"})
    with open(events.path, "ab") as file:
        file.write(b'{"event":')
    assert follower.read_new() == [{"event": "new", "text": "ß\ud800"}]
    assert follower.read_new() == []
    events.append({"event": "after the torn one"})
    assert follower.read_new() == [{"event": "after the torn one"}]
    assert events.read_last(40) == [{"event": "after the torn one"}]


def test_records_are_appended_whole_or_not_at_all(tmp_path: Path) -> None:
    records = RecordFile(tmp_path / "records.jsonl")
    records.append({"a": 1}, {"a": 2})
    with limit_file_size(records.path.stat().st_size + 3), pytest.raises(OSError, match="too large"):
        records.append({"a": 3})
    with open(records.path, "ab") as file:
        file.write(b'{"torn":')
    found: list[Any] = []
    records.load(found.append)
    assert found == [{"a": 1}, {"a": 2}]
    records.replace([{"a": 2}])
    records.append({"a": 4})
    assert records.path.read_text() == '{"a":2}\n{"a":4}\n'


def test_an_invalid_record_is_named_with_its_line(tmp_path: Path) -> None:
    records = RecordFile(tmp_path / "records.jsonl")
    records.load(parse)
    records.append({"a": 1}, {"a": None})
    with pytest.raises(InvalidStateError, match=r"/records\.jsonl: line 2 is invalid: expected int \| str"):
        records.load(parse)


def test_all_runs_are_found_and_what_makes_no_sense_is_told(tmp_path: Path) -> None:
    folders = [open_run(tmp_path / name) for name in "abc"]
    folders[0].state.save(Move(("a",)))
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "state.json").write_text("{")
    assert folders[0].lock.acquire()
    saved, bad = load_all(folders)
    assert saved == (folders[0], Move(("a",)), os.getpid())
    assert isinstance(bad, InvalidStateError)
    assert "b/state.json is not JSON" in str(bad)
    folders[0].lock.release()


def test_a_killed_process_leaves_the_state_that_it_saved_last_and_no_lock(tmp_path: Path) -> None:
    script = (
        "import sys, os, signal; from pathlib import Path\n"
        "from nsadmin.operations.drain.state import DrainFolder, DrainState, QueueSnapshot\n"
        "folder = DrainFolder(Path(sys.argv[1]))\n"
        "assert folder.lock.acquire()\n"
        "folder.save(DrainState('C', 'b', (), 1, 2), QueueSnapshot())\n"
        "print('taken', flush=True); signal.pause()"
    )
    folder = DrainFolder(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as child:
        assert child.stdout is not None
        try:
            first_line = child.stdout.readline()
            lock_state = folder.lock.acquire(), folder.lock.holder_pid
        finally:
            child.kill()
    assert (first_line, lock_state) == (b"taken\n", (False, child.pid))
    assert folder.lock.acquire()
    folder.lock.release()
    assert folder.load() == SavedDrain(folder, DrainState("C", "b", (), 1, 2), QueueSnapshot(), None)
