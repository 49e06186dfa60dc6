"""Cache: values by what was asked, in small files of this user alone, whose age says when to ask anew.

Every time is an argument, in seconds since 1970. Nothing here raises what a disk may do: a cache that cannot
be read is empty, one that cannot be written stays so.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

FRESH = 60.0
"""Seconds during which values are given without asking anew."""
PAUSE = 10.0
"""Seconds between two attempts to ask."""
LONGEST = 7 * 86400.0
"""Seconds after which a file that nobody asked anew is removed."""
MOST_FILES = 200
MOST_BYTES = 8 * 1024 * 1024
"""Of one file; values beyond are left out. 200 thousand names of topics are less."""

_ATTEMPT = ".attempt"


class Kept(NamedTuple):
    """Lines that were kept, and when."""

    lines: list[str]
    since: float


def folder(environ: Mapping[str, str] = os.environ) -> Path:
    """nsadmin's part of XDG_CACHE_HOME; a relative path there counts as none, as XDG wants it."""
    base = environ.get("XDG_CACHE_HOME", "")
    return Path(base if base.startswith("/") else "~/.cache").expanduser() / "nsadmin" / "complete"


class Cache:
    """The files of one folder."""

    def __init__(self, at: Path) -> None:
        self._at = at

    def read(self, name: str) -> Kept | None:
        """What was kept by that name; None for nothing, or nothing that can be read."""
        try:
            with open(self._at / name, encoding="utf-8") as file:
                since = os.fstat(file.fileno()).st_mtime
                return Kept(file.read().splitlines(), since)
        except (OSError, ValueError):
            return None

    def write(self, name: str, lines: Sequence[str], now: float) -> None:
        """Replace what was kept by that name, and remove what is too old or too much."""
        # Late, as only what asks servers writes: 4 ms.
        import tempfile

        with suppress(OSError):
            self._make_folder()
            descriptor, fresh = tempfile.mkstemp(dir=self._at, prefix=".new.")
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
                file.writelines(_bounded(lines))
            os.utime(fresh, (now, now))
            os.replace(fresh, self._at / name)
            self._prune(now)

    def attempt(self, name: str, now: float) -> bool:
        """Whether to ask anew now; if so, that is noted, and for a while nobody else will."""
        before = self.attempted(name)
        if before is not None and 0 <= now - before < PAUSE:
            return False
        try:
            self._make_folder()
            note = self._at / (name + _ATTEMPT)
            os.close(os.open(note, os.O_WRONLY | os.O_CREAT, 0o600))
            os.utime(note, (now, now))
        except OSError:
            return False
        return True

    def attempted(self, name: str) -> float | None:
        """When it was last decided to ask anew."""
        try:
            return (self._at / (name + _ATTEMPT)).stat().st_mtime
        except OSError:
            return None

    @contextmanager
    def alone(self, name: str) -> Iterator[bool]:
        """Whether nobody else asks for the same at this moment; held until the end of the block."""
        try:
            import fcntl

            self._make_folder()
            descriptor = os.open(self._at / (name + _ATTEMPT), os.O_WRONLY | os.O_CREAT, 0o600)
        except (ImportError, OSError):
            # No locks on this system, or no disk: the pause between attempts has to do.
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
        self._at.mkdir(parents=True, exist_ok=True, mode=0o700)

    def _prune(self, now: float) -> None:
        aged = []
        for entry in os.scandir(self._at):
            with suppress(OSError):
                aged.append((now - entry.stat(follow_symlinks=False).st_mtime, entry.path))
        aged.sort()
        for number, (age, path) in enumerate(aged):
            if age > LONGEST or number >= MOST_FILES:
                with suppress(OSError):
                    os.unlink(path)


def _bounded(lines: Sequence[str]) -> Iterator[str]:
    size = 0
    for line in lines:
        size += len(line) + 1
        if size > MOST_BYTES:
            return
        yield line + "\n"
