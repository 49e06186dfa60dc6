"""JournalWriter, which appends records to a folder of segments, rolls segments and removes old ones.

Only one process writes to a journal. Record numbers have no gaps, even across restarts. A call that raised
OSError can be repeated.
"""

import fcntl
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from namesrv_core import private_files
from namesrv_core.errors import RocketMQError
from namesrv_core.storage import atomic_write
from namesrv_core.storage.journal import index, segments

_LOCK_NAME = "journal.lock"

FileOpener = Callable[[Path], BinaryIO]


class JournalLimits(NamedTuple):
    """The size (bytes) and age (ms) at which a segment rolls, and limits for keeping closed segments."""

    segment_bytes: int = 16 << 20
    segment_millis: int = 24 * 3_600_000
    keep_bytes: int = 2 << 30
    keep_millis: int = 400 * 24 * 3_600_000


_DEFAULT_LIMITS = JournalLimits()


class JournalRepair(NamedTuple):
    file_name: str
    cut_bytes: int


def _open_for_append(path: Path) -> BinaryIO:
    return open(path, "ab", buffering=0, opener=private_files.open_private_file)


class JournalWriter:
    """Writes a journal. All methods raise OSError.

    The constructor raises RocketMQError if another process writes to the folder. `next_seq` is the number of
    the next record. `start_repair` describes what the constructor cut off, None if nothing.
    """

    def __init__(
        self, folder: Path, limits: JournalLimits = _DEFAULT_LIMITS, open_file: FileOpener | None = None
    ) -> None:
        self._folder = folder
        self._limits = limits
        self._open_file = open_file or _open_for_append
        self._file: BinaryIO | None = None
        self._path: Path | None = None
        self._segment_started_ms = 0
        self._segment_bytes = self._first_line_bytes = 0
        self._has_unsynced_bytes = self._has_partial_write = False
        self.start_repair: JournalRepair | None = None
        private_files.make_folder(folder)
        self._lock_descriptor = _lock_journal(folder / _LOCK_NAME)
        self.next_seq = self._resume_last_segment()

    def _resume_last_segment(self) -> int:
        """Cut the torn end of the last segment. Return the number of the next record."""
        known = segments.list_segments(self._folder)
        if not known:
            return 1
        last = known[-1]
        if last.is_closed:
            return segments.find_last_seq(last) + 1
        file_bytes = last.file_path.stat().st_size
        whole, last_seq = segments.find_tail(last.file_path)
        if whole < file_bytes:
            self.start_repair = JournalRepair(last.file_path.name, file_bytes - whole)
        if last_seq is None:
            last.file_path.unlink()
            return last.first_seq
        if whole < file_bytes:
            os.truncate(last.file_path, whole)
        return last_seq + 1

    def append_lines(self, line: bytes, line_count: int, now_ms: int) -> None:
        """Write all lines or none. Begins a segment, dated `now_ms`, if none is open."""
        if self._file is None:
            path = self._folder / segments.segment_name(self.next_seq, now_ms)
            self._file, self._path = self._open_file(path), path
            self._segment_bytes, self._segment_started_ms, self._has_partial_write = 0, now_ms, False
        if self._has_partial_write:
            self._cut_partial_write()
        self._has_partial_write = True
        unwritten = memoryview(line)
        while unwritten:
            unwritten = unwritten[self._file.write(unwritten) :]
        self._has_partial_write = False
        if not self._segment_bytes:
            self._first_line_bytes = line.find(b"\n") + 1
        self._segment_bytes += len(line)
        self.next_seq += line_count
        self._has_unsynced_bytes = True

    def _cut_partial_write(self) -> None:
        """Remove a partial write. If that fails too, the next record begins another segment."""
        assert self._file is not None
        try:
            self._file.truncate(self._segment_bytes)
        except OSError:
            self.abandon_segment()
            raise

    @property
    def full_bytes(self) -> int:
        """The size at which the open segment should roll.

        A segment that begins with a large snapshot has room for as much again. Otherwise it would be full at
        once, and the journal would consist of snapshots.
        """
        return max(self._limits.segment_bytes, 2 * self._first_line_bytes)

    def is_segment_full(self, now_ms: int) -> bool:
        if self._file is None:
            return False
        return (
            self._segment_bytes >= self.full_bytes
            or now_ms - self._segment_started_ms >= self._limits.segment_millis
        )

    def roll_segment(self) -> None:
        """End the open segment. The next record begins another one."""
        if self._file is not None:
            self.sync_segment()
            self._file.close()
            self._file = self._path = None

    def sync_segment(self) -> None:
        if self._file is None or not self._has_unsynced_bytes:
            return
        os.fsync(self._file.fileno())
        atomic_write.sync_folder(self._folder)
        self._has_unsynced_bytes = False

    def is_segment_removed(self) -> bool:
        """Whether the file of the open segment was deleted."""
        return self._path is not None and not self._path.exists()

    def abandon_segment(self) -> None:
        """Close a segment that was deleted or is broken. The next record begins another one."""
        if self._file is not None:
            file, self._file, self._path = self._file, None, None
            with suppress(OSError):
                file.close()
        private_files.make_folder(self._folder)

    def tidy_segments(self, now_ms: int, is_hurried: bool = False) -> None:
        """Compress ended segments, remove expired ones and index one segment.

        If `is_hurried`, because records wait, compress fast and leave the index to a later call.
        """
        segments.remove_plain_twins(self._folder)
        for segment in segments.list_segments(self._folder):
            if not segment.is_closed and segment.file_path != self._path:
                segments.compress_segment(segment.file_path, is_hurried)
        closed = segments.list_segments(self._folder)
        sizes = [s.file_path.stat().st_size + index.index_bytes(s.file_path) for s in closed]
        total_bytes = sum(sizes)
        for segment, following, size in zip(closed, closed[1:], sizes, strict=False):
            is_expired = following.started_at_ms < now_ms - self._limits.keep_millis
            if segment.file_path == self._path or not (is_expired or total_bytes > self._limits.keep_bytes):
                break
            segment.file_path.unlink()
            index.index_path(segment.file_path).unlink(missing_ok=True)
            total_bytes -= size
        if not is_hurried:
            self._index_newest_segment()

    def _index_newest_segment(self) -> None:
        """Index the newest closed segment without an index. One per call, because each takes a while."""
        for segment in reversed(segments.list_segments(self._folder)):
            if segment.is_closed and not index.index_path(segment.file_path).exists():
                with suppress(segments.InvalidSegmentError):
                    index.build_index(segment)
                    return

    def close(self) -> None:
        """Close the journal. The open segment stays uncompressed until after the next start."""
        try:
            if self._file is not None:
                self._file.close()
        finally:
            os.close(self._lock_descriptor)


def _lock_journal(lock_path: Path) -> int:
    """Lock the journal for this process and return the lock's descriptor. The lock ends with the process."""
    descriptor = private_files.open_private_file(lock_path, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise RocketMQError(
            f'another process writes the journal "{lock_path.parent}": stop it, or use another folder'
        ) from None
    return descriptor
