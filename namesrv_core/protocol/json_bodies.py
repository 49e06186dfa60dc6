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


def queue_data_json(queue_data: QueueData) -> dict[str, object]:
    return {
        "brokerName": queue_data.broker_name,
        "perm": queue_data.perm,
        "readQueueNums": queue_data.read_queue_nums,
        "topicSysFlag": queue_data.topic_sys_flag,
        "writeQueueNums": queue_data.write_queue_nums,
    }


def read_int_member(
    json_fields: Mapping[str, Any], member_name: str, default_value: int, bit_width: int = 32
) -> int:
    """Read a primitive number: the default if it is missing, 0 if it is null."""
    return to_int(json_fields[member_name], bit_width) if member_name in json_fields else default_value


def parse_data_version(json_value: Any, now_ms: int) -> DataVersion | None:
    """Read a DataVersion as 5.5.0 does: absent parts are 0, an absent timestamp is `now_ms`."""
    if json_value is None or json_value == "":
        return None
    json_fields = require_object(json_value)
    counter = json_fields.get("counter", 0)
    return DataVersion(
        None if counter is None else to_int(counter, 64),
        read_int_member(json_fields, "stateVersion", 0, 64),
        read_int_member(json_fields, "timestamp", now_ms, 64),
    )


def require_object(json_value: Any) -> dict[str, Any]:
    if not isinstance(json_value, dict):
        raise ValueError(f"expected an object, not {type(json_value).__name__}")
    return json_value


def parse_bool(json_value: Any) -> bool:
    return json_value.lower() == "true" if isinstance(json_value, str) else bool(json_value)


def parse_mapping_info(json_value: Any) -> MappingInfo | None:
    """Read a TopicQueueMappingInfo. Return None for null."""
    if json_value is None:
        return None
    json_fields = require_object(json_value)
    return MappingInfo(
        to_text(json_fields.get("topic")),
        to_text(json_fields.get("scope", "__global__")),
        read_int_member(json_fields, "totalQueues", 0),
        to_text(json_fields.get("bname")),
        read_int_member(json_fields, "epoch", 0, 64),
        _parse_dirty_flag(json_fields.get("dirty")),
        _parse_queue_ids(json_fields.get("currIdMap")),
    )


_FLAG_TEXTS = {"1": True, "Y": True, "": False, "0": False, "N": False, "null": False}


def _parse_dirty_flag(json_value: Any) -> bool:
    """Read a boolean as fastjson 2 does: -1 is true as 1 is, all other numbers are false."""
    if isinstance(json_value, list) and len(json_value) == 1:
        return _parse_dirty_flag(json_value[0])
    if isinstance(json_value, DecimalNumber):
        to_int(json_value)
    if isinstance(json_value, str):
        if json_value in _FLAG_TEXTS or json_value.lower() in ("true", "false"):
            return _FLAG_TEXTS.get(json_value, json_value.lower() == "true")
    elif json_value is None or isinstance(json_value, (bool, int, float)):
        return isinstance(json_value, int) and abs(json_value) == 1
    raise ValueError(f"{json_value!r} is not a boolean")


def _parse_queue_ids(json_value: Any) -> tuple[tuple[int, int], ...]:
    """Read the map of queue ids. Java's map takes no null, neither as a key nor as a value."""
    if json_value is None or json_value == "":
        return ()
    queue_id_map = require_object(json_value)
    if any(queue_id in (None, "", "null") for queue_id in (*queue_id_map, *queue_id_map.values())):
        raise ValueError("currIdMap contains null")
    return tuple(
        (to_int(logic_queue_id), to_int(physical_queue_id))
        for logic_queue_id, physical_queue_id in queue_id_map.items()
    )


def mapping_info_json(mapping_info: MappingInfo) -> dict[str, object]:
    """The TopicQueueMappingInfo as a JSON object."""
    return {
        "bname": mapping_info.bname,
        "currIdMap": dict(mapping_info.curr_id_map),
        "dirty": mapping_info.dirty,
        "epoch": mapping_info.epoch,
        "scope": mapping_info.scope,
        "topic": mapping_info.topic,
        "totalQueues": mapping_info.total_queues,
    }


def parse_queue_datas(route_body: bytes, json_depth: int = UNLIMITED) -> list[QueueData]:
    """Read the queueDatas of a TopicRouteData body (REGISTER_TOPIC_IN_NAMESRV).

    Raises ValueError where 5.5.0 fails.
    """
    route_json = fastjson.decode_json(route_body, max_depth=json_depth)
    if route_json is None:
        return []
    queue_items = require_object(route_json).get("queueDatas")
    if queue_items is None or queue_items == {} or queue_items == "":
        return []
    if isinstance(queue_items, dict):
        # fastjson 2 accepts a single object instead of a list.
        queue_items = [queue_items]
    if not isinstance(queue_items, list):
        raise ValueError("queueDatas is not a list")
    return [_parse_queue_data(require_object(queue_item)) for queue_item in queue_items]


def _parse_queue_data(json_fields: Mapping[str, Any]) -> QueueData:
    return QueueData(
        to_text(json_fields.get("brokerName")) or "",
        read_int_member(json_fields, "readQueueNums", 0),
        read_int_member(json_fields, "writeQueueNums", 0),
        read_int_member(json_fields, "perm", 0),
        read_int_member(json_fields, "topicSysFlag", 0),
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
    """The body TopicList."""
    return fastjson.encode_json({"brokerAddr": broker_addr, "topicList": list(topics)})


def encode_kv_table(kv_values: Mapping[str, str | None]) -> bytes:
    """The body KVTable."""
    return fastjson.encode_json({"table": dict(kv_values)})
