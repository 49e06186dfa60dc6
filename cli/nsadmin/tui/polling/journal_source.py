"""The journals of name servers as polls: for the replay of past incidents and for live events."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from pathlib import Path
from typing import NamedTuple

from namesrv_core.history.records import InvalidRecordError, JournalRecord
from namesrv_core.history.replay import JournalReplay
from namesrv_core.storage.journal import reader, segments
from nsadmin.tui.polling.poll_records import (
    AnyPoll,
    BrokerGroupListing,
    EventDescriber,
    EventSeen,
    NameServerPolled,
)
from nsadmin.tui.polling.server_polls import PROBED_TOPIC, hide_secrets

_MAX_EARLIER_EVENTS = 300
_UNSHOWN_TYPES = ("Snapshot", "Polled", "SegmentStarted")
_TOPIC_EVENT_TYPES = ("Snapshot", "TopicsChanged", "TopicDeleted", "WritePermWiped", "WritePermAdded")
_OBJECT_FIELDS = ("brokerName", "topic", "key", "brokerAddr")


class JournalFolder(NamedTuple):
    """A journal's folder and the address of the name server that it belongs to."""

    folder: Path
    server_addr: str


def find_journals(root_folder: Path) -> list[JournalFolder]:
    """Find the journals with a record in a folder and below it."""
    folders = []
    for folder in segments.find_journals(root_folder):
        first_record = next(reader.read_records(folder), None)
        if first_record is not None:
            folders.append(JournalFolder(folder, first_record.server_name))
    return folders


class JournalTape:
    """A tape for replays that reads journals while it is played, from the segment that has the start time on.

    Raises BadSegment and OSError.
    """

    def __init__(self, journals: Sequence[JournalFolder], describe_event: EventDescriber) -> None:
        """Needs at least one journal with a record, as `find_journals` returns them."""
        self._journals = journals
        self._describe_event = describe_event
        folders = [journal.folder for journal in journals]
        self.begin = min(next(reader.read_records(folder)).time_ms for folder in folders)
        self.end = max(reader.read_last_records(folder, 1)[0].time_ms for folder in folders)

    def start(self, start_ms: int) -> Iterator[AnyPoll]:
        """Yield the last events before a time and the tables at that time, then all later polls."""
        streams = (_polls_of_journal(journal, self._describe_event, start_ms) for journal in self._journals)
        return merge(*streams, key=lambda poll: poll.at)


def _polls_of_journal(
    journal: JournalFolder, describe_event: EventDescriber, start_ms: int
) -> Iterator[AnyPoll]:
    """Yield each event, and the tables at the end of each second in which a record was written."""
    pending_events = deque[EventSeen](maxlen=_MAX_EARLIER_EVENTS)
    replay, last_record, has_topics = JournalReplay(), None, False
    for record in reader.read_records(journal.folder, start_ms):
        is_next_second = last_record is not None and record.time_ms // 1000 > last_record.time_ms // 1000
        if last_record is not None and is_next_second and record.time_ms > start_ms:
            yield from pending_events
            pending_events.clear()
            yield _poll_of_tables(last_record, replay, has_topics)
            has_topics = False
        try:
            replay.feed_record(record)
        except InvalidRecordError:
            continue
        last_record, has_topics = record, has_topics or record.event_type in _TOPIC_EVENT_TYPES
        if record.event_type not in _UNSHOWN_TYPES:
            pending_events.append(event_of_record(record, describe_event))
            if record.time_ms > start_ms:
                yield from pending_events
                pending_events.clear()
    if last_record is not None:
        yield from pending_events
        yield _poll_of_tables(last_record, replay, has_topics)


def _poll_of_tables(record: JournalRecord, replay: JournalReplay, has_topics: bool) -> NameServerPolled:
    """The tables of the name server at a record, or an error if the journal has a gap there."""
    if not replay.is_certain:
        error = "the journal does not cover this moment"
        return NameServerPolled(record.time_ms, record.server_name, error=error)
    listed = {name: group for name, group in replay.broker_groups.items() if group.broker_addrs}
    groups = {name: BrokerGroupListing(g.cluster_name, dict(g.broker_addrs)) for name, g in listed.items()}
    probed_queues = replay.queues_by_topic.get(PROBED_TOPIC, {})
    return NameServerPolled(
        record.time_ms,
        record.server_name,
        groups=groups,
        topics=tuple(replay.queues_by_topic) if has_topics else None,
        settings=hide_secrets(replay.settings),
        kv={
            name: hide_secrets({key: value or "" for key, value in kv_table.items()})
            for name, kv_table in replay.kv_tables.items()
        },
        perms={name: queues.perm for name, queues in probed_queues.items()},
    )


def event_of_record(record: JournalRecord, describe_event: EventDescriber) -> EventSeen:
    """A journal record as a poll, with a description in words."""
    names = [str(record.event_fields[name]) for name in _OBJECT_FIELDS if record.event_fields.get(name)]
    for topic_change in record.event_fields.get("changes") or ():
        if isinstance(topic_change, dict):
            names += [str(topic) for topic in (topic_change.get("topics") or ())[:20]]
    description = describe_event(record.event_type, record.event_fields) or ""
    return EventSeen(record.time_ms, record.server_name, record.event_type, description, names)


def follow_events(folder: Path, describe_event: EventDescriber) -> Iterator[list[EventSeen]]:
    """Yield the latest events, then at each step the new ones, which may be none.

    Raises BadSegment and OSError.
    """
    latest_records = reader.read_last_records(folder, _MAX_EARLIER_EVENTS)
    yield _list_events(latest_records, describe_event)
    for new_records in reader.poll_records(folder, latest_records[-1].seq if latest_records else 0):
        yield _list_events(new_records, describe_event)


def _list_events(records: Iterable[JournalRecord], describe_event: EventDescriber) -> list[EventSeen]:
    shown = (record for record in records if record.event_type not in _UNSHOWN_TYPES)
    return [event_of_record(record, describe_event) for record in shown]
