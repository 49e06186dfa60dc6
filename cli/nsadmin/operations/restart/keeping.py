"""How far a rolling restart has come, in a file: whoever is killed goes on from there."""

import json
from pathlib import Path

from namesrv_core.storage import durable
from nsadmin.operations.drain.keeping import file_name
from nsadmin.operations.drain.state import BadState
from nsadmin.operations.lock import Lock
from nsadmin.operations.restart.state import State, record, state_of


class Progress:
    """The file of a cluster's rolling restart."""

    def __init__(self, state_home: Path, cluster: str) -> None:
        folder = state_home / "restarts"
        self.file = folder / f"{file_name(cluster)}.json"
        self.lock = Lock(folder / f"{file_name(cluster)}.lock")

    def load(self) -> State | None:
        """How far it has come; None where none is under way. BadState."""
        try:
            return state_of(json.loads(self.file.read_text("utf-8")))
        except FileNotFoundError:
            return None
        except (ValueError, BadState) as error:
            raise BadState(f"{self.file}: {error}") from None

    def save(self, state: State) -> None:
        durable.replace(self.file, json.dumps(record(state)).encode())

    def end(self) -> None:
        """It is done."""
        self.file.unlink(missing_ok=True)
