"""The filter for records about one subject: a topic, a broker, a cluster or a KV key. Pure."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from namesrv_core.events import (
    BrokerPollFailed,
    BrokerRuntime,
    BrokersPolled,
    CollectorStarted,
    CollectorStopping,
    ConsumerLag,
    EventsLost,
    Heartbeats,
    Polled,
    PollFailed,
    PollRecovered,
    ServerPaused,
    ServerReady,
    ServerStarted,
    ServerStopping,
    Snapshot,
    SnapshotMark,
)
from namesrv_core.history.records import JournalRecord, Json

SubjectKind = Literal["topic", "broker", "cluster", "kv"]

ORDER_TOPIC_CONFIG = "ORDER_TOPIC_CONFIG"
GLOBAL_EVENT_TYPES = frozenset(
    event_type.__name__
    for event_type in (
        CollectorStarted, CollectorStopping, EventsLost, PollFailed, PollRecovered,
        ServerPaused, ServerReady, ServerStarted, ServerStopping,
    )
)  # fmt: skip
"""Events that concern every subject, because the whole record begins, ends or has a gap with them."""
ROUTINE_EVENT_TYPES = frozenset(
    event_type.__name__
    for event_type in (
        BrokerPollFailed, BrokerRuntime, BrokersPolled, ConsumerLag,
        Heartbeats, Polled, Snapshot, SnapshotMark,
    )
)  # fmt: skip
"""Periodic events, which change no table."""


class JournalSubject(NamedTuple):
    """The subject to follow. A KV namespace without a `key` means all its keys."""

    kind: SubjectKind
    name: str
    key: str | None = None


class IndexTerms:
    """The index terms of records: the subjects that each one concerns. Pass records in their order."""

    def __init__(self) -> None:
        self._broker_clusters = _BrokerClusters()

    def terms_of_record(self, record: JournalRecord) -> set[str]:
        cluster_name = self._broker_clusters.learn_record(record)
        if record.event_type == Snapshot.__name__:
            # A filter for a cluster learns the cluster's brokers from snapshots.
            return {
                _format_term("cluster", json_group["clusterName"])
                for json_group in record.event_fields.get("groups", ())
            }
        if record.event_type in ROUTINE_EVENT_TYPES:
            return set()
        if record.event_type in GLOBAL_EVENT_TYPES:
            return {ANY_TERM}
        event_fields = record.event_fields
        name_pairs = (
            ("cluster", event_fields.get("clusterName")),
            ("cluster", cluster_name),
            ("topic", event_fields.get("topic")),
        )
        subject_pairs = (*name_pairs, ("broker", event_fields.get("brokerName")))
        index_terms = {
            _format_term(subject_kind, subject_name)
            for subject_kind, subject_name in subject_pairs
            if subject_name is not None
        }
        for json_group in event_fields.get("changes", ()):
            index_terms.update(_format_term("topic", topic) for topic in json_group["topics"])
            index_terms.update(
                _format_term("broker", subject_name) for subject_name in _brokers_of_change(json_group)
            )
        index_terms.update(
            _format_term("topic", mapping_change["topic"])
            for mapping_change in event_fields.get("mappingChanges", ())
        )
        if "namespace" in event_fields:
            index_terms.add(_format_term("kv", event_fields["namespace"]))
            if event_fields["namespace"] == ORDER_TOPIC_CONFIG:
                index_terms.add(_format_term("topic", event_fields["key"]))
        return index_terms


ANY_TERM = "any"
"""The index term of events that concern every subject."""


def _format_term(subject_kind: str, subject_name: str) -> str:
    return f"{subject_kind} {subject_name}"


class _BrokerClusters:
    """The cluster of each broker, as far as the records show it."""

    def __init__(self) -> None:
        self._clusters_by_broker: dict[str, str] = {}

    def learn_record(self, record: JournalRecord) -> str | None:
        """Learn from a record. Return the cluster of the broker that it is about, or None if unknown."""
        event_fields = record.event_fields
        if record.event_type == Snapshot.__name__:
            self._clusters_by_broker = {
                broker_group["brokerName"]: broker_group["clusterName"]
                for broker_group in event_fields.get("groups", ())
            }
            return None
        broker_name, cluster_name = event_fields.get("brokerName"), event_fields.get("clusterName")
        if broker_name is not None and cluster_name is not None:
            self._clusters_by_broker[broker_name] = cluster_name
        return self._clusters_by_broker.get(broker_name) if broker_name is not None else None


class SubjectFilter:
    """Selects the records about a subject.

    Pass records in their order: the filter learns a cluster's brokers from them.
    """

    def __init__(self, subject: JournalSubject | None) -> None:
        self._subject = subject
        self._broker_clusters = _BrokerClusters()
        self._line_marks = _build_line_marks(subject)

    @property
    def search_terms(self) -> tuple[str, ...] | None:
        """The terms to search in an index, or None to read all lines."""
        subject = self._subject
        return None if subject is None else (ANY_TERM, _format_term(subject.kind, subject.name))

    def can_match_line(self, line_bytes: bytes) -> bool:
        """Whether a line can be about the subject. This is a cheap check, and only False is certain."""
        if self._line_marks is None:
            return True
        line_head = line_bytes[:512]
        if b'"type":"Snapshot"' in line_head:
            return False
        return any(line_mark in line_bytes for line_mark in self._line_marks) or any(
            type_mark in line_head for type_mark in _GLOBAL_TYPE_MARKS
        )

    def matching_fields(self, record: JournalRecord) -> Mapping[str, Json] | None:
        """The event's fields, with lists cut to the subject. None if the record is not about the subject."""
        subject = self._subject
        if subject is None or record.event_type in GLOBAL_EVENT_TYPES:
            return record.event_fields
        if subject.kind == "topic":
            return _topic_fields(record, subject.name)
        if subject.kind == "kv":
            is_own = record.event_fields.get("namespace") == subject.name
            return (
                record.event_fields
                if is_own and subject.key in (None, record.event_fields.get("key"))
                else None
            )
        if subject.kind == "broker":
            return _broker_fields(record, subject.name)
        return self._cluster_fields(record, subject.name)

    def _cluster_fields(self, record: JournalRecord, cluster_name: str) -> Mapping[str, Json] | None:
        known_cluster = self._broker_clusters.learn_record(record)
        if record.event_type in ROUTINE_EVENT_TYPES:
            return None
        return (
            record.event_fields
            if cluster_name in (record.event_fields.get("clusterName"), known_cluster)
            else None
        )


_GLOBAL_TYPE_MARKS = tuple(f'"type":"{type_name}"'.encode() for type_name in GLOBAL_EVENT_TYPES)


def _build_line_marks(subject: JournalSubject | None) -> tuple[bytes, ...] | None:
    """Every line about the subject contains at least one of these texts. None if no text is certain."""
    if subject is None or subject.kind == "cluster":
        return None
    json_texts = (json.dumps(subject.name, ensure_ascii=is_ascii) for is_ascii in (False, True))
    return tuple({json_text.encode("utf-8", "surrogatepass") for json_text in json_texts})


def _topic_fields(record: JournalRecord, topic: str) -> Mapping[str, Json] | None:
    event_fields = record.event_fields
    if event_fields.get("namespace") == ORDER_TOPIC_CONFIG and event_fields.get("key") == topic:
        return event_fields
    topic_changes = [
        {**change_group, "topics": [topic]}
        for change_group in event_fields.get("changes", ())
        if topic in change_group["topics"]
    ]
    mapping_changes = [
        mapping_change
        for mapping_change in event_fields.get("mappingChanges", ())
        if mapping_change.get("topic") == topic
    ]
    if not topic_changes and not mapping_changes and event_fields.get("topic") != topic:
        return None
    own_lists = {"changes": topic_changes, "mappingChanges": mapping_changes}
    return {
        field_name: own_lists.get(field_name, field_value) for field_name, field_value in event_fields.items()
    }


def _broker_fields(record: JournalRecord, broker_name: str) -> Mapping[str, Json] | None:
    event_fields = record.event_fields
    if event_fields.get("brokerName") == broker_name:
        return event_fields
    broker_changes = [
        change_group
        for change_group in event_fields.get("changes", ())
        if broker_name in _brokers_of_change(change_group)
    ]
    return {**event_fields, "changes": broker_changes} if broker_changes else None


def _brokers_of_change(change_group: Mapping[str, Any]) -> Iterator[str]:
    return (
        change_group[change_side]["brokerName"]
        for change_side in ("before", "after")
        if change_group.get(change_side)
    )
