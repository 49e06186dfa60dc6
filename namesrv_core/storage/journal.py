"""Journal: an append-only folder of records, written by one process and read by anybody.

Numbers have no holes, also over restarts. What an OSError interrupts can be done again.
"""

import fcntl
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.storage import durable, index, segments

_LOCK = "journal.lock"

Open = Callable[[Path], BinaryIO]


class Limits(NamedTuple):
    """When a segment is full or old, and what is kept of the closed ones; in bytes and ms."""

    segment_bytes: int = 16 << 20
    segment_millis: int = 24 * 3_600_000
    keep_bytes: int = 2 << 30
    keep_millis: int = 400 * 24 * 3_600_000


_USUAL = Limits()


class Repair(NamedTuple):
    """A file that ended in the middle of a record, and how many bytes of it were cut off."""

    file: str
    cut: int


def _open(path: Path) -> BinaryIO:
    return open(path, "ab", buffering=0)


class Journal:
    """RocketMQError from the constructor where somebody else writes to the folder; OSError from all.

    `next` is the number that the next record has to have; `repair` is what was cut when it was opened.
    """

    def __init__(self, folder: Path, limits: Limits = _USUAL, opening: Open | None = None) -> None:
        self._folder = folder
        self._limits = limits
        self._opening = opening or _open
        self._file: BinaryIO | None = None
        self._path: Path | None = None
        self._started = 0
        self._size = 0
        self._is_dirty = self._is_torn = False
        self.repair: Repair | None = None
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = _locked(folder / _LOCK)
        self.next = self._resume()

    def _resume(self) -> int:
        """Cut the torn end of the last segment; the number that follows its last record."""
        found = segments.segments(self._folder)
        if not found:
            return 1
        last = found[-1]
        if last.is_closed:
            return segments.last_number(last) + 1
        size = last.path.stat().st_size
        end, number = segments.tail(last.path)
        if end < size:
            self.repair = Repair(last.path.name, size - end)
        if number is None:
            last.path.unlink()
            return last.first
        if end < size:
            os.truncate(last.path, end)
        return number + 1

    def append(self, data: bytes, count: int, now: int) -> None:
        """Write `count` lines, all or none. At `now` (ms) a segment is begun, if there is none."""
        if self._file is None:
            path = self._folder / segments.name(self.next, now)
            self._file, self._path = self._opening(path), path
            self._size, self._started, self._is_torn = 0, now, False
        if self._is_torn:
            self._cut()
        self._is_torn = True
        left = memoryview(data)
        while left:
            left = left[self._file.write(left) :]
        self._is_torn = False
        self._size += len(data)
        self.next += count
        self._is_dirty = True

    def _cut(self) -> None:
        """Take back half a write; a file that does not even let that be done is given up for another one."""
        assert self._file is not None
        try:
            self._file.truncate(self._size)
        except OSError:
            self.begin_anew()
            raise

    def is_full(self, now: int) -> bool:
        """Whether it is time for another segment."""
        if self._file is None:
            return False
        return self._size >= self._limits.segment_bytes or now - self._started >= self._limits.segment_millis

    def roll(self) -> None:
        """End the segment; the next record begins another one."""
        if self._file is not None:
            self.sync()
            self._file.close()
            self._file = self._path = None

    def sync(self) -> None:
        """What was written is on the disk when this returns."""
        if self._file is None or not self._is_dirty:
            return
        os.fsync(self._file.fileno())
        durable.sync_folder(self._folder)
        self._is_dirty = False

    def is_removed(self) -> bool:
        """Whether somebody removed the open segment, with what was written to it."""
        return self._path is not None and not self._path.exists()

    def begin_anew(self) -> None:
        """Let go of a segment that was removed or is broken; the next record begins another one."""
        if self._file is not None:
            file, self._file, self._path = self._file, None, None
            with suppress(OSError):
                file.close()
        self._folder.mkdir(parents=True, exist_ok=True)

    def tidy(self, now: int) -> None:
        """Compress the segments that have ended, and remove those that are kept no longer."""
        segments.remove_twins(self._folder)
        for segment in segments.segments(self._folder):
            if not segment.is_closed and segment.path != self._path:
                segments.compress(segment.path)
        found = segments.segments(self._folder)
        sizes = [segment.path.stat().st_size + index.size(segment.path) for segment in found]
        total = sum(sizes)
        for segment, following, size in zip(found, found[1:], sizes, strict=False):
            is_old = following.started < now - self._limits.keep_millis
            if segment.path == self._path or not (is_old or total > self._limits.keep_bytes):
                break
            segment.path.unlink()
            index.path_of(segment.path).unlink(missing_ok=True)
            total -= size
        self._index()

    def _index(self) -> None:
        """Give one closed segment its index, the newest first: more would take too long at once."""
        for segment in reversed(segments.segments(self._folder)):
            if segment.is_closed and not index.path_of(segment.path).exists():
                with suppress(segments.BadSegment):
                    index.build(segment)
                    return

    def close(self) -> None:
        """End; the open segment stays as it is, and is compressed after the next start."""
        try:
            if self._file is not None:
                self._file.close()
        finally:
            os.close(self._lock)


def _locked(path: Path) -> int:
    """An open file that no other process can have locked as well; the lock ends with the process."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise RocketMQError(f"the journal {path.parent} is written by another process") from None
    return descriptor
