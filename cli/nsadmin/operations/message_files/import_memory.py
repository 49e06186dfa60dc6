"""ImportMemory: which messages of a file were sent to a cluster. A killed import goes on from it."""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from nsadmin.operations.run_folder import RunFolder, SavedState

_SAMPLE_BYTES = 1 << 20


def find_import_folder(
    state_home: Path, path: Path, servers: Iterable[str], target_topics: Mapping[str, str]
) -> Path:
    """Return the folder for the import of this file to these servers, under these topics.

    A file is known by its size and its first and last MiB, so that it may be moved. Raises OSError.
    """
    digest = hashlib.sha256()
    with open(path, "rb") as message_file:
        file_size = path.stat().st_size
        digest.update(f"{file_size}\n".encode() + message_file.read(_SAMPLE_BYTES))
        message_file.seek(max(0, file_size - _SAMPLE_BYTES))
        digest.update(message_file.read(_SAMPLE_BYTES))
    digest.update(repr((sorted(servers), sorted(target_topics.items()))).encode("utf-8", "replace"))
    return state_home / "message-imports" / digest.hexdigest()[:32]


class _ImportState(SavedState, frozen=True):
    next_row: int
    unsent_rows: tuple[int, ...]


class ImportMemory:
    """The messages that were sent: all before `next_row`, except `unsent_rows`."""

    def __init__(self, folder: Path) -> None:
        self._folder = RunFolder(_ImportState, folder / "import.json")
        self.lock = self._folder.lock
        self.next_row = 0
        self.unsent_rows: set[int] = set()

    def load(self) -> None:
        """Read what an earlier run sent. Raises InvalidStateError."""
        state = self._folder.state.load()
        if state is not None:
            self.next_row, self.unsent_rows = state.next_row, set(state.unsent_rows)

    def is_sent(self, row_number: int) -> bool:
        """Return whether the message with this number was sent."""
        return row_number < self.next_row and row_number not in self.unsent_rows

    def note_batch(self, rows: Collection[int], unsent_rows: Iterable[int]) -> None:
        """Note and save that these messages were sent, except `unsent_rows`. Raises OSError."""
        self.unsent_rows -= set(rows)
        self.unsent_rows |= set(unsent_rows)
        self.next_row = max(self.next_row, *(row + 1 for row in rows))
        self._folder.state.save(_ImportState(self.next_row, tuple(sorted(self.unsent_rows))))
