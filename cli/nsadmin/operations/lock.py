"""Lock: one process at a time is at something that goes on for long; who is killed is at it no more."""

import fcntl
import os
import time
from pathlib import Path
from typing import IO

_LOOKS, _PAUSE = 25, 0.002
"""Who asks for the `pid` has the lock for some microseconds, and is not at it."""


class Lock:
    """A file that says who is at it, held by flock."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._held: IO[str] | None = None

    def take(self) -> bool:
        """Be the one; False where another process is. OSError where the file cannot be written."""
        if self._held is not None:
            return True
        self._file.parent.mkdir(0o700, parents=True, exist_ok=True)
        file = open(self._file, "a+")  # noqa: SIM115 - it is held
        if not _locked(file):
            file.close()
            return False
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        self._held = file
        return True

    def leave(self) -> None:
        """Let others at it."""
        if self._held is not None:
            self._held.truncate(0)
            self._held.close()
            self._held = None

    @property
    def pid(self) -> int | None:
        """Who is at it, 0 for a process that did not say; None for nobody."""
        try:
            with open(self._file) as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    text = file.read().strip()
                    return int(text) if text.isdecimal() else 0
        except FileNotFoundError:
            pass
        return None


def _locked(file: IO[str]) -> bool:
    for look in range(_LOOKS):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if look + 1 < _LOOKS:
                time.sleep(_PAUSE)
    return False
