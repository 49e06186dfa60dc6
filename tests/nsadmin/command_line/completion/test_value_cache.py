"""Files of the cache: who may read them, how old and how many they get, and who may ask."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nsadmin.command_line.completion import value_cache as cache_module
from nsadmin.command_line.completion.value_cache import (
    ATTEMPT_PAUSE_SECONDS,
    MAX_AGE_SECONDS,
    CachedLines,
    ValueCache,
    value_cache_folder,
)

NOW = 1_800_000_000.0


@pytest.fixture
def cache(tmp_path: Path) -> ValueCache:
    return ValueCache(tmp_path / "made" / "when needed")


@pytest.fixture
def cache_path(tmp_path: Path) -> Path:
    return tmp_path / "made" / "when needed"


def test_the_folder_is_that_of_xdg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert value_cache_folder({"XDG_CACHE_HOME": "/c"}) == Path("/c/nsadmin/complete")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert (
        value_cache_folder({})
        == value_cache_folder({"XDG_CACHE_HOME": "relative"})
        == tmp_path / ".cache/nsadmin/complete"
    )


def test_what_is_kept_is_read_with_its_time(cache: ValueCache) -> None:
    assert cache.read_lines("a") is None
    cache.write_lines("a", ["x", "y\tz"], NOW)
    assert cache.read_lines("a") == CachedLines(["x", "y\tz"], NOW)
    cache.write_lines("a", [], NOW + 1)
    assert cache.read_lines("a") == CachedLines([], NOW + 1)


def test_only_this_user_may_read_it(cache: ValueCache, cache_path: Path) -> None:
    cache.start_attempt("a", NOW)
    cache.write_lines("a", ["x"], NOW)
    assert {path.stat().st_mode & 0o777 for path in cache_path.iterdir()} == {0o600}
    assert cache_path.stat().st_mode & 0o777 == 0o700


def test_between_two_attempts_is_a_pause(cache: ValueCache) -> None:
    assert cache.last_attempt_time("a") is None
    assert cache.start_attempt("a", NOW)
    assert not cache.start_attempt("a", NOW + ATTEMPT_PAUSE_SECONDS - 1)
    assert cache.last_attempt_time("a") == NOW
    assert cache.start_attempt("b", NOW)
    assert cache.start_attempt("a", NOW + ATTEMPT_PAUSE_SECONDS)
    assert cache.start_attempt("a", NOW - 1), "a clock that was set back holds nobody up"


def test_one_at_a_time_asks(cache: ValueCache, cache_path: Path) -> None:
    cache.start_attempt("a", NOW)
    with cache.lock_values("a") as mine, cache.lock_values("a") as again, cache.lock_values("b") as other:
        assert (mine, again, other) == (True, False, True)
    with cache.lock_values("a") as mine:
        assert mine
    assert cache.last_attempt_time("a") == NOW


def test_who_dies_holds_nothing(cache: ValueCache, cache_path: Path) -> None:
    cache.start_attempt("a", NOW)
    attempt = str(cache_path / "a.attempt")
    program = f"import fcntl, os; fcntl.flock(os.open({attempt!r}, os.O_WRONLY), fcntl.LOCK_EX)"
    subprocess.run([sys.executable, "-c", program + "; os._exit(1)"], check=False)
    with cache.lock_values("a") as mine:
        assert mine


def test_old_files_and_those_that_are_too_many_are_removed(
    cache: ValueCache, cache_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.write_lines("old", ["x"], NOW - MAX_AGE_SECONDS - 1)
    cache.write_lines("b", ["x"], NOW - 20)
    cache.write_lines("c", ["x"], NOW - 10)
    monkeypatch.setattr(cache_module, "MAX_FILE_COUNT", 2)
    cache.write_lines("d", ["x"], NOW)
    assert sorted(path.name for path in cache_path.iterdir()) == ["c", "d"]


def test_no_file_grows_without_limit(cache: ValueCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "MAX_FILE_BYTES", 7)
    cache.write_lines("a", ["abc", "de", "f"], NOW)
    assert cache.read_lines("a") == CachedLines(["abc", "de"], NOW)


def test_a_disk_that_refuses_is_an_empty_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = ValueCache(tmp_path / "file" / "folder")
    cache.write_lines("a", ["x"], NOW)
    assert cache.read_lines("a") is None
    assert not cache.start_attempt("a", NOW)
    with cache.lock_values("a") as mine:
        assert mine


def test_a_broken_file_is_nothing(cache: ValueCache, cache_path: Path) -> None:
    cache.write_lines("a", ["x"], NOW)
    (cache_path / "a").write_bytes(b"\xff\xfe")
    assert cache.read_lines("a") is None


def test_a_name_that_is_no_text_is_kept_all_the_same(cache: ValueCache) -> None:
    cache.write_lines("a", ["x\udcff"], NOW)
    assert cache.read_lines("a") == CachedLines(["x?"], NOW)


def test_nothing_is_left_behind_by_a_write(cache: ValueCache, cache_path: Path) -> None:
    cache.write_lines("a", ["x"], NOW)
    assert os.listdir(cache_path) == ["a"]
