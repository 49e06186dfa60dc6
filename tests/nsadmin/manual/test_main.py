"""Writing what is rendered, and saying what is outdated."""

from pathlib import Path

import pytest

from nsadmin.manual.__main__ import find_outdated_files, main, render_files


def test_everything_is_written_once_and_then_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_outdated_files(tmp_path) == sorted(render_files())
    assert main([]) == 0
    assert find_outdated_files(tmp_path) == []
    assert main(["--check"]) == 0


def test_what_is_missing_changed_or_of_no_command_is_named_and_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    main([])
    (tmp_path / "docs" / "reference" / "commands.md").write_text("old")
    (tmp_path / "man" / "man1" / "nsadmin-topicRoute.1").unlink()
    (tmp_path / "man" / "man1" / "nsadmin-gone.1").write_text("old")
    (tmp_path / "docs" / "reference" / "commands" / "gone.md").write_text("old")
    assert find_outdated_files(tmp_path) == [
        "docs/reference/commands.md",
        "docs/reference/commands/gone.md",
        "man/man1/nsadmin-gone.1",
        "man/man1/nsadmin-topicRoute.1",
    ]
    assert main(["--check"]) == 1
    assert capsys.readouterr().err.count("is outdated: run make generate") == 4
    main([])
    assert find_outdated_files(tmp_path) == []
