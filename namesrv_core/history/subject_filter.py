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
    kind.__name__
    for kind in (
        CollectorStarted, CollectorStopping, EventsLost, PollFailed, PollRecovered,
        ServerPaused, ServerReady, ServerStarted, ServerStopping,
    )
)  # fmt: skip
"""Events that concern every subject, because the whole record begins, ends or has a gap with them."""
ROUTINE_EVENT_TYPES = frozenset(
    kind.__name__
    for kind in (
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
            return {_format_term("cluster", g["clusterName"]) for g in record.event_fields.get("groups", ())}
        if record.event_type in ROUTINE_EVENT_TYPES:
            return set()
        if record.event_type in GLOBAL_EVENT_TYPES:
            return {ANY_TERM}
        fields = record.event_fields
        pairs = (
            ("cluster", fields.get("clusterName")),
            ("cluster", cluster_name),
            ("topic", fields.get("topic")),
        )
        subject_pairs = (*pairs, ("broker", fields.get("brokerName")))
        terms = {_format_term(kind, name) for kind, name in subject_pairs if name is not None}
        for group in fields.get("changes", ()):
            terms.update(_format_term("topic", topic) for topic in group["topics"])
            terms.update(_format_term("broker", name) for name in _brokers_of_change(group))
        terms.update(_format_term("topic", change["topic"]) for change in fields.get("mappingChanges", ()))
        if "namespace" in fields:
            terms.add(_format_term("kv", fields["namespace"]))
            if fields["namespace"] == ORDER_TOPIC_CONFIG:
                terms.add(_format_term("topic", fields["key"]))
        return terms


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
        fields = record.event_fields
        if record.event_type == Snapshot.__name__:
            self._clusters_by_broker = {g["brokerName"]: g["clusterName"] for g in fields.get("groups", ())}
            return None
        broker_name, cluster_name = fields.get("brokerName"), fields.get("clusterName")
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

    def can_match_line(self, line: bytes) -> bool:
        """Whether a line can be about the subject. This is a cheap check, and only False is certain."""
        if self._line_marks is None:
            return True
        line_head = line[:512]
        if b'"type":"Snapshot"' in line_head:
            return False
        return any(mark in line for mark in self._line_marks) or any(
            mark in line_head for mark in _GLOBAL_TYPE_MARKS
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
        known = self._broker_clusters.learn_record(record)
        if record.event_type in ROUTINE_EVENT_TYPES:
            return None
        return (
            record.event_fields if cluster_name in (record.event_fields.get("clusterName"), known) else None
        )


_GLOBAL_TYPE_MARKS = tuple(f'"type":"{name}"'.encode() for name in GLOBAL_EVENT_TYPES)


def _build_line_marks(subject: JournalSubject | None) -> tuple[bytes, ...] | None:
    """Every line about the subject contains at least one of these texts. None if no text is certain."""
    if subject is None or subject.kind == "cluster":
        return None
    texts = (json.dumps(subject.name, ensure_ascii=is_ascii) for is_ascii in (False, True))
    return tuple({text.encode("utf-8", "surrogatepass") for text in texts})


def _topic_fields(record: JournalRecord, topic: str) -> Mapping[str, Json] | None:
    fields = record.event_fields
    if fields.get("namespace") == ORDER_TOPIC_CONFIG and fields.get("key") == topic:
        return fields
    changes = [{**g, "topics": [topic]} for g in fields.get("changes", ()) if topic in g["topics"]]
    mapping_changes = [change for change in fields.get("mappingChanges", ()) if change.get("topic") == topic]
    if not changes and not mapping_changes and fields.get("topic") != topic:
        return None
    own = {"changes": changes, "mappingChanges": mapping_changes}
    return {name: own.get(name, value) for name, value in fields.items()}


def _broker_fields(record: JournalRecord, broker_name: str) -> Mapping[str, Json] | None:
    fields = record.event_fields
    if fields.get("brokerName") == broker_name:
        return fields
    changes = [group for group in fields.get("changes", ()) if broker_name in _brokers_of_change(group)]
    return {**fields, "changes": changes} if changes else None


def _brokers_of_change(group: Mapping[str, Any]) -> Iterator[str]:
    return (group[change_side]["brokerName"] for change_side in ("before", "after") if group.get(change_side))
