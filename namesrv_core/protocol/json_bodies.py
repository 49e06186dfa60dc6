"""The JSON bodies of a name server's requests and answers, except for registrations.

A record has only the members that this project uses. Keys of JSON objects are the names on the wire.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from namesrv_core.events import DataVersion as DataVersion
from namesrv_core.events import MappingInfo as MappingInfo
from namesrv_core.events import QueueData
from namesrv_core.protocol import fastjson
from namesrv_core.protocol.fastjson import DecimalNumber, to_int, to_text
from namesrv_core.protocol.size_limits import UNLIMITED


def queue_data_json(queue: QueueData) -> dict[str, object]:
    return {
        "brokerName": queue.broker_name,
        "perm": queue.perm,
        "readQueueNums": queue.read_queue_nums,
        "topicSysFlag": queue.topic_sys_flag,
        "writeQueueNums": queue.write_queue_nums,
    }


def read_int_member(fields: Mapping[str, Any], member_name: str, default: int, bit_width: int = 32) -> int:
    """Read a primitive number: the default if it is missing, 0 if it is null."""
    return to_int(fields[member_name], bit_width) if member_name in fields else default


def parse_data_version(value: Any, now_ms: int) -> DataVersion | None:
    """Read a DataVersion as 5.5.0 does: absent parts are 0, an absent timestamp is `now_ms`."""
    if value is None or value == "":
        return None
    fields = require_object(value)
    counter = fields.get("counter", 0)
    return DataVersion(
        None if counter is None else to_int(counter, 64),
        read_int_member(fields, "stateVersion", 0, 64),
        read_int_member(fields, "timestamp", now_ms, 64),
    )


def require_object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"expected an object, not {type(value).__name__}")
    return value


def parse_bool(value: Any) -> bool:
    return value.lower() == "true" if isinstance(value, str) else bool(value)


def parse_mapping_info(value: Any) -> MappingInfo | None:
    """Read a TopicQueueMappingInfo. Return None for null."""
    if value is None:
        return None
    fields = require_object(value)
    return MappingInfo(
        to_text(fields.get("topic")),
        to_text(fields.get("scope", "__global__")),
        read_int_member(fields, "totalQueues", 0),
        to_text(fields.get("bname")),
        read_int_member(fields, "epoch", 0, 64),
        _parse_dirty_flag(fields.get("dirty")),
        _parse_queue_ids(fields.get("currIdMap")),
    )


_FLAG_TEXTS = {"1": True, "Y": True, "": False, "0": False, "N": False, "null": False}


def _parse_dirty_flag(value: Any) -> bool:
    """Read a boolean as fastjson 2 does: -1 is true as 1 is, all other numbers are false."""
    if isinstance(value, list) and len(value) == 1:
        return _parse_dirty_flag(value[0])
    if isinstance(value, DecimalNumber):
        to_int(value)
    if isinstance(value, str):
        if value in _FLAG_TEXTS or value.lower() in ("true", "false"):
            return _FLAG_TEXTS.get(value, value.lower() == "true")
    elif value is None or isinstance(value, (bool, int, float)):
        return isinstance(value, int) and abs(value) == 1
    raise ValueError(f"{value!r} is not a boolean")


def _parse_queue_ids(value: Any) -> tuple[tuple[int, int], ...]:
    """Read the map of queue ids. Java's map takes no null, neither as a key nor as a value."""
    if value is None or value == "":
        return ()
    queue_id_map = require_object(value)
    if any(queue_id in (None, "", "null") for queue_id in (*queue_id_map, *queue_id_map.values())):
        raise ValueError("currIdMap contains null")
    return tuple((to_int(logic), to_int(physical)) for logic, physical in queue_id_map.items())


def mapping_info_json(mapping: MappingInfo) -> dict[str, object]:
    return {
        "bname": mapping.bname,
        "currIdMap": dict(mapping.curr_id_map),
        "dirty": mapping.dirty,
        "epoch": mapping.epoch,
        "scope": mapping.scope,
        "topic": mapping.topic,
        "totalQueues": mapping.total_queues,
    }


def parse_queue_datas(route_body: bytes, json_depth: int = UNLIMITED) -> list[QueueData]:
    """Read the queueDatas of a TopicRouteData body (REGISTER_TOPIC_IN_NAMESRV).

    Raises ValueError where 5.5.0 fails.
    """
    route_json = fastjson.decode_json(route_body, max_depth=json_depth)
    if route_json is None:
        return []
    items = require_object(route_json).get("queueDatas")
    if items is None or items == {} or items == "":
        return []
    if isinstance(items, dict):
        # fastjson 2 accepts a single object instead of a list.
        items = [items]
    if not isinstance(items, list):
        raise ValueError("queueDatas is not a list")
    return [_parse_queue_data(require_object(item)) for item in items]


def _parse_queue_data(fields: Mapping[str, Any]) -> QueueData:
    return QueueData(
        to_text(fields.get("brokerName")) or "",
        read_int_member(fields, "readQueueNums", 0),
        read_int_member(fields, "writeQueueNums", 0),
        read_int_member(fields, "perm", 0),
        read_int_member(fields, "topicSysFlag", 0),
    )


def broker_data_json(
    cluster_name: str,
    broker_name: str,
    broker_addrs: Mapping[int, str],
    enable_acting_master: bool,
    zone_name: str | None,
) -> dict[str, object]:
    """The BrokerData of one broker group, as a JSON object. `broker_addrs` is keyed by broker id."""
    return {
        "brokerAddrs": dict(broker_addrs),
        "brokerName": broker_name,
        "cluster": cluster_name,
        "enableActingMaster": enable_acting_master,
        "zoneName": zone_name,
    }


def encode_topic_list(topics: Iterable[str], broker_addr: str | None = None) -> bytes:
    return fastjson.encode_json({"brokerAddr": broker_addr, "topicList": list(topics)})


def encode_kv_table(kv_values: Mapping[str, str | None]) -> bytes:
    return fastjson.encode_json({"table": dict(kv_values)})
