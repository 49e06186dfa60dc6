"""ReplayMemory: which dead letters of a group were replayed, and which sends have an unknown outcome.

Rule: a batch is noted before it is sent, so that a killed replay can look up what the broker stored.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from nsadmin.client.messages.message_sender import SendQueue
from nsadmin.client.messages.offset_ranges import OffsetRanges


class ReplayPlace(NamedTuple):
    """A queue of the dead-letter topic."""

    cluster_name: str
    broker_name: str
    queue_id: int


class PendingBatch(NamedTuple):
    """Dead letters that are being sent.

    Attributes:
        place: Their queue.
        ids_by_offset: Their offsets in ascending order, and their offset ids.
        send_queue: The queue that they are sent to.
        begin_offset: The end of that queue before the first send.
    """

    place: ReplayPlace
    ids_by_offset: Mapping[int, str]
    send_queue: SendQueue
    begin_offset: int


class ReplayMemory:
    """The replays of one group. This class forgets them when the process ends.

    Attributes:
        pending: The batches whose outcome is unknown.
    """

    def __init__(self) -> None:
        self.pending: dict[ReplayPlace, PendingBatch] = {}
        self._replayed: dict[ReplayPlace, OffsetRanges] = {}
        self._last_ids: dict[ReplayPlace, str] = {}
        self._unsaved: list[dict[str, Any]] = []
        self._rules: Mapping[str, object] | None = None
        self._run_id = ""
        self.run_count = 0
        """The number of messages that the run has replayed, also before an interruption."""

    @property
    def is_new(self) -> bool:
        """Whether no replay of the group is known."""
        return self._rules is None and not self._replayed

    def begin_run(
        self, rules: Mapping[str, object], new_run_id: str, *, forgets_replays: bool = False
    ) -> str:
        """Begin a run, or resume an interrupted run with the same rules.

        Args:
            rules: The selection and the target of the run, in JSON's types.
            new_run_id: The id of a new run.
            forgets_replays: Forget the replays of earlier runs, so that a new run repeats them.

        Returns:
            The id of the run.
        """
        if self._rules != rules:
            self._save_record({"run": {"id": new_run_id, "rules": rules, "count": 0}})
            for place in list(self._replayed) if forgets_replays else ():
                self.forget_place(place)
        return self._run_id

    def end_run(self) -> None:
        """Note that the run is complete."""
        self._save_record({"run": None})

    def list_replayed(self, place: ReplayPlace) -> OffsetRanges:
        """Return the offsets of a queue that were replayed."""
        return self._replayed.get(place, OffsetRanges())

    def get_last_id(self, place: ReplayPlace) -> str | None:
        """Return the offset id of the highest replayed dead letter of a queue; or None."""
        return self._last_ids.get(place)

    def forget_place(self, place: ReplayPlace) -> None:
        """Forget a queue, because it was created again."""
        self._save_record({"forget": [place]})

    def begin_batch(self, pending_batch: PendingBatch) -> None:
        """Note a batch before it is sent."""
        self._save_record(_build_pending_record(pending_batch))

    def end_batch(self, pending_batch: PendingBatch, replayed_offsets: Iterable[int]) -> None:
        """Note the outcome of a batch. It is saved with the next batch, or at the end."""
        offset_ranges = OffsetRanges()
        offset_ranges.add_offsets(replayed_offsets)
        last_offset = offset_ranges.last_offset
        last_id = None if last_offset is None else pending_batch.ids_by_offset.get(last_offset)
        self._add_record(
            {"replayed": [pending_batch.place, offset_ranges.ranges, last_id, len(offset_ranges)]}
        )

    def note_replayed(self, place: ReplayPlace, offset: int, letter_id: str) -> None:
        """Note a dead letter that was replayed elsewhere. It is saved with the next batch, or at the end."""
        self._add_record({"replayed": [place, [(offset, offset + 1)], letter_id, 0]})

    def flush(self) -> None:
        """Save the unsaved outcomes of batches. After an OSError, they stay unsaved."""
        if self._unsaved:
            self._write_records(self._unsaved)
            self._unsaved = []

    def apply_record(self, record: Mapping[str, Any]) -> None:
        """Change the memory as a record of this class says, or the same record after JSON.

        Raises:
            ValueError, TypeError, KeyError: The record is invalid.
        """
        if "run" in record:
            run_record = record["run"]
            self._rules = {} if run_record is None else run_record["rules"]
            self._run_id = "" if run_record is None else run_record["id"]
            self.run_count = 0 if run_record is None else run_record["count"]
        elif "pending" in record:
            place, letters, send_queue, begin_offset = record["pending"]
            self.pending[ReplayPlace(*place)] = PendingBatch(
                ReplayPlace(*place), dict(letters), SendQueue(*send_queue), begin_offset
            )
        elif "replayed" in record:
            place, ranges, last_id, replayed_count = record["replayed"]
            self._add_replayed(ReplayPlace(*place), ranges, last_id, replayed_count)
        else:
            [place] = record["forget"]
            for table in (self.pending, self._replayed, self._last_ids):
                table.pop(ReplayPlace(*place), None)

    def build_records(self) -> list[dict[str, Any]]:
        """Return few records that lead to the same memory as all records until now."""
        record = {"id": self._run_id, "rules": self._rules, "count": self.run_count} if self._rules else None
        return [
            {"run": record},
            *(
                {"replayed": [place, offset_ranges.ranges, self._last_ids[place], 0]}
                for place, offset_ranges in self._replayed.items()
                if offset_ranges.ranges
            ),
            *(_build_pending_record(pending_batch) for pending_batch in self.pending.values()),
        ]

    def _add_replayed(
        self, place: ReplayPlace, ranges: Iterable[tuple[int, int]], last_id: str | None, replayed_count: int
    ) -> None:
        offset_ranges = self._replayed.setdefault(place, OffsetRanges())
        last_offset = offset_ranges.last_offset
        for begin_offset, end_offset in ranges:
            offset_ranges.add_range(begin_offset, end_offset)
        if last_id is not None and offset_ranges.last_offset != last_offset:
            self._last_ids[place] = last_id
        self.pending.pop(place, None)
        self.run_count += replayed_count

    def _add_record(self, record: dict[str, Any]) -> None:
        self.apply_record(record)
        self._unsaved.append(record)

    def _save_record(self, record: dict[str, Any]) -> None:
        self._add_record(record)
        self.flush()

    def _write_records(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Write records where they survive the process."""


def _build_pending_record(pending_batch: PendingBatch) -> dict[str, Any]:
    place, ids_by_offset, send_queue, begin_offset = pending_batch
    return {"pending": [place, list(ids_by_offset.items()), send_queue, begin_offset]}
