"""Stores the state of a rolling restart in a file, so that an interrupted restart can resume."""

from pathlib import Path

from nsadmin.operations.drain.state import InvalidStateError
from nsadmin.operations.process_lock import ProcessLock
from nsadmin.operations.restart.state import RestartState, build_state_record, parse_state_record
from nsadmin.operations.state_file import read_state_file, write_state_file
from nsadmin.operations.state_folder import escape_file_name


class RestartStore:
    """The state file and the lock of a cluster's rolling restart."""

    def __init__(self, state_home: Path, cluster_name: str) -> None:
        restarts_folder = state_home / "restarts"
        self.state_file = restarts_folder / f"{escape_file_name(cluster_name)}.json"
        self.restart_lock = ProcessLock(restarts_folder / f"{escape_file_name(cluster_name)}.lock")

    def load_state(self) -> RestartState | None:
        """Return the saved state; None if no restart is under way. Raises InvalidStateError."""
        try:
            state_record = read_state_file(self.state_file)
            return None if state_record is None else parse_state_record(state_record)
        except InvalidStateError as error:
            raise InvalidStateError(f"{self.state_file}: {error}") from None

    def save_state(self, restart_state: RestartState) -> None:
        write_state_file(self.state_file, build_state_record(restart_state))

    def delete_state(self) -> None:
        """Delete the file of a finished restart."""
        self.state_file.unlink(missing_ok=True)
