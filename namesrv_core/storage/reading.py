"""A journal as others read it: records in their order, those that come, and whether it is whole."""

import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from namesrv_core.events import Snapshot
from namesrv_core.history.lines import parse
from namesrv_core.history.records import BadRecord, Record, event_of
from namesrv_core.history.replay import Replay
from namesrv_core.storage import index
from namesrv_core.storage.segments import BadSegment, Segment, lines, lines_at, segments

_SHOWN = 5


class Checked(NamedTuple):
    """What was found in a segment; sizes are in bytes, times in ms, None where there is no record.

    `torn` is how many bytes stand behind the last whole line: in the open segment that is a record under way,
    or what a killed server left. `problems` are in words.
    """

    segment: Segment
    records: int
    first: int | None
    last: int | None
    began: int | None
    ended: int | None
    size: int
    plain_size: int
    torn: int
    problems: tuple[str, ...]


class Count(NamedTuple):
    """How many records of a type there are, with how many bytes, and the times (ms) of first and last."""

    records: int
    plain_size: int
    first: int
    last: int


class Sieve(NamedTuple):
    """Which lines are looked at: those that `may_be`, of an indexed segment those of the `terms` and `types`.

    None is all of them. What passes is not all wanted.
    """

    may_be: Callable[[bytes], bool] | None = None
    terms: Sequence[str] | None = None
    types: Collection[str] | None = None


_ALL = Sieve()


def records(folder: Path, since: int = 0, sieve: Sieve = _ALL) -> Iterator[Record]:
    """A journal's records, oldest first, from the segment on that has the first one of `since` (ms).

    Those that cannot be understood are passed over: `check` tells of them. BadSegment, OSError.
    """
    for segment in _since(segments(folder), since):
        yield from _sieved(segment, sieve)


def backwards(folder: Path, since: int, until: int, sieve: Sieve) -> Iterator[Iterator[Record]]:
    """The records of each segment, in their order; the newest segment first. As `records`.

    `since` and `until` (ms) leave out segments all of whose records are older, or newer.
    """
    found = _since(segments(folder), since)
    for segment in reversed([segment for segment in found if segment.started < until]):
        yield _sieved(segment, sieve)


def _sieved(segment: Segment, sieve: Sieve) -> Iterator[Record]:
    for text in _concerned(segment, sieve):
        if (sieve.may_be is None or sieve.may_be(text)) and (record := _record(text)) is not None:
            yield record


def _concerned(segment: Segment, sieve: Sieve) -> Iterator[bytes]:
    places = index.places(segment.path, sieve.terms, sieve.types) if segment.is_closed else None
    return lines(segment) if places is None else lines_at(segment, *places)


def _since(found: list[Segment], since: int) -> list[Segment]:
    """Without those whose successor was begun before: all their records are older."""
    return [
        segment
        for number, segment in enumerate(found, 1)
        if number == len(found) or found[number].started > since
    ]


def _readable(segment: Segment) -> Iterator[Record]:
    return (record for text in lines(segment) if (record := _record(text)) is not None)


def counts(folder: Path) -> dict[str, Count]:
    """What is in a journal, by type of record. BadSegment, OSError."""
    found: dict[str, Count] = {}
    for segment in segments(folder):
        for text in lines(segment):
            record = _record(text)
            if record is not None:
                before = found.get(record.type, Count(0, 0, record.time, record.time))
                found[record.type] = Count(
                    before.records + 1, before.plain_size + len(text), before.first, record.time
                )
    return found


def last(folder: Path, count: int) -> list[Record]:
    """The last records of a journal; no more segments are read than that takes. BadSegment, OSError."""
    found: list[Record] = []
    for segment in reversed(segments(folder)):
        if len(found) >= count:
            break
        found = [*deque(_readable(segment), count - len(found)), *found]
    return found


def tables(folder: Path) -> Replay:
    """The tables at the end of a journal; no more segments are read than that takes. BadSegment, OSError."""
    kept: list[Segment] = []
    for segment in reversed(segments(folder)):
        kept.insert(0, segment)
        if any(record.type == Snapshot.__name__ for record in _readable(segment)):
            break
    replay = Replay()
    for segment in kept:
        for record in _readable(segment):
            replay.feed(record)
    return replay


def follow(
    folder: Path, after: int, pause: Callable[[float], None] = time.sleep, period: float = 0.2
) -> Iterator[list[Record]]:
    """Records with numbers above `after` as they come, some at a time; without end."""
    for batch in looks(folder, after):
        if batch:
            yield batch
        else:
            pause(period)


def looks(folder: Path, after: int) -> Iterator[list[Record]]:
    """What a look finds of records with numbers above `after`, each once; perhaps nothing; without end."""
    reached, tail = after, _Tail()
    while True:
        found = segments(folder)
        begun = [number for number, segment in enumerate(found) if segment.first <= reached + 1][-1:] or [0]
        batch: list[Record] = []
        for segment in found[begun[0] :]:
            new = _readable(segment) if segment.is_closed else tail.read(segment.path)
            batch = [record for record in new if record.seq > reached]
            if batch:
                break
        reached = batch[-1].seq if batch else reached
        yield batch


class _Tail:
    """What was added to an open segment since it was last read."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._offset = 0

    def read(self, path: Path) -> list[Record]:
        if path != self._path:
            self._path, self._offset = path, 0
        try:
            with path.open("rb") as file:
                file.seek(self._offset)
                content = file.read()
        except FileNotFoundError:
            # It was closed just now, and is found under its new name at the next look.
            return []
        end = content.rfind(b"\n") + 1
        self._offset += end
        return [record for text in content[:end].splitlines() if (record := _record(text)) is not None]


def _record(text: bytes) -> Record | None:
    try:
        return parse(text)
    except BadRecord:
        return None


def check(folder: Path) -> Iterator[Checked]:
    """Look through a whole journal: numbers without holes, records that can be understood, and tables.

    The tables that a snapshot and the events behind it give must be those of the next snapshot. OSError.
    """
    replay = Replay()
    for segment in segments(folder):
        yield _Check(segment, replay).run()


class _Check:
    def __init__(self, segment: Segment, replay: Replay) -> None:
        self._segment = segment
        self._replay = replay
        self._problems: list[str] = []

    def run(self) -> Checked:
        found: list[Record] = []
        count = plain = number = 0
        try:
            for number, text in enumerate(lines(self._segment), 1):
                plain += len(text)
                record = self._record(number, text)
                if record is not None:
                    count += 1
                    found = [*found[:1], record]
        except BadSegment as error:
            self._problems.append(str(error))
        path = self._segment.path
        size = path.stat().st_size if path.exists() else plain
        torn = 0 if self._segment.is_closed else max(size - plain, 0)
        first, last = (found[0], found[-1]) if found else (None, None)
        return Checked(
            self._segment,
            count,
            first and first.seq,
            last and last.seq,
            first and first.time,
            last and last.time,
            size,
            plain,
            torn,
            self._said(),
        )

    def _record(self, number: int, text: bytes) -> Record | None:
        try:
            record = parse(text)
            self._look_at(record)
        except BadRecord as error:
            self._problems.append(f"line {number}: {error}")
            return None
        return record

    def _look_at(self, record: Record) -> None:
        replay, before = self._replay, self._replay.seq
        if before is not None and record.seq != before + 1:
            self._problems.append(f"record {before} is followed by {record.seq}")
        if record.type != Snapshot.__name__:
            replay.feed(record)
            return
        was_certain = replay.is_certain and before is not None and record.seq == before + 1
        contents = dict(replay.contents()) if was_certain else {}
        replay.feed(record)
        event = event_of(record)
        if was_certain and isinstance(event, Snapshot) and event.reason not in ("start", "poll"):
            differing = [name for name, table in replay.contents().items() if table != contents[name]]
            if differing:
                what = ", ".join(differing)
                self._problems.append(
                    f"snapshot {record.seq} has other {what} than the events before it give"
                )

    def _said(self) -> tuple[str, ...]:
        more = len(self._problems) - _SHOWN
        rest = (f"and {more} more",) if more > 0 else ()
        return (*self._problems[:_SHOWN], *rest)
