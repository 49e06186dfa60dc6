"""The editor of the operator: which one, and what it may not do."""

from pathlib import Path

import pytest

from nsadmin.tui.editor.edit_controller import EditorError, find_editor, run_editor


def test_visual_comes_first_and_has_options() -> None:
    assert find_editor({"VISUAL": "code --wait", "EDITOR": "nano"}) == ["code", "--wait"]
    assert find_editor({"EDITOR": "nano"}) == ["nano"]
    assert find_editor({}) == ["vi"]
    for text in ("a 'b", " "):
        with pytest.raises(EditorError):
            find_editor({"EDITOR": text})


def test_an_editor_that_fails_or_is_missing(tmp_path: Path) -> None:
    run_editor(["true"], "x")
    with pytest.raises(EditorError, match="the editor failed with exit code 1: false"):
        run_editor(["false"], "x")
    with pytest.raises(EditorError, match="did not start: No such file or directory"):
        run_editor([str(tmp_path / "none")], "x")
