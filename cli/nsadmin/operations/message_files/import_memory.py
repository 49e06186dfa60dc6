"""ImportMemory: which messages of a file were sent to a cluster. A killed import goes on from it."""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from nsadmin.operations.drain.state import SavedRecord, build_state_record, parse_saved
from nsadmin.operations.process_lock import ProcessLock
from nsadmin.operations.state_file import read_state_file, write_state_file

_SAMPLE_BYTES = 1 << 20


def find_import_folder(
    state_home: Path, message_path: Path, namesrv_addrs: Iterable[str], target_topics: Mapping[str, str]
) -> Path:
    """Return the folder for the import of this file to these name servers, under these topics.

    A file is known by its size and its first and last MiB, so that it may be moved. Raises OSError.
    """
    digest = hashlib.sha256()
    with open(message_path, "rb") as message_file:
        file_size = message_path.stat().st_size
        digest.update(f"{file_size}\n".encode() + message_file.read(_SAMPLE_BYTES))
        message_file.seek(max(0, file_size - _SAMPLE_BYTES))
        digest.update(message_file.read(_SAMPLE_BYTES))
    digest.update(repr((sorted(namesrv_addrs), sorted(target_topics.items()))).encode("utf-8", "replace"))
    return state_home / "message-imports" / digest.hexdigest()[:32]


class _ImportState(SavedRecord, frozen=True, rename="camel"):
    next_row: int
    unsent_rows: tuple[int, ...]


class ImportMemory:
    """The messages that were sent: all before `next_row`, except `unsent_rows`.

    Args:
        folder: The folder to keep it in.
    """

    def __init__(self, folder: Path) -> None:
        self._state_file = folder / "import.json"
        self._lock = ProcessLock(folder / "lock")
        self.next_row = 0
        self.unsent_rows: set[int] = set()

    def try_lock(self) -> bool:
        """Lock the import; return False if another process runs it. Raises OSError."""
        return self._lock.acquire_lock()

    @property
    def owner_pid(self) -> int | None:
        """The process that runs the import; None if no process does."""
        return self._lock.owner_pid

    def release_lock(self) -> None:
        """Let other processes run the import."""
        self._lock.release_lock()

    def load(self) -> None:
        """Read what an earlier run sent. Raises InvalidStateError."""
        state = read_state_file(self._state_file, lambda json_value: parse_saved(json_value, _ImportState))
        if state is not None:
            self.next_row, self.unsent_rows = state.next_row, set(state.unsent_rows)

    def is_sent(self, row_number: int) -> bool:
        """Return whether the message with this number was sent."""
        return row_number < self.next_row and row_number not in self.unsent_rows

    def note_batch(self, row_numbers: Iterable[int], unsent_rows: Iterable[int]) -> None:
        """Note and save that these messages were sent, except `unsent_rows`. Raises OSError."""
        row_numbers = list(row_numbers)
        self.unsent_rows -= set(row_numbers)
        self.unsent_rows |= set(unsent_rows)
        self.next_row = max(self.next_row, *(row_number + 1 for row_number in row_numbers))
        state = _ImportState(self.next_row, tuple(sorted(self.unsent_rows)))
        write_state_file(self._state_file, build_state_record(state))
