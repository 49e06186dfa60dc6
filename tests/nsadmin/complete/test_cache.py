"""Files of the cache: who may read them, how old and how many they get, and who may ask."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nsadmin.complete import cache as cache_module
from nsadmin.complete.cache import LONGEST, PAUSE, Cache, Kept, folder

NOW = 1_800_000_000.0


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "made" / "when needed")


@pytest.fixture
def at(tmp_path: Path) -> Path:
    return tmp_path / "made" / "when needed"


def test_the_folder_is_that_of_xdg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert folder({"XDG_CACHE_HOME": "/c"}) == Path("/c/nsadmin/complete")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert folder({}) == folder({"XDG_CACHE_HOME": "relative"}) == tmp_path / ".cache/nsadmin/complete"


def test_what_is_kept_is_read_with_its_time(cache: Cache) -> None:
    assert cache.read("a") is None
    cache.write("a", ["x", "y\tz"], NOW)
    assert cache.read("a") == Kept(["x", "y\tz"], NOW)
    cache.write("a", [], NOW + 1)
    assert cache.read("a") == Kept([], NOW + 1)


def test_only_this_user_may_read_it(cache: Cache, at: Path) -> None:
    cache.attempt("a", NOW)
    cache.write("a", ["x"], NOW)
    assert {path.stat().st_mode & 0o777 for path in at.iterdir()} == {0o600}
    assert at.stat().st_mode & 0o777 == 0o700


def test_between_two_attempts_is_a_pause(cache: Cache) -> None:
    assert cache.attempted("a") is None
    assert cache.attempt("a", NOW)
    assert not cache.attempt("a", NOW + PAUSE - 1)
    assert cache.attempted("a") == NOW
    assert cache.attempt("b", NOW)
    assert cache.attempt("a", NOW + PAUSE)
    assert cache.attempt("a", NOW - 1), "a clock that was set back holds nobody up"


def test_one_at_a_time_asks(cache: Cache, at: Path) -> None:
    cache.attempt("a", NOW)
    with cache.alone("a") as mine, cache.alone("a") as again, cache.alone("b") as other:
        assert (mine, again, other) == (True, False, True)
    with cache.alone("a") as mine:
        assert mine
    assert cache.attempted("a") == NOW


def test_who_dies_holds_nothing(cache: Cache, at: Path) -> None:
    cache.attempt("a", NOW)
    program = f"import fcntl, os; fcntl.flock(os.open({str(at / 'a.attempt')!r}, os.O_WRONLY), fcntl.LOCK_EX)"
    subprocess.run([sys.executable, "-c", program + "; os._exit(1)"], check=False)
    with cache.alone("a") as mine:
        assert mine


def test_old_files_and_those_that_are_too_many_are_removed(
    cache: Cache, at: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.write("old", ["x"], NOW - LONGEST - 1)
    cache.write("b", ["x"], NOW - 20)
    cache.write("c", ["x"], NOW - 10)
    monkeypatch.setattr(cache_module, "MOST_FILES", 2)
    cache.write("d", ["x"], NOW)
    assert sorted(path.name for path in at.iterdir()) == ["c", "d"]


def test_no_file_grows_without_limit(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "MOST_BYTES", 7)
    cache.write("a", ["abc", "de", "f"], NOW)
    assert cache.read("a") == Kept(["abc", "de"], NOW)


def test_a_disk_that_refuses_is_an_empty_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "folder")
    cache.write("a", ["x"], NOW)
    assert cache.read("a") is None
    assert not cache.attempt("a", NOW)
    with cache.alone("a") as mine:
        assert mine


def test_a_broken_file_is_nothing(cache: Cache, at: Path) -> None:
    cache.write("a", ["x"], NOW)
    (at / "a").write_bytes(b"\xff\xfe")
    assert cache.read("a") is None


def test_a_name_that_is_no_text_is_kept_all_the_same(cache: Cache) -> None:
    cache.write("a", ["x\udcff"], NOW)
    assert cache.read("a") == Kept(["x?"], NOW)


def test_nothing_is_left_behind_by_a_write(cache: Cache, at: Path) -> None:
    cache.write("a", ["x"], NOW)
    assert os.listdir(at) == ["a"]
