"""A lock file that lets one process at a time run a procedure. A killed process loses the lock."""

import fcntl
import os
import time
from pathlib import Path
from typing import IO

_LOOKS, _PAUSE = 25, 0.002
"""Reading `owner_pid` takes the lock for some microseconds, so `acquire_lock` retries."""


class Lock:
    """A file that holds the owner's process id and is locked with flock."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._held: IO[str] | None = None

    def take(self) -> bool:
        """Take the lock; False if another process has it.

        Raises:
            OSError: the file cannot be written.
        """
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
        """Release the lock."""
        if self._held is not None:
            self._held.truncate(0)
            self._held.close()
            self._held = None

    @property
    def pid(self) -> int | None:
        """The process id of the owner; 0 if the owner has not written it yet, None if the lock is free."""
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
