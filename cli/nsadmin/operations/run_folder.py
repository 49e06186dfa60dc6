"""RunFolder: what a long procedure keeps on disk: its state, its events, and the lock of its process.

Rule: saved data survives a kill at any moment, and at most one process of this machine changes a run. A
damaged file is one error that names it. Procedures touch files and locks only here.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import msgspec

from namesrv_core import operator_files, private_files
from namesrv_core.errors import RocketMQError
from namesrv_core.storage import atomic_write
from nsadmin.operations.process_lock import ProcessLock

STATE_VERSION = 1
STATE_FILE, EVENTS_FILE, LOCK_FILE = "state.json", "events.jsonl", "lock"

T = TypeVar("T")
EventRecord = Mapping[str, Any]


class InvalidStateError(RocketMQError):
    """A file is not a valid state. The message gives the reason."""


class SavedRecord(msgspec.Struct, frozen=True, rename="camel"):
    """A record in a file of a procedure."""

    def _replace(self, **changes: Any) -> Self:
        return msgspec.structs.replace(self, **changes)


class SavedState(SavedRecord, frozen=True, tag_field="version", tag=STATE_VERSION):
    """The content of a state file. A file has every field, also those with a default."""

    later_fields: ClassVar[tuple[str, ...]] = ()
    """The fields that files of earlier releases lack, as files name them."""


S = TypeVar("S", bound=SavedState)


class RunEvent(SavedRecord, frozen=True, tag_field="event", tag=lambda name: name[0].lower() + name[1:]):
    """An event of a procedure. `time` is in ms since 1970."""

    is_status: ClassVar[bool] = False
    """Whether it repeats with every observation. Files have only the other events, which are changes."""

    time: int

    def to_record(self) -> dict[str, Any]:
        """Return the event as programs and files get it; `event` is its name."""
        fields = msgspec.to_builtins(self)
        record = {"time": fields.pop("time"), **fields}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in record.items()}


def convert_saved(json_value: Any, record_type: type[T]) -> T:
    """Convert a JSON value strictly. Raises InvalidStateError, which says what is wrong where."""
    try:
        return msgspec.convert(json_value, record_type, str_keys=True)
    except ValueError as error:
        problem, _, place = str(error).replace("`", "").partition(" - at ")
        where = f" at {place.removeprefix('$.')}" if place.removeprefix("$") else ""
        raise InvalidStateError(f"{problem[:1].lower()}{problem[1:]}{where}") from None


def parse_state(json_value: Any, state_type: type[S]) -> S:
    """Convert the content of a state file. Raises InvalidStateError."""
    if not isinstance(json_value, dict):
        raise InvalidStateError("not a JSON object")
    version = json_value.get("version")
    if version is None:
        raise InvalidStateError("the field version is missing")
    if version != STATE_VERSION:
        raise InvalidStateError(
            f"version {version} is not supported: this nsadmin reads version {STATE_VERSION}"
        )
    state = convert_saved(json_value, state_type)
    missing_field = _find_missing(msgspec.to_builtins(state), json_value, state_type.later_fields)
    if missing_field is not None:
        raise InvalidStateError(f"the field {missing_field} is missing")
    return state


def _find_missing(whole: Any, json_value: Any, optional_fields: Iterable[str] = ()) -> str | None:
    """The first field of a record, or of a record in it, that the file does not have."""
    if isinstance(whole, dict):
        missing = next((str(name) for name in whole if name not in (*json_value, *optional_fields)), None)
        if missing is not None:
            return missing
        pairs = [(member, json_value[name]) for name, member in whole.items() if name in json_value]
    elif isinstance(whole, (list, tuple)):
        pairs = list(zip(whole, json_value, strict=True))
    else:
        return None
    return next((missing for pair in pairs if (missing := _find_missing(*pair)) is not None), None)


def read_json_file(path: Path, parse: Callable[[Any], T]) -> T | None:
    """Return the value in a file; None without a file. Raises InvalidStateError, which names the file."""
    try:
        file_text = operator_files.read_bytes(path).decode("utf-8", "surrogatepass")
        return parse(operator_files.parse_json(file_text))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InvalidStateError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        problem = f"{path} is not JSON: {error}"
    except InvalidStateError as error:
        problem = f"{path}: {error}"
    raise InvalidStateError(f"{problem}: restore the file, or move it away")


class _SavedFile:
    """A file of a run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def delete(self) -> None:
        self.path.unlink(missing_ok=True)

    def rename(self, new_name: str) -> None:
        """Rename the file, if it exists, and replace a file of that name."""
        with suppress(FileNotFoundError):
            os.replace(self.path, self.path.with_name(new_name))
            atomic_write.sync_folder(self.path.parent)


class StateFile(_SavedFile, Generic[S]):
    """A file with one state."""

    def __init__(self, path: Path, state_type: type[S]) -> None:
        super().__init__(path)
        self._state_type = state_type
        self._last_state: S | None = None

    def load(self) -> S | None:
        """Return the saved state; None without a file. Raises InvalidStateError."""
        self._last_state = read_json_file(self.path, lambda value: parse_state(value, self._state_type))
        return self._last_state

    def save(self, state: S) -> None:
        """Replace the file, unless nothing but the time of the update changed. Raises OSError."""
        last = self._last_state
        is_saved = last is not None and (state is last or _without_time(state) == _without_time(last))
        if not is_saved or not self.path.exists():
            # Names of topics may have lone surrogates, which msgspec does not encode.
            json_text = json.dumps(msgspec.to_builtins(state), ensure_ascii=False, separators=(",", ":"))
            atomic_write.replace_file(self.path, json_text.encode("utf-8", "surrogatepass"))
        self._last_state = state


def _without_time(state: S) -> S:
    return state._replace(updated=0) if hasattr(state, "updated") else state


class RecordFile(_SavedFile):
    """A file of JSON lines that grows by appends."""

    def append(self, *records: EventRecord) -> None:
        """Append records: all of them, on lines of their own and on disk, or none. Raises OSError."""
        private_files.append_record(self.path, _encode_records(records), syncs=True)

    def replace(self, records: Iterable[EventRecord]) -> None:
        """Replace all records. Raises OSError."""
        atomic_write.replace_file(self.path, _encode_records(records), keeps_backup=False)

    def load(self, apply: Callable[[Any], object]) -> None:
        """Call `apply` with each record. Raises InvalidStateError, which names the line that it refuses."""
        try:
            lines = self.path.read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            return
        for number, line in enumerate(lines, 1):
            # The last line can be incomplete: its process was killed.
            if line.endswith(b"\n"):
                try:
                    apply(operator_files.parse_json(line))
                except (ValueError, KeyError, InvalidStateError) as error:
                    raise InvalidStateError(f"{self.path}: line {number} is invalid: {error}") from None

    def read_last(self, max_bytes: int) -> list[dict[str, Any]]:
        """Return the last records that are readable; [] if the file is not."""
        try:
            with open(self.path, "rb") as file:
                skipped = max(os.path.getsize(self.path) - max_bytes, 0)
                file.seek(skipped)
                lines = file.read().splitlines()
        except OSError:
            return []
        # The first line may be cut.
        return _parse_lines(lines[1 if skipped else 0 :])

    def follow(self) -> "RecordFollower":
        """Return a follower of the records that are appended from now on."""
        return RecordFollower(self.path)


def _encode_records(records: Iterable[EventRecord]) -> bytes:
    lines = (json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n" for record in records)
    # A lone surrogate becomes its escape sequence in JSON.
    return "".join(lines).encode("utf-8", "backslashreplace")


def _parse_lines(lines: Iterable[bytes]) -> list[dict[str, Any]]:
    """The records on complete lines. A torn line is left out."""
    records = []
    for line in lines:
        with suppress(ValueError):
            records.append(operator_files.parse_json(line))
    return [record for record in records if isinstance(record, dict)]


class RecordFollower:
    """Follows the records that another process appends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = path.stat().st_size if path.exists() else 0

    def read_new(self) -> list[dict[str, Any]]:
        """Return the records on the complete lines that were appended since the last call."""
        if not self._path.exists():
            self._offset = 0
            return []
        with open(self._path, "rb") as file:
            file.seek(self._offset)
            new_bytes = file.read()
        whole_lines = new_bytes[: new_bytes.rfind(b"\n") + 1]
        self._offset += len(whole_lines)
        return _parse_lines(whole_lines.splitlines())


class RunFolder(Generic[S]):
    """The state, the events and the lock of one run. Raises OSError if they are not writable.

    By default, the events and the lock are beside the state.
    """

    def __init__(
        self,
        state_type: type[S],
        state_file: Path,
        *,
        events_file: Path | None = None,
        lock_file: Path | None = None,
    ) -> None:
        self.path = state_file.parent
        self.state = StateFile(state_file, state_type)
        self.events = RecordFile(events_file or self.path / EVENTS_FILE)
        self.lock = ProcessLock(lock_file or self.path / LOCK_FILE)
        self.sign: Callable[[S], S] = lambda state: state
        """Adds to the state of a new run the installation that it changes."""

    def replace_text(self, file_name: str, text: str) -> None:
        """Replace a file for people. Raises OSError."""
        atomic_write.replace_file(self.path / file_name, text.encode(), keeps_backup=False)

    def record(self, event: RunEvent) -> EventRecord:
        """Append an event to the file, unless it is only a status, and return its record."""
        event_record = event.to_record()
        if not event.is_status:
            self.events.append(event_record)
        return event_record


class SavedRun(NamedTuple, Generic[S]):
    """A run as loaded from its folder. `holder_pid` is the process that runs it now, if any."""

    folder: RunFolder[S]
    state: S
    holder_pid: int | None


def load_all(folders: Iterable[RunFolder[S]]) -> Iterator[SavedRun[S] | InvalidStateError]:
    """Yield the run in each folder that has one, or an InvalidStateError for an invalid file."""
    for folder in folders:
        try:
            state = folder.state.load()
        except InvalidStateError as error:
            yield error
            continue
        if state is not None:
            yield SavedRun(folder, state, folder.lock.holder_pid)
