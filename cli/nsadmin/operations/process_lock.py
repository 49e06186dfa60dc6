"""A lock file that lets one process at a time run a procedure. A killed process loses the lock."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from namesrv_core import private_files

_LOCK_ATTEMPTS, _RETRY_PAUSE_SECONDS = 25, 0.002
"""Reading `holder_pid` takes the lock for some microseconds, so `acquire` retries. A holder writes its id
some microseconds after it has the lock, so `holder_pid` retries."""


class ProcessLock:
    """A file that has the process id of its holder and is locked with flock."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._locked_file: IO[str] | None = None

    @contextmanager
    def hold(self, refuse: Callable[[str], Exception]) -> Iterator[None]:
        """Hold the lock, or raise what `refuse` returns for the process that has it.

        Raises:
            OSError: the file cannot be written.
        """
        if not self.acquire():
            raise refuse(name_process(self.holder_pid))
        try:
            yield
        finally:
            self.release()

    def acquire(self) -> bool:
        """Take the lock; False if another process has it. Raises OSError if the file cannot be written."""
        if self._locked_file is not None:
            return True
        private_files.make_folder(self._path.parent, 0o700)
        lock_file = open(self._path, "a+", opener=private_files.open_private_file)  # noqa: SIM115 - it is held
        if not _try_lock(lock_file):
            lock_file.close()
            return False
        lock_file.truncate(0)
        lock_file.write(f"{os.getpid()}\n")
        lock_file.flush()
        self._locked_file = lock_file
        return True

    def release(self) -> None:
        if self._locked_file is not None:
            self._locked_file.truncate(0)
            self._locked_file.close()
            self._locked_file = None

    @property
    def holder_pid(self) -> int | None:
        """The process id of the holder; 0 if the holder does not write it, None if the lock is free."""
        for _ in range(_LOCK_ATTEMPTS):
            try:
                with open(self._path) as lock_file:
                    try:
                        fcntl.flock(lock_file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                    except BlockingIOError:
                        pid_text = lock_file.read().strip()
                    else:
                        return None
            except FileNotFoundError:
                return None
            if pid_text.isdecimal():
                return int(pid_text)
            time.sleep(_RETRY_PAUSE_SECONDS)
        return 0


def name_process(pid: int | None) -> str:
    """The subject of a message about a process that holds a lock; 0 and None are an unknown one."""
    return f"process {pid}" if pid else "another process"


def _try_lock(lock_file: IO[str]) -> bool:
    for attempt in range(_LOCK_ATTEMPTS):
        try:
            fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if attempt + 1 < _LOCK_ATTEMPTS:
                time.sleep(_RETRY_PAUSE_SECONDS)
    return False
