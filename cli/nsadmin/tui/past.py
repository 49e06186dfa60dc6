"""The journals of name servers as polls: for the replay of past incidents and for live events."""

from collections import deque
from collections.abc import Iterator, Sequence
from heapq import merge
from pathlib import Path
from typing import NamedTuple

from namesrv_core.history.records import BadRecord, Record
from namesrv_core.history.replay import Replay
from namesrv_core.storage import reading, segments
from nsadmin.tui.looking import PROBED_TOPIC, hidden
from nsadmin.tui.polls import AnyPoll, EventSeen, Group, NameServerPolled, Words

_LATEST = 300
_QUIET = ("Snapshot", "Polled", "SegmentStarted")
_TOPICS = ("Snapshot", "TopicsChanged", "TopicDeleted", "WritePermWiped", "WritePermAdded")
_NAMED = ("brokerName", "topic", "key", "brokerAddr")


class Journal(NamedTuple):
    """A journal's folder and the address of the name server that it belongs to."""

    folder: Path
    server: str


def find(folder: Path) -> list[Journal]:
    """Find the journals in a folder and in the folders below it, where a collector or a lab writes them."""
    places = [folder, *sorted(path for path in folder.rglob("*") if path.is_dir())]
    found = []
    for place in places:
        if segments.segments(place):
            first = next(reading.records(place), None)
            if first is not None:
                found.append(Journal(place, first.server))
    return found


class Journals:
    """A tape for replays that reads journals while it is played, from the segment that has the start time on.

    Raises BadSegment and OSError.
    """

    def __init__(self, journals: Sequence[Journal], words: Words) -> None:
        """Needs at least one journal with a record, as `find_journals` returns them."""
        self._journals = journals
        self._words = words
        folders = [journal.folder for journal in journals]
        self.begin = min(next(reading.records(folder)).time for folder in folders)
        self.end = max(reading.last(folder, 1)[0].time for folder in folders)

    def start(self, at: int) -> Iterator[AnyPoll]:
        """Yield the last events before a time and the tables at that time, then all later polls."""
        each = (_polls(journal, self._words, at) for journal in self._journals)
        return merge(*each, key=lambda poll: poll.at)


def _polls(journal: Journal, words: Words, at: int) -> Iterator[AnyPoll]:
    """Yield each event, and the tables at the end of each second in which a record was written."""
    replay, early, last, has_topics = Replay(), deque[EventSeen](maxlen=_LATEST), None, False
    for record in reading.records(journal.folder, at):
        if last is not None and record.time > at and record.time // 1000 > last.time // 1000:
            yield from early
            early.clear()
            yield _tables(last, replay, has_topics)
            has_topics = False
        try:
            replay.feed(record)
        except BadRecord:
            continue
        last, has_topics = record, has_topics or record.type in _TOPICS
        if record.type not in _QUIET:
            early.append(event(record, words))
            if record.time > at:
                yield from early
                early.clear()
    if last is not None:
        yield from early
        yield _tables(last, replay, has_topics)


def _tables(record: Record, replay: Replay, has_topics: bool) -> NameServerPolled:
    """The tables of the name server at a record, or an error if the journal has a gap there."""
    if not replay.is_certain:
        return NameServerPolled(record.time, record.server, error="its journal does not tell this moment")
    groups = {
        name: Group(group.cluster, dict(group.addrs)) for name, group in replay.groups.items() if group.addrs
    }
    perms = {name: queue.perm for name, queue in replay.topics.get(PROBED_TOPIC, {}).items()}
    return NameServerPolled(
        record.time,
        record.server,
        groups=groups,
        topics=tuple(replay.topics) if has_topics else None,
        settings=hidden(replay.settings),
        kv={
            name: hidden({key: value or "" for key, value in table.items()})
            for name, table in replay.kv.items()
        },
        perms=perms,
    )


def event(record: Record, words: Words) -> EventSeen:
    """A journal record as a poll, with a description in words."""
    names = [str(record.fields[name]) for name in _NAMED if record.fields.get(name)]
    for change in record.fields.get("changes") or ():
        if isinstance(change, dict):
            names += [str(topic) for topic in (change.get("topics") or ())[:20]]
    said = words(record.type, record.fields) or ""
    return EventSeen(record.time, record.server, record.type, said, names)


def tail(folder: Path, words: Words) -> Iterator[list[EventSeen]]:
    """Yield the latest events, then at each step the new ones, which may be none.

    Raises BadSegment and OSError.
    """
    found = reading.last(folder, _LATEST)
    yield [event(record, words) for record in found if record.type not in _QUIET]
    for records in reading.looks(folder, found[-1].seq if found else 0):
        yield [event(record, words) for record in records if record.type not in _QUIET]
