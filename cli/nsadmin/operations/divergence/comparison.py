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
        return tuple(
            server_index
            for server_index, server_value in enumerate(self.server_values)
            if server_value is None
        )

    @property
    def differing_fields(self) -> tuple[tuple[str, tuple[Any, ...]], ...]:
        """The fields that differ, each with its value on every name server. A text has one field, ""."""
        known_values = [
            {"": server_value} if isinstance(server_value, str) else server_value
            for server_value in self.server_values
            if server_value is not None
        ]
        field_names = dict.fromkeys(
            field_name for server_value in known_values for field_name in server_value
        )
        values_by_field = {
            field_name: [server_value.get(field_name) for server_value in known_values]
            for field_name in field_names
        }
        return tuple(
            (
                field_name,
                tuple(
                    None if server_value is None else _field_value(server_value, field_name)
                    for server_value in self.server_values
                ),
            )
            for field_name, known_field_values in values_by_field.items()
            if any(server_value != known_field_values[0] for server_value in known_field_values)
        )


def _field_value(server_value: ComparedValue, field_name: str) -> Any:
    return server_value if isinstance(server_value, str) else server_value.get(field_name)


class SnapshotComparison(NamedTuple):
    """The differences between the name servers `server_addrs`.

    `implied_by_broker` has, by broker name, the topics that differ only because a name server does not have
    the broker.
    """

    server_addrs: tuple[str, ...]
    differences: tuple[ItemDifference, ...]
    implied_by_broker: Mapping[str, tuple[ItemDifference, ...]]


def compare_snapshots(
    server_snapshots: Sequence[ClusterSnapshot], sections: Collection[str] = STATE_SECTIONS
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
        for section_name in STATE_SECTIONS
        if section_name in sections
        for difference in diff_by_section[section_name](server_snapshots)
    ]
    absent_brokers = _find_absent_brokers(server_snapshots)
    kept_differences: list[ItemDifference] = []
    implied_by_broker: dict[str, list[ItemDifference]] = {}
    for difference in all_differences:
        broker_name = difference.item.parent_name
        if _is_implied(difference, absent_brokers) and "broker" in sections:
            implied_by_broker.setdefault(broker_name, []).append(difference)
        else:
            kept_differences.append(difference)
    server_addrs = tuple(server_snapshot.source for server_snapshot in server_snapshots)
    return SnapshotComparison(
        server_addrs,
        tuple(kept_differences),
        {broker_name: tuple(implied_topics) for broker_name, implied_topics in implied_by_broker.items()},
    )


def _find_absent_brokers(server_snapshots: Sequence[ClusterSnapshot]) -> dict[str, tuple[int, ...]]:
    """Return the indexes of the name servers that do not have a broker, by broker name."""
    broker_names = dict.fromkeys(
        broker_name for server_snapshot in server_snapshots for broker_name in server_snapshot.brokers
    )
    return {
        broker_name: tuple(
            server_index
            for server_index, server_snapshot in enumerate(server_snapshots)
            if broker_name not in server_snapshot.brokers
        )
        for broker_name in broker_names
    }


def _is_implied(difference: ItemDifference, absent_brokers: Mapping[str, tuple[int, ...]]) -> bool:
    compared_item = difference.item
    return (
        compared_item.section_name == "topic"
        and bool(difference.missing_servers)
        and absent_brokers.get(compared_item.parent_name) == difference.missing_servers
        and not difference.differing_fields
    )


def _diff_item(
    compared_item: ComparedItem, server_values: list[ComparedValue | None]
) -> Iterator[ItemDifference]:
    if any(server_value != server_values[0] for server_value in server_values):
        yield ItemDifference(compared_item, tuple(server_values))


def _diff_brokers(server_snapshots: Sequence[ClusterSnapshot]) -> Iterator[ItemDifference]:
    """Compare each member of a broker group, because a slave may be missing on some name servers only."""
    for broker_name in sorted(
        {broker_name for server_snapshot in server_snapshots for broker_name in server_snapshot.brokers}
    ):
        broker_groups = [server_snapshot.brokers.get(broker_name, {}) for server_snapshot in server_snapshots]
        broker_ids = {
            broker_id for broker_group in broker_groups for broker_id in broker_group.get("brokerAddrs", {})
        }
        for broker_id in sorted(broker_ids, key=int):
            yield from _diff_item(
                ComparedItem("broker", broker_name, broker_id),
                [_member_value(broker_group, broker_id) for broker_group in broker_groups],
            )


def _member_value(broker_group: Mapping[str, Any], broker_id: str) -> ComparedValue | None:
    broker_addr = broker_group.get("brokerAddrs", {}).get(broker_id)
    return (
        None
        if broker_addr is None
        else {"clusterName": broker_group["clusterName"], "brokerAddr": broker_addr}
    )


def _diff_topics(server_snapshots: Sequence[ClusterSnapshot]) -> Iterator[ItemDifference]:
    topic_tables = [server_snapshot.topics for server_snapshot in server_snapshots]
    for topic in sorted({entry_name for topic_table in topic_tables for entry_name in topic_table}):
        queues_by_server = [topic_table.get(topic) for topic_table in topic_tables]
        if all(queues_by_broker == queues_by_server[0] for queues_by_broker in queues_by_server):
            continue
        broker_names = sorted(
            {entry_name for queues_by_broker in queues_by_server for entry_name in queues_by_broker or ()}
        )
        for entry_name in broker_names:
            yield from _diff_item(
                ComparedItem("topic", topic, entry_name),
                [(queues_by_broker or {}).get(entry_name) for queues_by_broker in queues_by_server],
            )
        if not broker_names:
            yield from _diff_item(ComparedItem("topic", topic), list(queues_by_server))


def _diff_kv(server_snapshots: Sequence[ClusterSnapshot]) -> Iterator[ItemDifference]:
    for namespace in sorted(
        {namespace_name for server_snapshot in server_snapshots for namespace_name in server_snapshot.kv}
    ):
        namespace_tables = [server_snapshot.kv.get(namespace, {}) for server_snapshot in server_snapshots]
        for kv_key in sorted({kv_key for namespace_table in namespace_tables for kv_key in namespace_table}):
            yield from _diff_item(
                ComparedItem("kv", kv_key, namespace),
                [namespace_table.get(kv_key) for namespace_table in namespace_tables],
            )


def _diff_settings(server_snapshots: Sequence[ClusterSnapshot]) -> Iterator[ItemDifference]:
    shared_keys = (
        set.intersection(*(set(server_snapshot.settings) for server_snapshot in server_snapshots))
        if server_snapshots
        else set()
    )
    for setting_key in sorted(shared_keys - OWN_SETTINGS):
        yield from _diff_item(
            ComparedItem("setting", setting_key),
            [server_snapshot.settings[setting_key] for server_snapshot in server_snapshots],
        )


def hash_sections(server_snapshot: ClusterSnapshot) -> dict[str, str]:
    """Return a hash of each section: 16 hexadecimal digits, equal on all machines for equal content.

    The hash of settings excludes OWN_SETTINGS. The set of the other settings depends on the release.
    """
    compared_settings = {
        setting_key: setting_value
        for setting_key, setting_value in server_snapshot.settings.items()
        if setting_key not in OWN_SETTINGS
    }
    kv_tables = {
        namespace_name: namespace_table
        for namespace_name, namespace_table in server_snapshot.kv.items()
        if namespace_table
    }
    section_texts = (
        _canonical_json(server_snapshot.brokers),
        _topics_json(server_snapshot),
        _canonical_json(kv_tables),
        _canonical_json(compared_settings),
    )
    return {
        section_name: hashlib.sha256(section_text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        for section_name, section_text in zip(STATE_SECTIONS, section_texts, strict=True)
    }


def _canonical_json(json_value: object) -> str:
    return json.dumps(json_value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _topics_json(server_snapshot: ClusterSnapshot) -> str:
    # Topics with equal queues share one table (`nsadmin.client.snapshots`), so each is encoded once.
    texts_by_id: dict[int, str] = {}
    topic_lines = []
    for topic, queues_by_broker in sorted(server_snapshot.topics.items()):
        if id(queues_by_broker) not in texts_by_id:
            texts_by_id[id(queues_by_broker)] = _canonical_json(queues_by_broker)
        topic_lines.append(f"{_canonical_json(topic)}:{texts_by_id[id(queues_by_broker)]}")
    return "\n".join(topic_lines)
