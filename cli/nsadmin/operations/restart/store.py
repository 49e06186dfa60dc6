"""Stores the state of a rolling restart in a file, so that an interrupted restart can resume."""

import json
from pathlib import Path

from namesrv_core import operator_files
from namesrv_core.storage import atomic_write
from nsadmin.operations.drain.state import InvalidStateError
from nsadmin.operations.process_lock import ProcessLock
from nsadmin.operations.restart.state import RestartState, build_state_record, parse_state_record
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
            return parse_state_record(operator_files.parse_json(self.state_file.read_text("utf-8")))
        except FileNotFoundError:
            return None
        except (ValueError, InvalidStateError) as error:
            raise InvalidStateError(f"{self.state_file}: {error}") from None

    def save_state(self, restart_state: RestartState) -> None:
        atomic_write.replace_file(self.state_file, json.dumps(build_state_record(restart_state)).encode())

    def delete_state(self) -> None:
        """Delete the file of a finished restart."""
        self.state_file.unlink(missing_ok=True)
