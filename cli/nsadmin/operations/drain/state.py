"""The state of a drain, the queues before it, and the folder that has both.

Rule: a drain takes the snapshot of a name server once, before its first change there, and never again.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple, Self

from namesrv_core.events import QueueData
from nsadmin.operations.drain.facts import QueuesByTopic
from nsadmin.operations.installation import OwnedState
from nsadmin.operations.run_folder import InvalidStateError, RecordFile, RunFolder, SavedState, StateFile
from nsadmin.operations.state_folder import escape_file_name, list_homes

NO_DRAIN = "you drain no broker here; drains from other machines and by other users are not known"
DrainPhase = Literal["snapshot", "wipe", "settle", "wait", "safe", "undrain"]
"""The phases: save queues, remove write permissions, let clients refresh routes, wait until writes stop.

Then the broker is safe to stop. The phase "undrain" restores the writes.
"""


class DrainState(OwnedState, frozen=True):
    """The state of a drain. Times are in ms since 1970.

    Attributes:
        permission: The brokerPermission before a durable drain.
        wipes: How often each name server was asked to remove the write permission.
        reopened: How often registrations restored write permissions, on all name servers together.
        reopens: The same by name server; without the events of versions that kept only the sum.
        closed_since: When no name server that answered had a writable topic any more; None while one has.
        safe_since: When it became safe to stop the broker.
        puts: Messages per minute at the time `updated`, None if unknown.
    """

    later_fields: ClassVar = (*OwnedState.later_fields, "puts", "reopens")

    cluster: str
    broker: str
    name_servers: tuple[str, ...]
    started: int
    updated: int
    by: str = ""
    phase: DrainPhase = "snapshot"
    durable: bool = False
    permission: int | None = None
    wipes: Mapping[str, int] = {}
    reopened: int = 0
    reopens: Mapping[str, int] = {}
    closed_since: int | None = None
    safe_since: int | None = None
    puts: int | None = None

    def count_reopens(self, addr: str) -> int | None:
        """Return how often a registration restored write permissions there, None if only the sum is known."""
        if sum(self.reopens.values()) != self.reopened:
            return None
        return self.reopens.get(addr, 0)


class QueueSnapshot(NamedTuple):
    """The broker's queues before the drain, at each name server by its address, and at the broker itself.

    `own_queues` is None if the broker did not answer. `closes_all` is whether the drain also closes name
    servers that are not in `queues_by_server`, because it has removed the broker's own permission.
    """

    queues_by_server: Mapping[str, QueuesByTopic] = {}
    own_queues: QueuesByTopic | None = None
    closes_all: bool = False


_NumbersByTopic = dict[str, tuple[int, int, int, int]]
"""The fields of QueueData after the broker's name, by topic."""


class SavedSnapshot(SavedState, frozen=True):
    """A snapshot in its file. `queues` names the numbers for readers of the file."""

    later_fields: ClassVar = ("queues",)

    name_servers: dict[str, _NumbersByTopic]
    broker: _NumbersByTopic | None
    queues: tuple[str, ...] = ("readQueueNums", "writeQueueNums", "perm", "topicSysFlag")

    @classmethod
    def of(cls, snapshot: QueueSnapshot) -> Self:
        own_queues = snapshot.own_queues
        return cls(
            {addr: _list_numbers(queues) for addr, queues in snapshot.queues_by_server.items()},
            None if own_queues is None else _list_numbers(own_queues),
        )

    def to_snapshot(self, broker: str) -> QueueSnapshot:
        return QueueSnapshot(
            {addr: _build_queues(broker, numbers) for addr, numbers in self.name_servers.items()},
            None if self.broker is None else _build_queues(broker, self.broker),
        )


def _list_numbers(queues: QueuesByTopic) -> _NumbersByTopic:
    return {
        topic: (queue.read_queue_nums, queue.write_queue_nums, int(queue.perm), queue.topic_sys_flag)
        for topic, queue in queues.items()
    }


def _build_queues(broker: str, numbers_by_topic: _NumbersByTopic) -> dict[str, QueueData]:
    return {topic: QueueData(broker, *numbers) for topic, numbers in numbers_by_topic.items()}


class SavedDrain(NamedTuple):
    """A drain as loaded from its folder. `holder_pid` is the process that runs it now, if any."""

    folder: "DrainFolder"
    state: DrainState
    snapshot: QueueSnapshot
    holder_pid: int | None


class DrainFolder(RunFolder[DrainState]):
    """The folder of one drain: besides the state, it has the snapshot."""

    def __init__(self, path: Path) -> None:
        super().__init__(DrainState, path / "state.json")
        self._snapshot = StateFile(path / "snapshot.json", SavedSnapshot)
        self._last_snapshot = QueueSnapshot()
        self._last_saved = SavedSnapshot.of(self._last_snapshot)

    def load(self) -> SavedDrain | None:
        """Return the saved drain; None if there is none. Raises InvalidStateError."""
        state = self.state.load()
        if state is None:
            return None
        saved = self._snapshot.load()
        snapshot = QueueSnapshot() if saved is None else saved.to_snapshot(state.broker)
        snapshot = snapshot._replace(closes_all=state.permission is not None)
        return SavedDrain(self, state, snapshot, self.lock.holder_pid)

    def save(self, state: DrainState, snapshot: QueueSnapshot) -> None:
        """Save the snapshot, then the state, each only if it changed."""
        if snapshot is not self._last_snapshot:
            self._last_snapshot, self._last_saved = snapshot, SavedSnapshot.of(snapshot)
        self._snapshot.save(self._last_saved)
        self.state.save(state)

    def read_undone_ms(self) -> int | None:
        """Return when the last drain of the broker was undone; None if no undone drain is kept."""
        records = RecordFile(self.events.path.with_name(f"undone-{self.events.path.name}")).read_last(65_536)
        return next((record["time"] for record in reversed(records) if record.get("event") == "undone"), None)

    def archive(self) -> None:
        """Rename the files of an undone drain, so that the next drain can begin."""
        for file in (self.state, self._snapshot, self.events):
            file.rename(f"undone-{file.path.name}")


def open_drain(state_home: Path, cluster: str, broker: str) -> DrainFolder:
    """Return the folder of a broker's drain in one of the homes."""
    return DrainFolder(state_home / "drains" / escape_file_name(cluster) / escape_file_name(broker))


def load_drains(state_home: Path) -> Iterator[SavedDrain | InvalidStateError]:
    """Yield every drain that is not undone, or an InvalidStateError for an invalid folder."""
    for state_file in (
        f for home in list_homes(state_home) for f in sorted(home.glob("drains/*/*/state.json"))
    ):
        try:
            saved = DrainFolder(state_file.parent).load()
        except InvalidStateError as error:
            yield error
            continue
        if saved is not None:
            yield saved
