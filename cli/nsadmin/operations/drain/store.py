"""The folder of a drain: its state, its snapshot, its events, and the lock of the process that runs it.

Rule: saved data survives a kill at any moment, and at most one process of this machine changes a drain.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from namesrv_core import operator_files
from namesrv_core.storage import atomic_write
from nsadmin.operations.drain.state import (
    DrainState,
    InvalidStateError,
    QueueSnapshot,
    build_snapshot_record,
    build_state_record,
    parse_snapshot_record,
    parse_state_record,
)
from nsadmin.operations.process_lock import ProcessLock
from nsadmin.operations.state_file import append_event_record, read_state_file, write_state_file
from nsadmin.operations.state_folder import escape_file_name

STATE_FILE, SNAPSHOT_FILE, EVENTS_FILE, LOCK_FILE = "state.json", "snapshot.json", "events.jsonl", "lock"


class SavedDrain(NamedTuple):
    """A drain as loaded from its folder. `holder_pid` is the process that runs it now, if any."""

    drain_folder: Path
    drain_state: DrainState
    queue_snapshot: QueueSnapshot
    holder_pid: int | None


def drain_folder_of(state_home: Path, cluster_name: str, broker_name: str) -> Path:
    """Return the folder of a broker's drain."""
    return state_home / "drains" / escape_file_name(cluster_name) / escape_file_name(broker_name)


class DrainStore:
    """The folder of one drain. Raises OSError if it is not writable, InvalidStateError if it is invalid."""

    def __init__(self, drain_folder: Path, broker_name: str) -> None:
        self.drain_folder = drain_folder
        self._broker_name = broker_name
        self._lock = ProcessLock(drain_folder / LOCK_FILE)
        self._last_saved: tuple[DrainState | None, QueueSnapshot | None] = (None, None)

    def try_lock(self) -> bool:
        """Lock the drain; return False if another process holds the lock."""
        return self._lock.acquire_lock()

    def release_lock(self) -> None:
        """Release the lock of the drain."""
        self._lock.release_lock()

    def load_drain(self) -> tuple[DrainState, QueueSnapshot] | None:
        """Return the saved state and snapshot; None if no drain is saved."""
        drain_state = read_state_file(self.drain_folder / STATE_FILE, parse_state_record)
        if drain_state is None:
            return None
        loaded_drain = drain_state, _read_snapshot(self.drain_folder, self._broker_name)
        self._last_saved = loaded_drain
        return loaded_drain

    def save_drain(self, drain_state: DrainState, queue_snapshot: QueueSnapshot) -> None:
        """Save the snapshot, then the state, each only if it changed."""
        saved_state, saved_snapshot = self._last_saved
        if queue_snapshot != saved_snapshot:
            write_state_file(self.drain_folder / SNAPSHOT_FILE, build_snapshot_record(queue_snapshot))
        if (
            saved_state is None
            or drain_state._replace(updated=0) != saved_state._replace(updated=0)
            or queue_snapshot != saved_snapshot
        ):
            write_state_file(self.drain_folder / STATE_FILE, build_state_record(drain_state))
        self._last_saved = drain_state, queue_snapshot

    def append_event(self, event_record: Mapping[str, Any]) -> None:
        """Append an event to the file of events."""
        append_event_record(self.drain_folder / EVENTS_FILE, event_record)

    def archive_drain(self) -> None:
        """Rename the files of an undone drain, so that the next drain can begin."""
        for file_name in (STATE_FILE, SNAPSHOT_FILE, EVENTS_FILE):
            drain_file = self.drain_folder / file_name
            if drain_file.exists():
                os.replace(drain_file, self.drain_folder / f"undone-{file_name}")
        atomic_write.sync_folder(self.drain_folder)
        self._last_saved = (None, None)

    def follow_events(self) -> "EventFollower":
        """Return a follower of the events that other processes append from now on."""
        return EventFollower(self.drain_folder / EVENTS_FILE)

    @property
    def holder_pid(self) -> int | None:
        """The process that holds the lock; None if it is free."""
        return self._lock.owner_pid


class EventFollower:
    """Follows the events that another process appends."""

    def __init__(self, events_file: Path) -> None:
        self._events_file = events_file
        self._read_offset = events_file.stat().st_size if events_file.exists() else 0

    def read_new_events(self) -> list[dict[str, Any]]:
        """Return the events in the complete lines appended since the last call. A torn line is left out."""
        if not self._events_file.exists():
            self._read_offset = 0
            return []
        with open(self._events_file, "rb") as events_file:
            events_file.seek(self._read_offset)
            new_bytes = events_file.read()
        whole_lines = new_bytes[: new_bytes.rfind(b"\n") + 1]
        self._read_offset += len(whole_lines)
        new_events = []
        for event_line in whole_lines.splitlines():
            with suppress(ValueError):
                new_events.append(operator_files.parse_json(event_line))
        return [event_record for event_record in new_events if isinstance(event_record, dict)]


def load_drains(state_home: Path) -> Iterator[SavedDrain | InvalidStateError]:
    """Yield every drain that is not undone, sorted by name, or an InvalidStateError for an invalid folder."""
    for state_file in sorted((state_home / "drains").glob(f"*/*/{STATE_FILE}")):
        try:
            drain_state = read_state_file(state_file, parse_state_record)
            if drain_state is None:
                continue
            queue_snapshot = _read_snapshot(state_file.parent, drain_state.broker)
            yield SavedDrain(
                state_file.parent,
                drain_state,
                queue_snapshot,
                ProcessLock(state_file.with_name(LOCK_FILE)).owner_pid,
            )
        except InvalidStateError as error:
            yield error


def _read_snapshot(drain_folder: Path, broker_name: str) -> QueueSnapshot:
    queue_snapshot = read_state_file(
        drain_folder / SNAPSHOT_FILE, lambda json_value: parse_snapshot_record(json_value, broker_name)
    )
    return QueueSnapshot() if queue_snapshot is None else queue_snapshot
