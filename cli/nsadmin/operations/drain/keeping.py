"""Keeping: a drain's folder: its state, its snapshot, what happened in it, and who is at it.

Law: what was saved is on the disk, whatever is killed; and at most one process of this machine changes it.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from namesrv_core.storage import durable
from nsadmin.operations.drain.state import (
    BadState,
    Snapshot,
    State,
    snapshot_of,
    snapshot_record,
    state_of,
    state_record,
)
from nsadmin.operations.lock import Lock

STATE, SNAPSHOT, EVENTS, LOCK = "state.json", "snapshot.json", "events.jsonl", "lock"


class Kept(NamedTuple):
    """A drain as its folder has it; `pid` is the process that is at it now, if there is one."""

    folder: Path
    state: State
    snapshot: Snapshot
    pid: int | None


def home(environ: Mapping[str, str] = os.environ) -> Path:
    """NSADMIN_STATE, else nsadmin's folder of the user's state."""
    given = environ.get("NSADMIN_STATE")
    if given:
        return Path(given).expanduser()
    base = environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(base).expanduser() / "nsadmin"


def folder_of(state_home: Path, cluster: str, broker: str) -> Path:
    """Where the drain of a broker is kept."""
    return state_home / "drains" / file_name(cluster) / file_name(broker)


def file_name(name: str) -> str:
    """The name, with % for what file systems treat in their own way; no two names become one."""
    text = re.sub(r"[^\w.-]|^\.", lambda match: f"%{match[0].encode().hex()}", name, flags=re.ASCII)
    return text or "%"


class Keeping:
    """One drain's folder. OSError where it cannot be written, BadState where it cannot be understood."""

    def __init__(self, folder: Path, broker: str) -> None:
        self.folder = folder
        self._broker = broker
        self._lock = Lock(folder / LOCK)
        self._saved: tuple[State | None, Snapshot | None] = (None, None)

    def take(self) -> bool:
        """Be the one who changes it; False where another process is."""
        return self._lock.take()

    def leave(self) -> None:
        """Let others at it."""
        self._lock.leave()

    def load(self) -> tuple[State, Snapshot] | None:
        """What is there; None for nothing."""
        try:
            state = _read(self.folder / STATE)
            if state is None:
                return None
            snapshot = _read(self.folder / SNAPSHOT)
            found = state_of(state), Snapshot() if snapshot is None else snapshot_of(snapshot, self._broker)
        except BadState as error:
            raise BadState(f"{self.folder}: {error}") from None
        self._saved = found
        return found

    def save(self, state: State, snapshot: Snapshot) -> None:
        """The snapshot before the state, and only what differs."""
        before, kept = self._saved
        if snapshot != kept:
            _write(self.folder / SNAPSHOT, snapshot_record(snapshot))
        if before is None or state._replace(updated=0) != before._replace(updated=0) or snapshot != kept:
            _write(self.folder / STATE, state_record(state))
        self._saved = state, snapshot

    def note(self, record: Mapping[str, Any]) -> None:
        """One more line of what happened."""
        line = json.dumps(record, ensure_ascii=False) + "\n"
        with open(self.folder / EVENTS, "ab") as sink:
            sink.write(line.encode("utf-8", "backslashreplace"))

    def put_away(self) -> None:
        """It is undone: keep what it was under other names, and be ready for the next one."""
        for name in (STATE, SNAPSHOT, EVENTS):
            file = self.folder / name
            if file.exists():
                os.replace(file, self.folder / f"undone-{name}")
        durable.sync_folder(self.folder)
        self._saved = (None, None)

    def notes(self) -> "Notes":
        """What others note down from now on."""
        return Notes(self.folder / EVENTS)

    @property
    def pid(self) -> int | None:
        """Who is at it; None for nobody."""
        return self._lock.pid


class Notes:
    """Follows the notes of another process."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._at = file.stat().st_size if file.exists() else 0

    def read(self) -> list[dict[str, Any]]:
        """The whole lines that have come since."""
        if not self._file.exists():
            self._at = 0
            return []
        with open(self._file, "rb") as source:
            source.seek(self._at)
            data = source.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._at += len(whole)
        return [json.loads(line) for line in whole.splitlines()]


def kept(state_home: Path) -> Iterator[Kept | BadState]:
    """Every drain that is not undone, in the order of names; BadState for a folder that makes no sense."""
    for file in sorted((state_home / "drains").glob(f"*/*/{STATE}")):
        try:
            found = state_of(_read(file))
            snapshot = _read(file.with_name(SNAPSHOT))
            made = Snapshot() if snapshot is None else snapshot_of(snapshot, found.broker)
            yield Kept(file.parent, found, made, Lock(file.with_name(LOCK)).pid)
        except BadState as error:
            yield BadState(f"{file.parent}: {error}")


def _read(file: Path) -> Any:
    try:
        return json.loads(file.read_bytes().decode("utf-8", "surrogatepass"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise BadState(f"{file.name} is no JSON: {error}") from None


def _write(file: Path, value: object) -> None:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    durable.replace(file, text.encode("utf-8", "surrogatepass"))
