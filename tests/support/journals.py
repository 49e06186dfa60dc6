"""Journals made by hand, and those of a real name server whose answers were recorded."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from namesrv_core.events import (
    BrokerInfo,
    BrokerRegistered,
    Event,
    QueueData,
    Snapshot,
    TopicChange,
    TopicsChanged,
    group_topic_changes,
)
from namesrv_core.history.record_lines import encode_record_line
from namesrv_core.history.records import RecordOrigin
from namesrv_core.storage.journal.rolling_writer import JournalWriter

NOW = 1_763_733_780_000
"""2025-11-21T14:03:00Z"""


def make_snapshot(reason: str = "interval", **more: Any) -> Snapshot:
    """A snapshot of empty tables, but for what is named."""
    empty: dict[str, Any] = dict.fromkeys(Snapshot.__annotations__, ())
    return Snapshot(**(empty | {"reason": reason, "kv": {}, "settings": {}} | more))


def registration_events(
    name: str, *topics: str, addr: str = "10.0.0.1:10911", cluster: str = "c"
) -> list[Event]:
    """What it writes down that a master brings topics, each with 8 queues."""
    queue = QueueData(name, 8, 8, 6)
    changes = group_topic_changes(TopicChange(topic, None, queue) for topic in topics)
    return [
        BrokerRegistered(cluster, name, 0, addr, len(topics), info=BrokerInfo("ha")),
        TopicsChanged(name, "registration", changes),
    ]


class JournalPen:
    """Writes a journal; each record is a second after the one before, and the first one at NOW."""

    def __init__(self, folder: Path, server: str = "s:9876") -> None:
        self.folder = folder
        self.server = server
        self.journal = JournalWriter(folder)
        self.now = NOW

    def write_events(self, *events: Event, cause: str = "test", client: str | None = None) -> None:
        for event in events:
            origin = RecordOrigin(self.now, cause, client)
            self.journal.append_lines(
                encode_record_line(self.journal.next_seq, self.server, origin, event), 1, self.now
            )
            self.now += 1000

    def close_segment(self) -> None:
        self.journal.roll_segment()
        self.journal.tidy_segments(self.now)


def write_journal(folder: Path, events: Iterable[Event], server: str = "s:9876") -> str:
    """A journal with these events in an open segment."""
    pen = JournalPen(folder, server)
    pen.write_events(*events)
    pen.journal.close()
    return str(folder)
