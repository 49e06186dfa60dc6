"""Stores the state of a rolling restart in a file, so that an interrupted restart can resume."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from nsadmin.operations.drain.state import InvalidStateError, build_state_record
from nsadmin.operations.process_lock import ProcessLock
from nsadmin.operations.restart.state import RestartState, parse_state_record
from nsadmin.operations.state_file import append_event_record, read_state_file, write_state_file
from nsadmin.operations.state_folder import escape_file_name


class SavedRestart(NamedTuple):
    """A restart that is not finished. `holder_pid` is the process that runs it now, if any."""

    restart_state: RestartState
    events_file: Path
    holder_pid: int | None


class RestartStore:
    """The state file, the events and the lock of a cluster's rolling restart."""

    def __init__(self, state_home: Path, cluster_name: str) -> None:
        file_stem = escape_file_name(cluster_name)
        restarts_folder = state_home / "restarts"
        self.state_file = restarts_folder / f"{file_stem}.json"
        self.events_file = restarts_folder / f"{file_stem}.events.jsonl"
        self.restart_lock = ProcessLock(restarts_folder / f"{file_stem}.lock")

    def load_state(self) -> RestartState | None:
        """Return the saved state; None if no restart is under way. Raises InvalidStateError."""
        return read_state_file(self.state_file, parse_state_record)

    def save_state(self, restart_state: RestartState) -> None:
        write_state_file(self.state_file, build_state_record(restart_state))

    def clear_events(self) -> None:
        """Delete the events of an earlier restart."""
        self.events_file.unlink(missing_ok=True)

    def append_event(self, event_record: Mapping[str, Any]) -> None:
        """Append an event to the file of events."""
        append_event_record(self.events_file, event_record)

    def delete_state(self) -> None:
        """Delete the file of a finished restart."""
        self.state_file.unlink(missing_ok=True)


def load_restarts(state_home: Path) -> Iterator[SavedRestart | InvalidStateError]:
    """Yield every restart that is not finished, or an InvalidStateError for an invalid file."""
    for state_file in sorted((state_home / "restarts").glob("*.json")):
        try:
            restart_state = read_state_file(state_file, parse_state_record)
        except InvalidStateError as error:
            yield error
            continue
        if restart_state is None:
            continue
        restart_store = RestartStore(state_home, restart_state.cluster)
        yield SavedRestart(restart_state, restart_store.events_file, restart_store.restart_lock.owner_pid)
