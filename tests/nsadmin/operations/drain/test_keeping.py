"""A drain's folder."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.events import QueueData
from nsadmin.operations.drain.keeping import Keeping, Kept, folder_of, home, kept
from nsadmin.operations.drain.state import BadState, Snapshot, State

STATE = State("C", "broker-a", ("h:1",), 1, 2)
SNAPSHOT = Snapshot({"h:1": {"T": QueueData("broker-a", 8, 8, 6)}}, None)


@pytest.fixture
def keeping(tmp_path: Path) -> Iterator[Keeping]:
    found = Keeping(folder_of(tmp_path, "C", "broker-a"), "broker-a")
    yield found
    found.leave()


def test_the_environment_says_where() -> None:
    assert home({"NSADMIN_STATE": "/s"}) == Path("/s")
    assert home({"XDG_STATE_HOME": "/x"}) == Path("/x/nsadmin")
    assert home({}) == Path("~/.local/state/nsadmin").expanduser()


def test_no_two_brokers_have_one_folder_and_none_is_elsewhere(tmp_path: Path) -> None:
    names = ["a", "A/b", "A b", "..", ".", "", "A%2fb", "A%b"]
    folders = {folder_of(tmp_path, "C", name) for name in names}
    assert len(folders) == len(names)
    assert {folder.parent for folder in folders} == {tmp_path / "drains" / "C"}


def test_what_was_saved_is_there(keeping: Keeping) -> None:
    assert keeping.take()
    assert keeping.load() is None
    keeping.save(STATE, SNAPSHOT)
    assert Keeping(keeping.folder, "broker-a").load() == (STATE, SNAPSHOT)
    at = (keeping.folder / "state.json").stat().st_mtime_ns
    keeping.save(STATE._replace(updated=9), SNAPSHOT)
    assert (keeping.folder / "state.json").stat().st_mtime_ns == at
    keeping.save(STATE._replace(phase="wait"), SNAPSHOT)
    assert (Keeping(keeping.folder, "broker-a").load() or (STATE, None))[0].phase == "wait"


def test_only_one_process_is_at_it(keeping: Keeping) -> None:
    other = Keeping(keeping.folder, "broker-a")
    assert keeping.pid is None
    assert keeping.take()
    assert keeping.take()
    assert not other.take()
    assert other.pid == os.getpid()
    keeping.leave()
    assert other.take()
    other.leave()
    assert keeping.pid is None


def test_a_killed_process_is_at_it_no_more(keeping: Keeping) -> None:
    keeping.folder.mkdir(parents=True)
    script = (
        "import sys, os, signal; from pathlib import Path\n"
        "from nsadmin.operations.drain.keeping import Keeping\n"
        "kept = Keeping(Path(sys.argv[1]), 'b')\n"
        "assert kept.take(); print('taken', flush=True); signal.pause()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(keeping.folder)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as child:
        assert child.stdout is not None
        try:
            said = child.stdout.readline()
            found = keeping.take(), keeping.pid
        finally:
            child.kill()
    assert (said, found) == (b"taken\n", (False, child.pid))
    assert keeping.take()
    keeping.leave()


def test_others_read_what_is_noted_from_now_on(keeping: Keeping) -> None:
    keeping.folder.mkdir(parents=True)
    keeping.note({"event": "old"})
    notes = Keeping(keeping.folder, "broker-a").notes()
    assert notes.read() == []
    keeping.note({"event": "new", "text": "ß"})
    with open(keeping.folder / "events.jsonl", "ab") as file:
        file.write(b'{"event":')
    assert notes.read() == [{"event": "new", "text": "ß"}]
    assert notes.read() == []


def test_what_is_undone_is_put_away(keeping: Keeping, tmp_path: Path) -> None:
    assert keeping.take()
    keeping.save(STATE, SNAPSHOT)
    keeping.note({"event": "old"})
    keeping.put_away()
    assert keeping.load() is None
    assert list(kept(tmp_path)) == []
    assert json.loads((keeping.folder / "undone-state.json").read_text())["broker"] == "broker-a"
    keeping.save(STATE, SNAPSHOT)
    assert keeping.load() == (STATE, SNAPSHOT)
    keeping.leave()


def test_all_drains_are_found_and_what_makes_no_sense_is_told(keeping: Keeping, tmp_path: Path) -> None:
    keeping.folder.mkdir(parents=True)
    keeping.save(STATE, SNAPSHOT)
    broken = folder_of(tmp_path, "C", "broker-b")
    broken.mkdir()
    (broken / "state.json").write_text("{")
    found, bad = kept(tmp_path)
    assert found == Kept(keeping.folder, STATE, SNAPSHOT, None)
    assert isinstance(bad, BadState)
    assert "state.json is no JSON" in str(bad)
    with pytest.raises(BadState, match="broker-b"):
        Keeping(broken, "broker-b").load()
