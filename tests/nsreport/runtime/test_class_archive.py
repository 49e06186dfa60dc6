"""The class-data archive: made once, used from then on, and never half of one."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from nsreport.runtime.class_archive import ClassArchive


def written(archive: ClassArchive) -> Path:
    """Where Java is told to write it."""
    flag = archive.java_options.split()[0]
    assert flag.startswith("-XX:ArchiveClassesAtExit=")
    return Path(flag.partition("=")[2])


def ending(path: Path, text: str, code: int) -> Callable[[], int]:
    """What has Java write that there, and end with that code."""

    def end() -> int:
        path.write_text(text)
        return code

    return end


def test_the_first_session_that_ends_well_makes_it(tmp_path: Path) -> None:
    archive = ClassArchive(tmp_path / "cache", "/java")
    archive.keep_new_archive(ending(written(archive), "classes", 0))
    again = ClassArchive(tmp_path / "cache", "/java")
    assert again.java_options.split()[0] == f"-XX:SharedArchiveFile={again.archive_path}"
    assert again.archive_path.read_text() == "classes"
    again.keep_new_archive(lambda: pytest.fail("Java is not waited for"))
    assert list((tmp_path / "cache").iterdir()) == [again.archive_path]


def test_one_that_ended_badly_leaves_nothing(tmp_path: Path) -> None:
    archive = ClassArchive(tmp_path, "/java")
    archive.keep_new_archive(ending(written(archive), "half of it", 1))
    assert list(tmp_path.iterdir()) == []
    archive.keep_new_archive(lambda: 0)
    assert list(tmp_path.iterdir()) == []


def test_a_new_one_takes_the_place_of_those_that_nobody_uses(tmp_path: Path) -> None:
    old, lately = ClassArchive(tmp_path, "/old"), ClassArchive(tmp_path, "/lately")
    for archive in (old, lately):
        archive.archive_path.touch()
        os.utime(archive.archive_path, (0, 0))
    assert "SharedArchiveFile" in lately.java_options
    fresh = ClassArchive(tmp_path, "/java")
    fresh.keep_new_archive(ending(written(fresh), "classes", 0))
    assert set(tmp_path.iterdir()) == {lately.archive_path, fresh.archive_path}


def test_another_java_has_another_one(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    before = ClassArchive(tmp_path, str(tmp_path / "a")).archive_path
    (tmp_path / "a" / "release").write_text('JAVA_VERSION="21"')
    assert (
        len(
            {
                before,
                ClassArchive(tmp_path, str(tmp_path / "a")).archive_path,
                ClassArchive(tmp_path, "/b").archive_path,
            }
        )
        == 3
    )
