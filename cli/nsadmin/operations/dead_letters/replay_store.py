"""The file that remembers which dead letters of a group were replayed.

Rule: a record is on disk before the batch that it announces is sent, so a killed replay can go on.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from namesrv_core import operator_files, private_files
from namesrv_core.storage import atomic_write
from nsadmin.client.messages.message_sender import SendQueue
from nsadmin.client.messages.replay_memory import ReplayMemory, ReplayPlace
from nsadmin.operations.drain.state import InvalidStateError, convert_saved
from nsadmin.operations.process_lock import ProcessLock
from nsadmin.operations.state_folder import escape_file_name

REPLAY_FILE, LOCK_FILE = "replays.jsonl", "lock"


class InvalidReplayFileError(Exception):
    """The file of replays cannot be read; the text is one line that says why."""


def replay_folder_of(state_home: Path, cluster_names: Iterable[str], group: str) -> Path:
    """Return the folder for the replays of a group."""
    cluster_folder = escape_file_name("+".join(sorted(set(cluster_names))))
    return state_home / "dead-letters" / cluster_folder / escape_file_name(group)


class _Run(msgspec.Struct):
    id: str
    rules: dict[str, Any]
    count: int


class _ReplayRecord(msgspec.Struct, forbid_unknown_fields=True):
    """A line of the file: it has one of these fields."""

    run: _Run | msgspec.UnsetType | None = msgspec.UNSET
    pending: tuple[ReplayPlace, list[tuple[int, str]], SendQueue, int] | msgspec.UnsetType = msgspec.UNSET
    replayed: tuple[ReplayPlace, list[tuple[int, int]], str | None, int] | msgspec.UnsetType = msgspec.UNSET
    forget: tuple[ReplayPlace] | msgspec.UnsetType = msgspec.UNSET


class SavedReplayMemory(ReplayMemory):
    """A memory that is saved. Raises OSError if the folder is not writable.

    A file grows by appends. Opening it replaces them by few records.
    """

    def __init__(self, replay_folder: Path) -> None:
        super().__init__()
        self.replay_file = replay_folder / REPLAY_FILE
        self._lock = ProcessLock(replay_folder / LOCK_FILE)
        self._is_open = False

    def try_lock(self) -> bool:
        """Lock the group; return False if another process replays its dead letters."""
        return self._lock.acquire_lock()

    @property
    def holder_pid(self) -> int | None:
        """The process that holds the lock; None if it is free."""
        return self._lock.owner_pid

    def load_records(self) -> None:
        """Read the file. Raises InvalidReplayFileError if it is invalid."""
        try:
            file_lines = self.replay_file.read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            return
        for line_number, file_line in enumerate(file_lines, 1):
            # The last line can be incomplete: the process was killed before it sent that batch.
            if file_line.endswith(b"\n"):
                try:
                    record = operator_files.parse_json(file_line)
                    convert_saved(record, _ReplayRecord)
                    self.apply_record(record)
                except (ValueError, KeyError, InvalidStateError) as error:
                    raise InvalidReplayFileError(
                        f"{self.replay_file}: line {line_number} is invalid: {error}"
                    ) from None

    def open_file(self) -> None:
        """Open the file for records. The lock is required."""
        records = [] if self.is_new else self.build_records()
        atomic_write.replace_file(self.replay_file, _encode_records(records), keeps_backup=False)
        self._is_open = True

    def close(self) -> None:
        """Write no more, and release the lock."""
        self._is_open = False
        self._lock.release_lock()

    def _write_records(self, records: Iterable[Mapping[str, Any]]) -> None:
        if self._is_open:
            private_files.append_record(self.replay_file, _encode_records(records), syncs=True)


def _encode_records(records: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records).encode()
