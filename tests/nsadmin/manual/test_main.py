"""Writing the files in git, and the type stubs."""

from pathlib import Path

import pytest

from nsadmin.manual.__main__ import main
from nsadmin.manual.rendered_files import render_files_in_git, render_type_stubs


def written(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()
    }


def test_files_in_git_and_stubs_are_written_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([]) == 0
    assert written(tmp_path) == render_files_in_git()
    assert main(["stubs"]) == 0
    assert written(tmp_path / "cli") == render_type_stubs()


def test_a_file_is_written_only_if_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    main(["stubs"])
    same, outdated = (tmp_path / "cli" / name for name in render_type_stubs())
    before = same.stat().st_mtime_ns
    outdated.write_text("old")
    main(["stubs"])
    assert same.stat().st_mtime_ns == before
    assert outdated.read_text() == [*render_type_stubs().values()][1]
