"""Files for their owner alone."""

import os
from pathlib import Path

import pytest

from nsadmin.client import private_file


def test_a_link_stays_a_link_and_only_the_owner_may_read(tmp_path: Path) -> None:
    link, target = tmp_path / "a" / "link", tmp_path / "target"
    link.parent.mkdir()
    link.symlink_to(target)
    target.write_text("old")
    private_file.replace_private_file(str(link), "é")
    assert (link.is_symlink(), target.read_text(encoding="utf-8")) == (True, "é")
    assert target.stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileNotFoundError):
        private_file.replace_private_file(str(tmp_path / "b" / "new"), "x")


def test_where_it_fails_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        private_file.replace_private_file(str(path), "secret")
    assert [left_path.read_text() for left_path in tmp_path.iterdir()] == ["old"]
