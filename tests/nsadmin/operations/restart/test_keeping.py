"""How far a rolling restart has come, on the disk."""

from pathlib import Path

import pytest

from nsadmin.operations.drain.state import BadState
from nsadmin.operations.restart.keeping import Progress
from nsadmin.operations.restart.state import State, beginning, ordered

BEGUN = beginning(State("C/D", ordered({"a": {0: "h:1", 1: "h:2"}}), 7))


def test_it_is_kept_until_it_is_done(tmp_path: Path) -> None:
    progress = Progress(tmp_path, "C/D")
    assert progress.load() is None
    (tmp_path / "restarts").mkdir()
    progress.save(BEGUN)
    assert Progress(tmp_path, "C/D").load() == BEGUN
    assert Progress(tmp_path, "C").load() is None
    progress.end()
    progress.end()
    assert progress.load() is None


@pytest.mark.parametrize("text", ["", "{}", "no JSON"])
def test_what_is_no_progress_is_told_with_its_file(tmp_path: Path, text: str) -> None:
    progress = Progress(tmp_path, "C")
    progress.file.parent.mkdir()
    progress.file.write_text(text)
    with pytest.raises(BadState, match=r"restarts/.*\.json: "):
        progress.load()
