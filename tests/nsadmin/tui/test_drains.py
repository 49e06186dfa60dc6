"""What files of this machine have of drains."""

from pathlib import Path

from nsadmin.operations.drain.keeping import EVENTS, STATE, Keeping, folder_of
from nsadmin.operations.drain.state import Snapshot, State
from nsadmin.tui.drains import look
from nsadmin.tui.polls import Drain
from tests.support.screens import NOON

KEPT = State("cluster-a", "broker-a", ("h:1",), NOON - 60_000, NOON, "me", "wait", reopened=2, puts=7)


def test_each_drain_with_what_happened_last(tmp_path: Path) -> None:
    keeping = Keeping(folder_of(tmp_path, "cluster-a", "broker-a"), "broker-a")
    assert keeping.take()
    keeping.save(KEPT, Snapshot())
    keeping.note({"time": NOON, "event": "brokerGone", "addr": "h:1"})
    with open(keeping.folder / EVENTS, "a") as events:
        events.write('{"time": 1, "event"')
    found = look(lambda: NOON, tmp_path)
    [drain] = found.drains
    assert isinstance(drain, Drain)
    assert (drain.phase, drain.by, drain.reopened, drain.pid is not None) == ("wait", "me", 2, True)
    assert "h:1" in drain.last
    assert (drain.puts, drain.updated) == (7, NOON)
    keeping.leave()
    [drain] = look(lambda: NOON, tmp_path).drains
    assert drain.pid is None


def test_nothing_is_kept_and_a_folder_that_makes_no_sense(tmp_path: Path) -> None:
    assert look(lambda: NOON, tmp_path).drains == []
    folder = folder_of(tmp_path, "c", "b")
    folder.mkdir(parents=True)
    (folder / STATE).write_text("{")
    [error] = look(lambda: NOON, tmp_path).errors
    assert "state.json is no JSON" in error


def test_a_drain_without_notes_has_none(tmp_path: Path) -> None:
    keeping = Keeping(folder_of(tmp_path, "cluster-a", "broker-a"), "broker-a")
    assert keeping.take()
    keeping.save(KEPT, Snapshot())
    assert look(lambda: NOON, tmp_path).drains[0].last == ""
    keeping.leave()
