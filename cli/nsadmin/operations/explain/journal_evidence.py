"""Evidence from a name server's journal: deletions of a topic, wiped permissions, and brokers that left."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from namesrv_core.events import TopicDeleted
from namesrv_core.history.records import JournalRecord
from namesrv_core.history.subject_filter import JournalSubject, SubjectFilter
from namesrv_core.protocol.codes import Perm
from namesrv_core.storage.journal import reader
from namesrv_core.storage.journal.reader import RecordFilter
from nsadmin.operations.explain.facts import JournaledChange, JournalEvidence


def read_journal_evidence(journal_folder: Path, namesrv_name: str, topic: str) -> JournalEvidence:
    """Read the topic's evidence from the journal in a folder: the changes that still hold at its end.

    Raises:
        BadSegment: a segment of the journal is damaged.
        OSError: the journal cannot be read.
    """
    closed_brokers: dict[str, JournaledChange] = {}
    gone_brokers: dict[str, JournaledChange] = {}
    topic_deletion: JournaledChange | None = None
    for record, fields in _read_subject(journal_folder, JournalSubject("topic", topic)):
        origin, reason = record.origin, record.event_fields.get("reason")
        change = JournaledChange(record.server_name, record.time_ms, origin.cause, origin.client_addr, reason)
        for queue_change in fields.get("changes", ()):
            queues_before, queues_after = queue_change.get("before"), queue_change.get("after")
            broker_name = (queues_after or queues_before)["brokerName"]
            if queues_after is None:
                closed_brokers.pop(broker_name, None)
                if record.event_type != TopicDeleted.__name__:
                    gone_brokers[broker_name] = change
                continue
            gone_brokers.pop(broker_name, None)
            topic_deletion = None
            if queues_after["perm"] & Perm.WRITE:
                closed_brokers.pop(broker_name, None)
            elif queues_before is not None and queues_before["perm"] & Perm.WRITE:
                closed_brokers[broker_name] = change
        if record.event_type == TopicDeleted.__name__:
            topic_deletion, gone_brokers = change, {}
    last_addrs = {name: _read_last_addrs(journal_folder, name) for name in gone_brokers}
    return JournalEvidence(namesrv_name, closed_brokers, gone_brokers, topic_deletion, last_addrs)


def _read_subject(
    journal_folder: Path, subject: JournalSubject
) -> Iterator[tuple[JournalRecord, Mapping[str, Any]]]:
    """The records about a subject, with their fields about it."""
    subject_filter = SubjectFilter(subject)
    record_filter = RecordFilter(subject_filter.can_match_line, subject_filter.search_terms)
    for record in reader.read_records(journal_folder, 0, record_filter):
        if (fields := subject_filter.matching_fields(record)) is not None:
            yield record, fields


def _read_last_addrs(journal_folder: Path, broker_name: str) -> tuple[str, ...]:
    """The last known addresses of a broker's processes, masters first."""
    addrs_by_id: dict[int, str] = {}
    for _, fields in _read_subject(journal_folder, JournalSubject("broker", broker_name)):
        if "brokerAddr" in fields and "brokerId" in fields and fields.get("brokerName") == broker_name:
            addrs_by_id[fields["brokerId"]] = fields["brokerAddr"]
    return tuple(addrs_by_id[broker_id] for broker_id in sorted(addrs_by_id))
