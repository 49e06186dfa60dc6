"""How far a rolling restart has come, on the disk."""

from pathlib import Path

import pytest

from nsadmin.operations.drain.state import InvalidStateError
from nsadmin.operations.restart.state import RestartState, order_processes, start_process
from nsadmin.operations.restart.store import RestartStore

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


@pytest.mark.parametrize("text", ["", "{}", "no JSON"])
def test_what_is_no_progress_is_told_with_its_file(tmp_path: Path, text: str) -> None:
    progress = RestartStore(tmp_path, "C")
    progress.state_file.parent.mkdir()
    progress.state_file.write_text(text)
    with pytest.raises(InvalidStateError, match=r"restarts/.*\.json: "):
        progress.load_state()
