"""Files and pages that a client can read."""

from pathlib import Path

import pytest

from nsadmin.commands.mcp.served_files import ServedFolder
from nsadmin.console.exit_codes import UsageError


@pytest.fixture
def folder(tmp_path: Path) -> ServedFolder:
    outside = tmp_path / "outside.nsbackup.zip"
    inside = tmp_path / "files"
    inside.mkdir()
    outside.write_text("secret")
    (inside / "a.nsbackup.zip").write_text("a")
    (inside / "b.snapshot.zst").write_text("b")
    (inside / "notes.txt").write_text("c")
    (inside / "link.nsbackup.zip").symlink_to(outside)
    (inside / "folder.nsbackup.zip").mkdir()
    return ServedFolder(str(inside))


def test_regular_files_with_a_known_ending_are_listed(folder: ServedFolder) -> None:
    assert folder.list_names() == ["a.nsbackup.zip", "b.snapshot.zst"]


def test_no_name_leads_out_of_the_folder(folder: ServedFolder, tmp_path: Path) -> None:
    assert folder.find_path("a.nsbackup.zip") == str(tmp_path / "files" / "a.nsbackup.zip")
    for name in (
        "../outside.nsbackup.zip",
        str(tmp_path / "outside.nsbackup.zip"),
        "link.nsbackup.zip",
        "folder.nsbackup.zip",
        "notes.txt",
        "",
        ".",
        "a.nsbackup.zip/../a.nsbackup.zip",
    ):
        assert folder.find_path(name) is None, name


def test_a_folder_that_does_not_exist_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r'no folder ".*/nowhere" for --files: name a folder with backups or bundles'
    ):
        ServedFolder(str(tmp_path / "nowhere"))
