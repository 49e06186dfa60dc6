"""The file that remembers which dead letters of a group were replayed.

Rule: a record is on disk before the batch that it announces is sent, so a killed replay can go on.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import msgspec

from nsadmin.client import AdminClient
from nsadmin.client.messages.dead_letter_selection import DeadLetterCounts
from nsadmin.client.messages.message_sender import SendQueue
from nsadmin.client.messages.replay_memory import ReplayMemory, ReplayPlace
from nsadmin.operations.installation import Installation, OwnedState
from nsadmin.operations.run_folder import InvalidStateError, RecordFile, RunFolder, StateFile, convert_saved
from nsadmin.operations.state_folder import escape_file_name

_REPLAYS_FILE = "replays.jsonl"


class ReplayOwner(OwnedState, frozen=True):
    """The installation whose dead letters were replayed. Earlier releases did not save it."""

    name_servers: tuple[str, ...] = ()


class _OwnerFile(StateFile[ReplayOwner]):
    def load(self) -> ReplayOwner | None:
        has_replays = (self.path.parent / _REPLAYS_FILE).exists()
        return super().load() or (ReplayOwner() if has_replays else None)


class ReplayFolder(RunFolder[ReplayOwner]):
    """The folder for the replays of a group."""

    def __init__(self, path: Path) -> None:
        super().__init__(ReplayOwner, path / "installation.json")
        self.state = _OwnerFile(self.state.path, ReplayOwner)


def open_replays(state_home: Path, cluster_names: Iterable[str], group: str) -> ReplayFolder:
    """Return the folder for the replays of a group in one of the homes."""
    cluster_folder = escape_file_name("+".join(sorted(set(cluster_names))))
    return ReplayFolder(state_home / "dead-letters" / cluster_folder / escape_file_name(group))


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

    def __init__(self, folder: ReplayFolder) -> None:
        super().__init__()
        self._folder = folder
        self._records = RecordFile(folder.path / _REPLAYS_FILE)
        self._is_open = False

    @classmethod
    def find(cls, admin: AdminClient, cluster_names: Iterable[str], group: str) -> Self:
        """Return the memory of a group of this installation."""
        names = sorted(set(cluster_names))
        return cls(Installation(admin).find_run(lambda home: open_replays(home, names, group)))

    def load_records(self) -> None:
        """Read the file. Raises InvalidStateError if it is invalid."""
        try:
            self._records.load(self._load_record)
        except InvalidStateError as error:
            raise InvalidStateError(f"{error}: move the file away to forget the replays in it") from None

    def _load_record(self, record: Any) -> None:
        convert_saved(record, _ReplayRecord)
        self.apply_record(record)

    @contextmanager
    def open(self, refuse: Callable[[str], Exception]) -> Iterator[None]:
        """Load the records, and save the next ones, under the lock.

        Args:
            refuse: Returns what is raised if that process replays dead letters of the group.
        """
        with self._folder.lock.hold(refuse):
            self.load_records()
            self._folder.state.save(self._folder.sign(ReplayOwner()))
            self._records.replace([] if self.is_new else self.build_records())
            self._is_open = True
            try:
                yield
            finally:
                self._is_open = False

    def _write_records(self, records: Iterable[Mapping[str, Any]]) -> None:
        if self._is_open:
            self._records.append(*records)


def count_replayed(admin: AdminClient, counts: DeadLetterCounts) -> int:
    """How many dead letters that still exist were replayed, as the saved memory of the group says."""
    clusters = (place.cluster_name for place in counts.queue_bounds)
    memory = SavedReplayMemory.find(admin, clusters, counts.group)
    memory.load_records()
    return sum(
        max(0, min(range_end, end) - max(range_begin, begin))
        for place, (begin, end) in counts.queue_bounds.items()
        for range_begin, range_end in memory.list_replayed(place).ranges
    )
