"""The JSON bodies of a name server's requests and answers, except for registrations.

A record has only the members that this project uses. Keys of JSON objects are the names on the wire.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from namesrv_core.events import DataVersion as DataVersion
from namesrv_core.events import MappingInfo as MappingInfo
from namesrv_core.events import QueueData
from namesrv_core.protocol import fastjson
from namesrv_core.protocol.fastjson import to_int, to_text
from namesrv_core.protocol.limits import UNLIMITED


def queue_data(queue: QueueData) -> dict[str, object]:
    return {
        "brokerName": queue.broker_name,
        "perm": queue.perm,
        "readQueueNums": queue.read_queue_nums,
        "topicSysFlag": queue.topic_sys_flag,
        "writeQueueNums": queue.write_queue_nums,
    }


def member(fields: Mapping[str, Any], name: str, default: int, bits: int = 32) -> int:
    """Read a primitive number: the default if it is missing, 0 if it is null."""
    return to_int(fields[name], bits) if name in fields else default


def data_version(value: Any, now: int) -> DataVersion | None:
    """Read a DataVersion as 5.5.0 does: absent parts are 0, an absent timestamp is `now_ms`."""
    if value is None or value == "":
        return None
    fields = as_object(value)
    counter = fields.get("counter", 0)
    return DataVersion(
        None if counter is None else to_int(counter, 64),
        member(fields, "stateVersion", 0, 64),
        member(fields, "timestamp", now, 64),
    )


def as_object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"expected an object, not {type(value).__name__}")
    return value


def as_bool(value: Any) -> bool:
    return value.lower() == "true" if isinstance(value, str) else bool(value)


def mapping_info(value: Any) -> MappingInfo | None:
    """Read a TopicQueueMappingInfo. Return None for null."""
    if value is None:
        return None
    fields = as_object(value)
    queues = as_object(fields.get("currIdMap") or {})
    return MappingInfo(
        to_text(fields.get("topic")),
        to_text(fields.get("scope", "__global__")),
        member(fields, "totalQueues", 0),
        to_text(fields.get("bname")),
        member(fields, "epoch", 0, 64),
        as_bool(fields.get("dirty")),
        tuple((to_int(key), to_int(item)) for key, item in queues.items()),
    )


def mapping_json(info: MappingInfo) -> dict[str, object]:
    """The TopicQueueMappingInfo as a JSON object."""
    return {
        "bname": info.bname,
        "currIdMap": dict(info.curr_id_map),
        "dirty": info.dirty,
        "epoch": info.epoch,
        "scope": info.scope,
        "topic": info.topic,
        "totalQueues": info.total_queues,
    }


def queue_datas(body: bytes, depth: int = UNLIMITED) -> list[QueueData]:
    """Read the queueDatas of a TopicRouteData body (REGISTER_TOPIC_IN_NAMESRV).

    Raises ValueError where 5.5.0 fails.
    """
    route = fastjson.loads(body, depth=depth)
    if route is None:
        return []
    items = as_object(route).get("queueDatas")
    if items is None or items == {} or items == "":
        return []
    if isinstance(items, dict):
        # fastjson 2 accepts a single object in the place of a list.
        items = [items]
    if not isinstance(items, list):
        raise ValueError("queueDatas is no list")
    return [_queue_data(as_object(item)) for item in items]


def _queue_data(fields: Mapping[str, Any]) -> QueueData:
    return QueueData(
        to_text(fields.get("brokerName")) or "",
        member(fields, "readQueueNums", 0),
        member(fields, "writeQueueNums", 0),
        member(fields, "perm", 0),
        member(fields, "topicSysFlag", 0),
    )


def broker_data(
    cluster: str, name: str, addrs: Mapping[int, str], acting_master: bool, zone: str | None
) -> dict[str, object]:
    """The BrokerData of one broker group, as a JSON object. `broker_addrs` is keyed by broker id."""
    return {
        "brokerAddrs": dict(addrs),
        "brokerName": name,
        "cluster": cluster,
        "enableActingMaster": acting_master,
        "zoneName": zone,
    }


def topic_list(topics: Iterable[str], broker_addr: str | None = None) -> bytes:
    """The body TopicList."""
    return fastjson.dumps({"brokerAddr": broker_addr, "topicList": list(topics)})


def kv_table(table: Mapping[str, str | None]) -> bytes:
    """The body KVTable."""
    return fastjson.dumps({"table": dict(table)})
