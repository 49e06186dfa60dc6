"""Caches completion values in small private files; the age of a file decides when to ask servers again.

Every time is an argument, in seconds since 1970. Disk errors are not raised: an unreadable cache is empty,
and a failed write is ignored.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

FRESH_SECONDS = 60.0
"""Age up to which cached values are used without a refresh."""
ATTEMPT_PAUSE_SECONDS = 10.0
"""Least time between two attempts to refresh."""
MAX_AGE_SECONDS = 7 * 86400.0
"""Age at which an unused file is removed."""
MAX_FILE_COUNT = 200
MAX_FILE_BYTES = 8 * 1024 * 1024
"""Limit of one file; further values are dropped. 200,000 topic names need less."""

_ATTEMPT_SUFFIX = ".attempt"


class CachedLines(NamedTuple):
    """Cached lines, and the time when they were cached."""

    lines: list[str]
    cached_at: float


def value_cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder in XDG_CACHE_HOME; as the XDG specification requires, a relative path is ignored."""
    home = environ.get("XDG_CACHE_HOME", "")
    return Path(home if home.startswith("/") else "~/.cache").expanduser() / "nsadmin" / "complete"


class ValueCache:
    """The cache files of one folder."""

    def __init__(self, cache_folder: Path) -> None:
        self._cache_folder = cache_folder

    def read_lines(self, cache_name: str) -> CachedLines | None:
        """Return the cached lines of that name; None if there are none, or if they are unreadable."""
        try:
            with open(self._cache_folder / cache_name, encoding="utf-8") as cache_file:
                cached_at = os.fstat(cache_file.fileno()).st_mtime
                return CachedLines(cache_file.read().splitlines(), cached_at)
        except (OSError, ValueError):
            return None

    def write_lines(self, cache_name: str, lines: Sequence[str], now_seconds: float) -> None:
        """Replace the cached lines of that name, and remove old files and those above the limit."""
        # Imported late, because it takes 4 ms and only a refresh writes.
        import tempfile

        with suppress(OSError):
            self._make_folder()
            descriptor, fresh_path = tempfile.mkstemp(dir=self._cache_folder, prefix=".new.")
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as cache_file:
                cache_file.writelines(_limit_size(lines))
            os.utime(fresh_path, (now_seconds, now_seconds))
            os.replace(fresh_path, self._cache_folder / cache_name)
            self._prune_files(now_seconds)

    def start_attempt(self, cache_name: str, now_seconds: float) -> bool:
        """Whether to refresh now. If so, the attempt is recorded, so that no other process refreshes soon."""
        last_attempt = self.last_attempt_time(cache_name)
        if last_attempt is not None and 0 <= now_seconds - last_attempt < ATTEMPT_PAUSE_SECONDS:
            return False
        try:
            self._make_folder()
            attempt_file = self._cache_folder / (cache_name + _ATTEMPT_SUFFIX)
            os.close(os.open(attempt_file, os.O_WRONLY | os.O_CREAT, 0o600))
            os.utime(attempt_file, (now_seconds, now_seconds))
        except OSError:
            return False
        return True

    def last_attempt_time(self, cache_name: str) -> float | None:
        """Return the time of the last attempt to refresh."""
        try:
            return (self._cache_folder / (cache_name + _ATTEMPT_SUFFIX)).stat().st_mtime
        except OSError:
            return None

    @contextmanager
    def lock_values(self, cache_name: str) -> Iterator[bool]:
        """Lock these values until the end of the block; yields whether no other process holds the lock."""
        try:
            import fcntl

            self._make_folder()
            descriptor = os.open(
                self._cache_folder / (cache_name + _ATTEMPT_SUFFIX), os.O_WRONLY | os.O_CREAT, 0o600
            )
        except (ImportError, OSError):
            # Without file locks, the pause between attempts prevents most duplicate refreshes.
            yield True
            return
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield True
        except BlockingIOError:
            yield False
        finally:
            os.close(descriptor)

    def _make_folder(self) -> None:
        self._cache_folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def _prune_files(self, now_seconds: float) -> None:
        aged_paths = []
        for entry in os.scandir(self._cache_folder):
            with suppress(OSError):
                aged_paths.append((now_seconds - entry.stat(follow_symlinks=False).st_mtime, entry.path))
        aged_paths.sort()
        for file_number, (age_seconds, file_path) in enumerate(aged_paths):
            if age_seconds > MAX_AGE_SECONDS or file_number >= MAX_FILE_COUNT:
                with suppress(OSError):
                    os.unlink(file_path)


def _limit_size(lines: Sequence[str]) -> Iterator[str]:
    total_size = 0
    for line in lines:
        total_size += len(line) + 1
        if total_size > MAX_FILE_BYTES:
            return
        yield line + "\n"
