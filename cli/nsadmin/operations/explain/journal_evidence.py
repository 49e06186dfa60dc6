"""Evidence from a name server's journal: deletions of a topic, wiped permissions, and brokers that left."""

from collections.abc import Iterable, Mapping
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
    """Read the topic's evidence from the journal in a folder.

    Raises:
        BadSegment: a segment of the journal is damaged.
        OSError: the journal cannot be read.
    """
    subject_filter = SubjectFilter(JournalSubject("topic", topic))
    journal_records = reader.read_records(
        journal_folder, 0, RecordFilter(subject_filter.can_match_line, subject_filter.search_terms)
    )
    evidence = evidence_of_records(namesrv_name, topic, journal_records)
    return evidence._replace(
        last_addrs={name: _read_last_addrs(journal_folder, name) for name in evidence.gone_brokers}
    )


def evidence_of_records(
    namesrv_name: str, topic: str, journal_records: Iterable[JournalRecord]
) -> JournalEvidence:
    """The changes that still hold after all records; the records must be in order."""
    subject_filter = SubjectFilter(JournalSubject("topic", topic))
    closed_brokers: dict[str, JournaledChange] = {}
    gone_brokers: dict[str, JournaledChange] = {}
    topic_deletion: JournaledChange | None = None
    for record in journal_records:
        fields = subject_filter.matching_fields(record)
        queue_changes = fields.get("changes", ()) if fields is not None else ()
        for queue_change in queue_changes:
            queues_before, queues_after = queue_change.get("before"), queue_change.get("after")
            broker_name = (queues_after or queues_before)["brokerName"]
            journaled_change = _journaled_change(record)
            if queues_after is None:
                closed_brokers.pop(broker_name, None)
                if record.event_type != TopicDeleted.__name__:
                    gone_brokers[broker_name] = journaled_change
                continue
            gone_brokers.pop(broker_name, None)
            topic_deletion = None
            if queues_after["perm"] & Perm.WRITE:
                closed_brokers.pop(broker_name, None)
            elif queues_before is not None and queues_before["perm"] & Perm.WRITE:
                closed_brokers[broker_name] = journaled_change
        if record.event_type == TopicDeleted.__name__ and fields is not None:
            topic_deletion, gone_brokers = _journaled_change(record), {}
    return JournalEvidence(namesrv_name, closed_brokers, gone_brokers, topic_deletion)


def _journaled_change(record: JournalRecord) -> JournaledChange:
    record_origin = record.origin
    return JournaledChange(
        record.server_name,
        record.time_ms,
        record_origin.cause,
        record_origin.client_addr,
        record.event_fields.get("reason"),
    )


def _read_last_addrs(journal_folder: Path, broker_name: str) -> tuple[str, ...]:
    """The last known addresses of a broker's processes, masters first."""
    subject_filter = SubjectFilter(JournalSubject("broker", broker_name))
    addrs_by_id: dict[int, str] = {}
    for record in reader.read_records(
        journal_folder, 0, RecordFilter(subject_filter.can_match_line, subject_filter.search_terms)
    ):
        fields: Mapping[str, Any] = subject_filter.matching_fields(record) or {}
        if "brokerAddr" in fields and "brokerId" in fields and fields.get("brokerName") == broker_name:
            addrs_by_id[fields["brokerId"]] = fields["brokerAddr"]
    return tuple(addrs_by_id[broker_id] for broker_id in sorted(addrs_by_id))
