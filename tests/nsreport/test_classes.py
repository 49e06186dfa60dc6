"""The class-data archive: made once, used from then on, and never half of one."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from nsreport.classes import Archive


def written(archive: Archive) -> Path:
    """Where Java is told to write it."""
    flag = archive.flags.split()[0]
    assert flag.startswith("-XX:ArchiveClassesAtExit=")
    return Path(flag.partition("=")[2])


def ending(path: Path, text: str, code: int) -> Callable[[], int]:
    """What has Java write that there, and end with that code."""

    def end() -> int:
        path.write_text(text)
        return code

    return end


def test_the_first_session_that_ends_well_makes_it(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "cache", "/java")
    archive.keep(ending(written(archive), "classes", 0))
    again = Archive(tmp_path / "cache", "/java")
    assert again.flags.split()[0] == f"-XX:SharedArchiveFile={again.path}"
    assert again.path.read_text() == "classes"
    again.keep(lambda: pytest.fail("Java is not waited for"))
    assert list((tmp_path / "cache").iterdir()) == [again.path]


def test_one_that_ended_badly_leaves_nothing(tmp_path: Path) -> None:
    archive = Archive(tmp_path, "/java")
    archive.keep(ending(written(archive), "half of it", 1))
    assert list(tmp_path.iterdir()) == []
    archive.keep(lambda: 0)
    assert list(tmp_path.iterdir()) == []


def test_a_new_one_takes_the_place_of_those_that_nobody_uses(tmp_path: Path) -> None:
    old, lately = Archive(tmp_path, "/old"), Archive(tmp_path, "/lately")
    for archive in (old, lately):
        archive.path.touch()
        os.utime(archive.path, (0, 0))
    assert "SharedArchiveFile" in lately.flags
    fresh = Archive(tmp_path, "/java")
    fresh.keep(ending(written(fresh), "classes", 0))
    assert set(tmp_path.iterdir()) == {lately.path, fresh.path}


def test_another_java_has_another_one(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    before = Archive(tmp_path, str(tmp_path / "a")).path
    (tmp_path / "a" / "release").write_text('JAVA_VERSION="21"')
    assert len({before, Archive(tmp_path, str(tmp_path / "a")).path, Archive(tmp_path, "/b").path}) == 3
