"""ClusterSnapshot, the complete state of a name server at one moment, for files and comparisons.

A snapshot for a file leaves out settings and KV values whose names look like secrets.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from namesrv_core import bounded_inflation, operator_files
from namesrv_core.errors import RocketMQError
from namesrv_core.history.replay import JournalReplay
from nsadmin.client.admin import AdminClient
from nsadmin.client.name_servers.name_server_tables import NameServerListing, TopicQueues
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE
from nsadmin.client.redaction import is_secret_name
from nsadmin.client.results import ServerResult, is_not_found

SNAPSHOT_FORMAT = "nsadmin-snapshot"
SNAPSHOT_VERSION = 1
_ZSTD_FRAME_HEADER = b"\x28\xb5\x2f\xfd"

TextTable = Mapping[str, str]


class InvalidSnapshotError(RocketMQError):
    """A file is not a snapshot; the text says why."""


class ClusterSnapshot(NamedTuple):
    """The state of a name server at one moment. A snapshot file has these field names.

    Attributes:
        source: The addresses of the name servers, or the name of the journal.
        time: The time in ms since 1970 (UTC).
        brokers: Broker name to "clusterName" and "brokerAddrs" (id as text to address).
        topics: Topic to broker name to queue counts and permission, by wire name.
        kv: Namespace to key to value, for the requested namespaces.
        settings: Key to value of the name server's settings.
    """

    source: str
    time: int
    brokers: Mapping[str, Mapping[str, Any]]
    topics: Mapping[str, Mapping[str, Mapping[str, int]]]
    kv: Mapping[str, TextTable]
    settings: TextTable


class SnapshotItem(NamedTuple):
    """The key of one item in a snapshot.

    Attributes:
        kind: "broker", "topic" (its queues on one broker) or "order" (its order configuration).
        item_name: The name of the broker or topic.
        broker_name: The broker of a "topic"; None otherwise.
    """

    kind: str
    item_name: str
    broker_name: str | None


ItemValue = Mapping[str, Any] | str


def take_cluster_snapshot(
    admin: AdminClient, now_ms: int, namespaces: tuple[str, ...] = ()
) -> ClusterSnapshot:
    """Take a snapshot of the cluster, without secrets.

    Sends requests 106, 206, 105 (per topic), 219 and 319 to one name server; see AdminClient.
    """
    cluster_info = admin.clusters.get_info()
    queues_by_topic: dict[str, dict[str, dict[str, int]]] = {}
    for topic, route_result in admin.topics.get_routes(admin.topics.list_names()).items():
        if route_result.result is None:
            if is_not_found(route_result.error):
                continue
            raise route_result.error or RocketMQError(f"no route of {topic}")
        queues_by_topic[topic] = {
            route.broker_name: _queue_record(
                route.read_queue_nums, route.write_queue_nums, route.perm, route.topic_sys_flag
            )
            for route in route_result.result.queues
            if route.perm is not None
        }
    config_results = [r for r in admin.name_servers.get_config_each() if r.result is not None]
    return ClusterSnapshot(
        ";".join(admin.addresses.addrs),
        now_ms,
        {g.broker_name: _broker_record(g.cluster_name, g.broker_addrs) for g in cluster_info.broker_groups},
        queues_by_topic,
        {n: _read_public_entries(admin, n) for n in dict.fromkeys((ORDER_CONF_NAMESPACE, *namespaces))},
        _public_texts(config_results[0].result or {}) if config_results else {},
    )


def take_server_snapshots(
    admin: AdminClient, now_ms: int, namespaces: tuple[str, ...] = (), *, with_topics: bool = True
) -> list[ServerResult[ClusterSnapshot]]:
    """Take a snapshot of every name server at once, for comparison.

    Do not store these snapshots: they contain secrets. A topic without a route has no brokers here, a broker
    in several clusters has all their names, and a static topic has its `mappingEpoch`.
    """
    listings = admin.name_server_tables.get_listing_each(
        admin.addresses.addrs, tuple(dict.fromkeys((ORDER_CONF_NAMESPACE, *namespaces)))
    )
    topics_by_addr = {
        addr: listing.topics if with_topics else () for addr, listing, _ in listings if listing is not None
    }
    queues_by_addr = admin.name_server_tables.get_queues_each(topics_by_addr)
    return [
        ServerResult(namesrv_addr, None, error)
        if listing is None
        else queues_by_addr[namesrv_addr].then(partial(_snapshot_of_listing, namesrv_addr, now_ms, listing))
        for namesrv_addr, listing, error in listings
    ]


def _snapshot_of_listing(
    namesrv_addr: str, now_ms: int, listing: NameServerListing, queues_by_topic: Mapping[str, TopicQueues]
) -> ClusterSnapshot:
    # Most topics have equal queues, so build one table for each distinct TopicQueues object.
    tables_by_identity: dict[int, dict[str, dict[str, int]]] = {}
    tables_by_topic = {}
    for topic, topic_queues in queues_by_topic.items():
        if id(topic_queues) not in tables_by_identity:
            tables_by_identity[id(topic_queues)] = _queues_by_broker(topic_queues)
        tables_by_topic[topic] = tables_by_identity[id(topic_queues)]
    clusters_by_broker: dict[str, list[str]] = {}
    for cluster_name in sorted(listing.clusters):
        for entry_name in listing.clusters[cluster_name]:
            clusters_by_broker.setdefault(entry_name, []).append(cluster_name)
    return ClusterSnapshot(
        namesrv_addr,
        now_ms,
        {
            name: _broker_record(", ".join(clusters_by_broker.get(name, [g.cluster_name])), dict(g.members))
            for name, g in sorted(listing.groups.items())
        },
        tables_by_topic,
        {entry_name: _sorted_texts(kv_table) for entry_name, kv_table in listing.kv.items()},
        listing.settings,
    )


def _queues_by_broker(topic_queues: TopicQueues) -> dict[str, dict[str, int]]:
    records_by_broker = {name: _queue_record(*data[1:]) for name, data in topic_queues.queues.items()}
    for broker_name, queue_mapping in topic_queues.mappings.items():
        records_by_broker.setdefault(broker_name or "", {})["mappingEpoch"] = queue_mapping.epoch
    return records_by_broker


def _read_public_entries(admin: AdminClient, namespace: str) -> TextTable:
    try:
        return _public_texts(admin.kv.get_entries(namespace))
    except RocketMQError as error:
        if is_not_found(error):
            return {}
        raise


def snapshot_of_replay(source_name: str, taken_at_ms: int, replay: JournalReplay) -> ClusterSnapshot:
    """Build a snapshot from the tables that a replay of a journal gives, without secrets."""
    return ClusterSnapshot(
        source_name,
        taken_at_ms,
        {name: _broker_record(g.cluster_name, g.broker_addrs) for name, g in replay.broker_groups.items()},
        {
            topic: {name: _queue_record(*data[1:]) for name, data in queues.items()}
            for topic, queues in replay.queues_by_topic.items()
            # A topic whose brokers are all unregistered has no route.
            if any(name in replay.broker_groups for name in queues)
        },
        {entry_name: _public_texts(kv_table) for entry_name, kv_table in replay.kv_tables.items()},
        _public_texts(replay.settings),
    )


def _broker_record(cluster_name: str, addrs_by_id: Mapping[int, str]) -> dict[str, Any]:
    return {
        "clusterName": cluster_name,
        "brokerAddrs": {str(broker_id): addrs_by_id[broker_id] for broker_id in sorted(addrs_by_id)},
    }


def _queue_record(
    read_queue_nums: int | None, write_queue_nums: int | None, perm: int | None, topic_sys_flag: int | None
) -> dict[str, int]:
    record_fields = {
        "readQueueNums": read_queue_nums,
        "writeQueueNums": write_queue_nums,
        "perm": perm,
        "topicSysFlag": topic_sys_flag,
    }
    return {field_name: field_value or 0 for field_name, field_value in record_fields.items()}


def _public_texts(text_table: Mapping[str, str | None]) -> dict[str, str]:
    return {key: value for key, value in _sorted_texts(text_table).items() if not is_secret_name(key)}


def _sorted_texts(text_table: Mapping[str, str | None]) -> dict[str, str]:
    return {key: value for key, value in sorted(text_table.items()) if value is not None}


def iterate_items(
    snapshot: ClusterSnapshot, topic: str | None = None
) -> Iterator[tuple[SnapshotItem, ItemValue]]:
    """Yield the items that make up routes, in the order of names."""
    topic_brokers = snapshot.topics.get(topic, {}) if topic is not None else None
    for entry_name, broker_record in sorted(snapshot.brokers.items()):
        if topic_brokers is None or entry_name in topic_brokers:
            yield SnapshotItem("broker", entry_name, None), broker_record
    order_confs = snapshot.kv.get(ORDER_CONF_NAMESPACE, {})
    for entry_name, order_conf in sorted(order_confs.items()):
        if topic in (None, entry_name):
            yield SnapshotItem("order", entry_name, None), order_conf
    for entry_name, queues_by_broker in sorted(snapshot.topics.items()):
        if topic in (None, entry_name):
            for broker_name, queue_record in sorted(queues_by_broker.items()):
                yield SnapshotItem("topic", entry_name, broker_name), queue_record


def encode_snapshot(snapshot: ClusterSnapshot) -> bytes:
    """Encode a snapshot for a file: JSON, compressed with zstd."""
    import zstandard

    snapshot_text = json.dumps(
        {"format": SNAPSHOT_FORMAT, "version": SNAPSHOT_VERSION, **snapshot._asdict()},
        ensure_ascii=False,
        indent=1,
    )
    return zstandard.ZstdCompressor(level=9, write_checksum=True).compress(
        snapshot_text.encode("utf-8", "surrogatepass")
    )


def _inflate_snapshot(file_content: bytes) -> bytes:
    inflated_bytes = bounded_inflation.inflate_zstd_frame(
        file_content, bounded_inflation.max_inflated_bytes(len(file_content))
    )
    if inflated_bytes.problem_text is not None:
        raise ValueError(inflated_bytes.problem_text)
    return inflated_bytes.content


def decode_snapshot(file_content: bytes) -> ClusterSnapshot:
    """Decode the content of a snapshot file: zstd-compressed or plain JSON."""
    try:
        if file_content[:4] == _ZSTD_FRAME_HEADER:
            file_content = _inflate_snapshot(file_content)
        record = operator_files.parse_json(file_content.decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError:
        raise InvalidSnapshotError("neither JSON nor compressed JSON") from None
    except ValueError as error:
        raise InvalidSnapshotError(f"neither JSON nor compressed JSON: {error}") from None
    if not isinstance(record, dict) or record.get("format") != SNAPSHOT_FORMAT:
        raise InvalidSnapshotError(f"not an {SNAPSHOT_FORMAT}")
    if record.get("version") != SNAPSHOT_VERSION:
        raise InvalidSnapshotError(
            f"version {record.get('version')} is not supported: this nsadmin reads version {SNAPSHOT_VERSION}"
        )
    try:
        snapshot = ClusterSnapshot(**{name: record[name] for name in ClusterSnapshot._fields})
    except KeyError as error:
        raise InvalidSnapshotError(f"the field {error.args[0]} is missing") from None
    for field_name, is_valid in _FIELD_CHECKS.items():
        if not is_valid(getattr(snapshot, field_name)):
            raise InvalidSnapshotError(f"the field {field_name} is malformed")
    return snapshot


def _is_map_of(value: object, is_valid_member: Callable[[object], bool]) -> bool:
    return isinstance(value, dict) and all(map(is_valid_member, value.values()))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_FIELD_CHECKS: Mapping[str, Callable[[object], bool]] = {
    "source": _is_text,
    "time": _is_number,
    "brokers": lambda field_value: _is_map_of(
        field_value, lambda r: isinstance(r, dict) and _is_map_of(r.get("brokerAddrs"), _is_text)
    ),
    "topics": lambda value: _is_map_of(
        value, lambda record: _is_map_of(record, lambda queue_record: _is_map_of(queue_record, _is_number))
    ),
    "kv": lambda field_value: _is_map_of(field_value, lambda kv_table: _is_map_of(kv_table, _is_text)),
    "settings": lambda field_value: _is_map_of(field_value, _is_text),
}
