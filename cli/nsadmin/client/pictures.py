"""Pictures: all that a name server knows at one moment, to be kept in a file and compared.

What looks like a secret is left out of those that may be kept.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.history.replay import Replay
from nsadmin.client.admin import AdminClient
from nsadmin.client.results import ServerResult, is_not_found
from nsadmin.client.secrecy import is_secret
from nsadmin.client.tables import Listed, Queues

FORMAT = "nsadmin-snapshot"
VERSION = 1
ORDER_TOPIC_CONFIG = "ORDER_TOPIC_CONFIG"

Texts = Mapping[str, str]


class BadPicture(RocketMQError):
    """A file that is no snapshot of a cluster; the text says why."""


class Picture(NamedTuple):
    """What a name server knew at a `time` (UTC, ms); `source` names it.

    `brokers` are cluster and addresses by id, by broker name; `topics` are queues and permission by topic and
    broker name, under the wire's names. Of the KV config `kv` has the namespaces that were asked for.
    """

    source: str
    time: int
    brokers: Mapping[str, Mapping[str, Any]]
    topics: Mapping[str, Mapping[str, Mapping[str, int]]]
    kv: Mapping[str, Texts]
    settings: Texts


class Item(NamedTuple):
    """A thing in a picture: a "broker", the queues of a "topic" on a broker, or a topic's "order"."""

    what: str
    name: str
    broker_name: str | None


Value = Mapping[str, Any] | str


def of_cluster(admin: AdminClient, now: int, namespaces: tuple[str, ...] = ()) -> Picture:
    """What name servers know now; the namespace of order configurations is always among `namespaces`.

    RocketMQError where a topic could not be read: half a picture would lie.
    """
    info = admin.clusters.info()
    topics: dict[str, dict[str, dict[str, int]]] = {}
    for topic, found in admin.topics.routes(admin.topics.names()).items():
        if found.result is None:
            if is_not_found(found.error):
                continue
            raise found.error or RocketMQError(f"no route of {topic}")
        topics[topic] = {
            queue.broker_name: _queues(
                queue.read_queue_nums, queue.write_queue_nums, queue.perm, queue.topic_sys_flag
            )
            for queue in found.result.queues
            if queue.perm is not None
        }
    configs = [result for result in admin.name_servers.config_each() if result.result is not None]
    return Picture(
        ";".join(admin.addresses.addrs),
        now,
        {group.broker_name: _broker(group.cluster_name, group.broker_addrs) for group in info.groups},
        topics,
        {name: _entries(admin, name) for name in dict.fromkeys((ORDER_TOPIC_CONFIG, *namespaces))},
        _public(configs[0].result or {}) if configs else {},
    )


def of_each(admin: AdminClient, now: int, namespaces: tuple[str, ...] = ()) -> list[ServerResult[Picture]]:
    """What each name server of the list knows now, whatever the others say; all are asked at once.

    One that leaves a single answer out has an error instead. To be compared and not to be kept: no secret is
    left out. A topic that is listed without a route has no brokers here, a broker in several clusters all
    their names, and a static topic its `mappingEpoch`.
    """
    listed = admin.tables.listed_each(
        admin.addresses.addrs, tuple(dict.fromkeys((ORDER_TOPIC_CONFIG, *namespaces)))
    )
    topics = {addr: found.topics for addr, found, _ in listed if found is not None}
    queues = admin.tables.queues_each(topics)
    return [
        ServerResult(addr, None, error)
        if found is None
        else queues[addr].then(partial(_of_listed, addr, now, found))
        for addr, found, error in listed
    ]


def _of_listed(addr: str, now: int, listed: Listed, topics: Mapping[str, Queues]) -> Picture:
    # Most topics are alike: of these there is one table.
    alike: dict[int, dict[str, dict[str, int]]] = {}
    tables = {}
    for topic, queues in topics.items():
        if id(queues) not in alike:
            alike[id(queues)] = _brokers_of(queues)
        tables[topic] = alike[id(queues)]
    clusters: dict[str, list[str]] = {}
    for cluster in sorted(listed.clusters):
        for name in listed.clusters[cluster]:
            clusters.setdefault(name, []).append(cluster)
    return Picture(
        addr,
        now,
        {
            name: _broker(", ".join(clusters.get(name, [group.cluster_name])), dict(group.members))
            for name, group in sorted(listed.groups.items())
        },
        tables,
        {name: _texts(table) for name, table in listed.kv.items()},
        listed.settings,
    )


def _brokers_of(queues: Queues) -> dict[str, dict[str, int]]:
    found = {name: _queues(*queue[1:]) for name, queue in queues.queues.items()}
    for name, mapping in queues.mappings.items():
        found.setdefault(name or "", {})["mappingEpoch"] = mapping.epoch
    return found


def _entries(admin: AdminClient, namespace: str) -> Texts:
    try:
        return _public(admin.kv.entries(namespace))
    except RocketMQError as error:
        if is_not_found(error):
            return {}
        raise


def of_tables(source: str, moment: int, tables: Replay) -> Picture:
    """What a name server knew then, out of its journal."""
    return Picture(
        source,
        moment,
        {name: _broker(group.cluster, group.addrs) for name, group in tables.groups.items()},
        {
            topic: {name: _queues(*queue[1:]) for name, queue in brokers.items()}
            for topic, brokers in tables.topics.items()
            # Whose brokers are all unknown has no route.
            if any(name in tables.groups for name in brokers)
        },
        {name: _public(table) for name, table in tables.kv.items()},
        _public(tables.settings),
    )


def _broker(cluster: str, addrs: Mapping[int, str]) -> dict[str, Any]:
    return {"clusterName": cluster, "brokerAddrs": {str(number): addrs[number] for number in sorted(addrs)}}


def _queues(read: int | None, write: int | None, perm: int | None, flag: int | None) -> dict[str, int]:
    fields = {"readQueueNums": read, "writeQueueNums": write, "perm": perm, "topicSysFlag": flag}
    return {name: value or 0 for name, value in fields.items()}


def _public(table: Mapping[str, str | None]) -> dict[str, str]:
    return {key: value for key, value in _texts(table).items() if not is_secret(key)}


def _texts(table: Mapping[str, str | None]) -> dict[str, str]:
    return {key: value for key, value in sorted(table.items()) if value is not None}


def items(picture: Picture, topic: str | None = None) -> Iterator[tuple[Item, Value]]:
    """All that routes are made of, in the order of names; of one topic, it and its brokers."""
    of_topic = picture.topics.get(topic, {}) if topic is not None else None
    for name, broker in sorted(picture.brokers.items()):
        if of_topic is None or name in of_topic:
            yield Item("broker", name, None), broker
    orders = picture.kv.get(ORDER_TOPIC_CONFIG, {})
    for name, order in sorted(orders.items()):
        if topic in (None, name):
            yield Item("order", name, None), order
    for name, brokers in sorted(picture.topics.items()):
        if topic in (None, name):
            for broker_name, queues in sorted(brokers.items()):
                yield Item("topic", name, broker_name), queues


def to_bytes(picture: Picture) -> bytes:
    """A picture as a file has it: JSON, compressed with zstd."""
    import zstandard

    text = json.dumps(
        {"format": FORMAT, "version": VERSION, **picture._asdict()}, ensure_ascii=False, indent=1
    )
    return zstandard.ZstdCompressor(level=9, write_checksum=True).compress(
        text.encode("utf-8", "surrogatepass")
    )


def from_bytes(data: bytes) -> Picture:
    """What `to_bytes` made, or the JSON of it. BadPicture."""
    import zstandard

    try:
        if data[:4] == zstandard.FRAME_HEADER:
            data = zstandard.ZstdDecompressor().decompress(data)
        value = json.loads(data.decode("utf-8", "surrogatepass"))
    except (zstandard.ZstdError, ValueError) as error:
        raise BadPicture(f"it is neither JSON nor compressed JSON: {error}") from None
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise BadPicture(f"it is no {FORMAT}")
    if value.get("version") != VERSION:
        raise BadPicture(f"it is of version {value.get('version')}, and this program knows {VERSION}")
    try:
        picture = Picture(**{name: value[name] for name in Picture._fields})
    except KeyError as error:
        raise BadPicture(f"it has no {error.args[0]}") from None
    for name, is_one in _SHAPES.items():
        if not is_one(getattr(picture, name)):
            raise BadPicture(f"its {name} cannot be read")
    return picture


def _is_map(value: object, inner: Callable[[object], bool]) -> bool:
    return isinstance(value, dict) and all(map(inner, value.values()))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_SHAPES: Mapping[str, Callable[[object], bool]] = {
    "source": _is_text,
    "time": _is_number,
    "brokers": lambda found: _is_map(
        found, lambda broker: isinstance(broker, dict) and _is_map(broker.get("brokerAddrs"), _is_text)
    ),
    "topics": lambda found: _is_map(
        found, lambda topic: _is_map(topic, lambda queue: _is_map(queue, _is_number))
    ),
    "kv": lambda found: _is_map(found, lambda table: _is_map(table, _is_text)),
    "settings": lambda found: _is_map(found, _is_text),
}
