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
from namesrv_core.history.records import Json, Record

Kind = Literal["topic", "broker", "cluster", "kv"]

ORDER_TOPIC_CONFIG = "ORDER_TOPIC_CONFIG"
OF_ALL = frozenset(
    kind.__name__
    for kind in (
        CollectorStarted, CollectorStopping, EventsLost, PollFailed, PollRecovered,
        ServerPaused, ServerReady, ServerStarted, ServerStopping,
    )
)  # fmt: skip
"""Events that concern every subject, because the whole record begins, ends or has a gap with them."""
ROUTINE = frozenset(
    kind.__name__
    for kind in (
        BrokerPollFailed, BrokerRuntime, BrokersPolled, ConsumerLag,
        Heartbeats, Polled, Snapshot, SnapshotMark,
    )
)  # fmt: skip
"""Periodic events, which change no table."""


class Subject(NamedTuple):
    """The subject to follow. A KV namespace without a `key` means all its keys."""

    kind: Kind
    name: str
    key: str | None = None


class Terms:
    """The index terms of records: the subjects that each one concerns. Pass records in their order."""

    def __init__(self) -> None:
        self._cluster_of = _ClusterOf()

    def of(self, record: Record) -> set[str]:
        cluster = self._cluster_of.learn(record)
        if record.type == Snapshot.__name__:
            # A filter for a cluster learns the cluster's brokers from snapshots.
            return {_term("cluster", group["clusterName"]) for group in record.fields.get("groups", ())}
        if record.type in ROUTINE:
            return set()
        if record.type in OF_ALL:
            return {ANY}
        fields = record.fields
        names = (("cluster", fields.get("clusterName")), ("cluster", cluster), ("topic", fields.get("topic")))
        named = (*names, ("broker", fields.get("brokerName")))
        found = {_term(kind, name) for kind, name in named if name is not None}
        for group in fields.get("changes", ()):
            found.update(_term("topic", topic) for topic in group["topics"])
            found.update(_term("broker", name) for name in _brokers(group))
        found.update(_term("topic", change["topic"]) for change in fields.get("mappingChanges", ()))
        if "namespace" in fields:
            found.add(_term("kv", fields["namespace"]))
            if fields["namespace"] == ORDER_TOPIC_CONFIG:
                found.add(_term("topic", fields["key"]))
        return found


ANY = "any"
"""The index term of events that concern every subject."""


def _term(kind: str, name: str) -> str:
    return f"{kind} {name}"


class _ClusterOf:
    """The cluster of each broker, as far as the records show it."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def learn(self, record: Record) -> str | None:
        """Learn from a record. Return the cluster of the broker that it is about, or None if unknown."""
        fields = record.fields
        if record.type == Snapshot.__name__:
            self._known = {group["brokerName"]: group["clusterName"] for group in fields.get("groups", ())}
            return None
        broker, cluster = fields.get("brokerName"), fields.get("clusterName")
        if broker is not None and cluster is not None:
            self._known[broker] = cluster
        return self._known.get(broker) if broker is not None else None


class Concerning:
    """Selects the records about a subject.

    Pass records in their order: the filter learns a cluster's brokers from them.
    """

    def __init__(self, subject: Subject | None) -> None:
        self._subject = subject
        self._cluster_of = _ClusterOf()
        self._marks = _marks(subject)

    @property
    def terms(self) -> tuple[str, ...] | None:
        """The terms to search in an index, or None to read all lines."""
        subject = self._subject
        return None if subject is None else (ANY, _term(subject.kind, subject.name))

    def may_be(self, text: bytes) -> bool:
        """Whether a line can be about the subject. This is a cheap check, and only False is certain."""
        if self._marks is None:
            return True
        head = text[:512]
        if b'"type":"Snapshot"' in head:
            return False
        return any(mark in text for mark in self._marks) or any(name in head for name in _ANYWAY)

    def part(self, record: Record) -> Mapping[str, Json] | None:
        """The event's fields, with lists cut to the subject. None if the record is not about the subject."""
        subject = self._subject
        if subject is None or record.type in OF_ALL:
            return record.fields
        if subject.kind == "topic":
            return _of_topic(record, subject.name)
        if subject.kind == "kv":
            own = record.fields.get("namespace") == subject.name
            return record.fields if own and subject.key in (None, record.fields.get("key")) else None
        if subject.kind == "broker":
            return _of_broker(record, subject.name)
        return self._of_cluster(record, subject.name)

    def _of_cluster(self, record: Record, name: str) -> Mapping[str, Json] | None:
        known = self._cluster_of.learn(record)
        if record.type in ROUTINE:
            return None
        return record.fields if name in (record.fields.get("clusterName"), known) else None


_ANYWAY = tuple(f'"type":"{name}"'.encode() for name in OF_ALL)


def _marks(subject: Subject | None) -> tuple[bytes, ...] | None:
    """The texts of which every line about the subject contains one, or None if there are no such texts."""
    if subject is None or subject.kind == "cluster":
        return None
    texts = (json.dumps(subject.name, ensure_ascii=each) for each in (False, True))
    return tuple({text.encode("utf-8", "surrogatepass") for text in texts})


def _of_topic(record: Record, topic: str) -> Mapping[str, Json] | None:
    fields = record.fields
    if fields.get("namespace") == ORDER_TOPIC_CONFIG and fields.get("key") == topic:
        return fields
    changes = [
        {**group, "topics": [topic]} for group in fields.get("changes", ()) if topic in group["topics"]
    ]
    mappings = [change for change in fields.get("mappingChanges", ()) if change.get("topic") == topic]
    if not changes and not mappings and fields.get("topic") != topic:
        return None
    own = {"changes": changes, "mappingChanges": mappings}
    return {name: own.get(name, value) for name, value in fields.items()}


def _of_broker(record: Record, name: str) -> Mapping[str, Json] | None:
    fields = record.fields
    if fields.get("brokerName") == name:
        return fields
    changes = [group for group in fields.get("changes", ()) if name in _brokers(group)]
    return {**fields, "changes": changes} if changes else None


def _brokers(group: Mapping[str, Any]) -> Iterator[str]:
    return (group[side]["brokerName"] for side in ("before", "after") if group.get(side))
