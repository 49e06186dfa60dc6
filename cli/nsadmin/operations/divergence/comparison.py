"""Compares snapshots of name servers, and computes a hash of each section of a snapshot. Pure."""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nsadmin.client.snapshots import ClusterSnapshot

STATE_SECTIONS = ("broker", "topic", "kv", "setting")
"""The sections of a name server's state, named after the kind of their items."""

OWN_SETTINGS = frozenset(
    {
        "bindAddress",
        "configStorePath",
        "journal",
        "journalDir",
        "journalServerId",
        "kvConfigPath",
        "listenPort",
        "rocketmqHome",
    }
)
"""Settings with a path, an address or an id, which differ between name servers on purpose."""

ComparedValue = Mapping[str, Any] | str


class ComparedItem(NamedTuple):
    """An item that should be equal on all name servers.

    `parent_name` qualifies `name`: the id of a broker, the broker name of a topic's queues ("" for a topic
    without queues), or the namespace of a KV key.
    """

    section_name: str
    name: str
    parent_name: str = ""


class ItemDifference(NamedTuple):
    """An item that differs, with its value on each name server in their order; None if it is missing."""

    item: ComparedItem
    server_values: tuple[ComparedValue | None, ...]

    @property
    def missing_servers(self) -> tuple[int, ...]:
        """The indexes of the name servers that do not have the item."""
        return tuple(index for index, value in enumerate(self.server_values) if value is None)

    @property
    def differing_fields(self) -> tuple[tuple[str, tuple[Any, ...]], ...]:
        """The fields that differ, each with its value on every name server. A text has one field, ""."""
        known_values = [
            {"": value} if isinstance(value, str) else value
            for value in self.server_values
            if value is not None
        ]
        field_names = dict.fromkeys(name for value in known_values for name in value)
        values_by_field = {name: [value.get(name) for value in known_values] for name in field_names}
        return tuple(
            (name, tuple(v.get(name) if isinstance(v, Mapping) else v for v in self.server_values))
            for name, values in values_by_field.items()
            if any(value != values[0] for value in values)
        )


class SnapshotComparison(NamedTuple):
    """The differences between the name servers `server_addrs`.

    `implied_by_broker` has, by broker name, the topics that differ only because a name server does not have
    the broker.
    """

    server_addrs: tuple[str, ...]
    differences: tuple[ItemDifference, ...]
    implied_by_broker: Mapping[str, tuple[ItemDifference, ...]]


def compare_snapshots(
    snapshots: Sequence[ClusterSnapshot], sections: Collection[str] = STATE_SECTIONS
) -> SnapshotComparison:
    """Return the differences in these sections, sorted by section and name.

    Only settings that all name servers have are compared, because the set depends on the release, and none of
    OWN_SETTINGS. A missing KV value and a missing namespace are equal.
    """
    diff_by_section = {
        "broker": _diff_brokers,
        "topic": _diff_topics,
        "kv": _diff_kv,
        "setting": _diff_settings,
    }
    all_differences = [
        difference
        for name in STATE_SECTIONS
        if name in sections
        for difference in diff_by_section[name](snapshots)
    ]
    kept_differences: list[ItemDifference] = []
    implied_by_broker: dict[str, list[ItemDifference]] = {}
    for difference in all_differences:
        broker_name = difference.item.parent_name
        if "broker" in sections and _is_implied(difference, snapshots):
            implied_by_broker.setdefault(broker_name, []).append(difference)
        else:
            kept_differences.append(difference)
    server_addrs = tuple(snapshot.source for snapshot in snapshots)
    implied_topics = {name: tuple(topics) for name, topics in implied_by_broker.items()}
    return SnapshotComparison(server_addrs, tuple(kept_differences), implied_topics)


def _is_implied(difference: ItemDifference, snapshots: Sequence[ClusterSnapshot]) -> bool:
    """Whether a topic's queues are missing exactly where their broker is."""
    item, missing_servers = difference.item, difference.missing_servers
    if item.section_name != "topic" or not missing_servers or difference.differing_fields:
        return False
    absent = tuple(i for i, snapshot in enumerate(snapshots) if item.parent_name not in snapshot.brokers)
    return absent == missing_servers


def _diff_item(item: ComparedItem, server_values: list[ComparedValue | None]) -> Iterator[ItemDifference]:
    if any(value != server_values[0] for value in server_values):
        yield ItemDifference(item, tuple(server_values))


def _diff_brokers(snapshots: Sequence[ClusterSnapshot]) -> Iterator[ItemDifference]:
    """Compare each member of a broker group, because a slave may be missing on some name servers only."""
    for broker_name in sorted({name for snapshot in snapshots for name in snapshot.brokers}):
        broker_groups = [snapshot.brokers.get(broker_name, {}) for snapshot in snapshots]
        broker_ids = {broker_id for group in broker_groups for broker_id in group.get("brokerAddrs", {})}
        for broker_id in sorted(broker_ids, key=int):
            yield from _diff_item(
                ComparedItem("broker", broker_name, broker_id),
                [_member_value(group, broker_id) for group in broker_groups],
            )


def _member_value(broker_group: Mapping[str, Any], broker_id: str) -> ComparedValue | None:
    addr = broker_group.get("brokerAddrs", {}).get(broker_id)
    return None if addr is None else {"clusterName": broker_group["clusterName"], "brokerAddr": addr}


def _diff_topics(snapshots: Sequence[ClusterSnapshot]) -> Iterator[ItemDifference]:
    topic_tables = [snapshot.topics for snapshot in snapshots]
    for topic in sorted({name for table in topic_tables for name in table}):
        queues_by_server = [table.get(topic) for table in topic_tables]
        if all(queues == queues_by_server[0] for queues in queues_by_server):
            continue
        broker_names = sorted({name for queues in queues_by_server for name in queues or ()})
        for entry_name in broker_names:
            yield from _diff_item(
                ComparedItem("topic", topic, entry_name),
                [(queues or {}).get(entry_name) for queues in queues_by_server],
            )
        if not broker_names:
            yield from _diff_item(ComparedItem("topic", topic), list(queues_by_server))


def _diff_kv(snapshots: Sequence[ClusterSnapshot]) -> Iterator[ItemDifference]:
    for namespace in sorted({name for snapshot in snapshots for name in snapshot.kv}):
        namespace_tables = [snapshot.kv.get(namespace, {}) for snapshot in snapshots]
        for kv_key in sorted({kv_key for table in namespace_tables for kv_key in table}):
            yield from _diff_item(
                ComparedItem("kv", kv_key, namespace), [table.get(kv_key) for table in namespace_tables]
            )


def _diff_settings(snapshots: Sequence[ClusterSnapshot]) -> Iterator[ItemDifference]:
    shared_keys = (
        set.intersection(*(set(snapshot.settings) for snapshot in snapshots)) if snapshots else set()
    )
    for setting_key in sorted(shared_keys - OWN_SETTINGS):
        yield from _diff_item(
            ComparedItem("setting", setting_key), [snapshot.settings[setting_key] for snapshot in snapshots]
        )


def hash_sections(snapshot: ClusterSnapshot) -> dict[str, str]:
    """Return a hash of each section: 16 hexadecimal digits, equal on all machines for equal content.

    The hash of settings excludes OWN_SETTINGS. The set of the other settings depends on the release.
    """
    compared_settings = {key: value for key, value in snapshot.settings.items() if key not in OWN_SETTINGS}
    kv_tables = {name: table for name, table in snapshot.kv.items() if table}
    section_texts = (
        _canonical_json(snapshot.brokers),
        _topics_json(snapshot),
        _canonical_json(kv_tables),
        _canonical_json(compared_settings),
    )
    return {
        section_name: hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        for section_name, text in zip(STATE_SECTIONS, section_texts, strict=True)
    }


def _canonical_json(json_value: object) -> str:
    return json.dumps(json_value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _topics_json(snapshot: ClusterSnapshot) -> str:
    # Topics with equal queues share one table (`nsadmin.client.snapshots`), so each is encoded once.
    texts_by_id: dict[int, str] = {}
    topic_lines = []
    for topic, queues_by_broker in sorted(snapshot.topics.items()):
        if id(queues_by_broker) not in texts_by_id:
            texts_by_id[id(queues_by_broker)] = _canonical_json(queues_by_broker)
        topic_lines.append(f"{_canonical_json(topic)}:{texts_by_id[id(queues_by_broker)]}")
    return "\n".join(topic_lines)
