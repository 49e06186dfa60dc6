"""The handlers for operator requests: consume modes, cold data, timers, slave offsets. Pure."""

from namesrv_core.errors import RequestError, ResponseCode, TopicNotExist
from namesrv_core.fleet import messages
from namesrv_core.fleet.broker_model import BrokerModel
from namesrv_core.protocol import broker_headers, fastjson, headers
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.json_bodies import require_object

_RETRY_PREFIX = "%RETRY%"

CommandAnswer = tuple[bytes, str | None]
"""The body of an answer, and its remark."""


def set_consume_mode(model: BrokerModel, command: RemotingCommand, now_ms: int) -> CommandAnswer:
    """Set the consume mode (`QueryAssignmentProcessor#setMessageRequestMode`), but create no group."""
    wanted_mode = require_object(fastjson.decode_json(command.body))
    topic, group = wanted_mode.get("topic"), wanted_mode.get("consumerGroup")
    if str(topic).startswith(_RETRY_PREFIX):
        raise RequestError("retry topic is not allowed to set mode", ResponseCode.NO_PERMISSION)
    if topic not in model.topic_table.configs:
        raise TopicNotExist(f"topic[{topic}] not exist")
    if group not in model.group_table.configs:
        raise RequestError("subscription group does not exist", ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST)
    model.consume_modes.setdefault(str(topic), {})[str(group)] = wanted_mode
    return b"", "not set any response code"


def list_consume_modes(model: BrokerModel, command: RemotingCommand, now_ms: int) -> CommandAnswer:
    return fastjson.encode_json({"messageRequestModeMap": model.consume_modes}), None


def set_cold_data_threshold(model: BrokerModel, command: RemotingCommand, now_ms: int) -> CommandAnswer:
    """Set thresholds from lines of group=threshold. Values that are no numbers are ignored, as upstream."""
    for line in command.body.decode().splitlines():
        group, _, text = line.partition("=")
        if text.isdigit():
            model.cold_thresholds[group] = int(text)
    return b"", None


def remove_cold_data_threshold(model: BrokerModel, command: RemotingCommand, now_ms: int) -> CommandAnswer:
    model.cold_thresholds.pop(command.body.decode(), None)
    return b"", None


def cold_data_info(model: BrokerModel, command: RemotingCommand, now_ms: int) -> CommandAnswer:
    """The cold-data info, which is empty: no client of a simulated broker reads cold data."""
    body = {
        "runtimeTable": {},
        "configTable": model.cold_thresholds,
        "cgColdReadThreshold": int(model.properties["cgColdReadThreshold"]),
        "globalColdReadThreshold": int(model.properties["globalColdReadThreshold"]),
        "globalAcc": 0,
    }
    return fastjson.encode_json(body), None


def set_read_ahead(model: BrokerModel, command: RemotingCommand, now_ms: int) -> CommandAnswer:
    read_ahead_mode = (command.ext or {}).get("READ_AHEAD_MODE")
    if read_ahead_mode not in ("0", "1"):
        raise RequestError("set commitlog readahead mode param value error", ResponseCode.INVALID_PARAMETER)
    model.properties.apply_update(
        f"dataReadAheadEnable={str(read_ahead_mode == '0').lower()}\n".encode(), now_ms
    )
    return b"", f"set commitlog readahead mode success, mode: {read_ahead_mode}"


def switch_timer_engine(model: BrokerModel, command: RemotingCommand, now_ms: int) -> CommandAnswer:
    """AdminBrokerProcessor#switchTimerEngine."""
    engine = (command.ext or {}).get("E_T")
    if engine not in ("R", "F"):
        raise RequestError("param error", ResponseCode.INVALID_PARAMETER)
    if engine == "R" and model.properties["timerRocksDBEnable"] != "true":
        remark = "timerRocksDBEnable must be configured true when broker start"
        raise RequestError(remark, ResponseCode.INVALID_PARAMETER)
    stop = {"timerStopEnqueue": engine == "R", "timerRocksDBStopScan": engine == "F"}
    lines = "".join(f"{key}={str(is_stopped).lower()}\n" for key, is_stopped in stop.items())
    model.properties.apply_update(lines.encode(), now_ms)
    return b"", "switch timer engine success"


def set_master_flush_offset(model: BrokerModel, command: RemotingCommand, now_ms: int) -> CommandAnswer:
    """Set the master's flush offset. A master ignores the request."""
    if not model.spec.is_master:
        header = headers.read_header(broker_headers.MasterFlushOffset, command.ext)
        model.master_flush_offset = header.master_flush_offset
    return b"", None


def check_rocksdb_progress(model: BrokerModel, command: RemotingCommand, now_ms: int) -> CommandAnswer:
    """Answer that the check has started, as real brokers do in any case."""
    return fastjson.encode_json({"checkStatus": 2}), None


def queue_entries_json(model: BrokerModel, command: RemotingCommand, now_ms: int) -> CommandAnswer:
    ext_fields = command.ext or {}
    topic = str(ext_fields.get("topic"))
    queue_id, first_index, count = (
        headers.parse_java_integer(ext_fields.get(name) or "", 64) or 0
        for name in ("queueId", "index", "count")
    )
    if queue_id not in range(model.read_queue_count(topic)):
        raise RequestError(f"{queue_id}@{topic} is not exist!")
    min_offset, end, entries = messages.list_queue_entries(model, topic, queue_id, first_index, count, now_ms)
    if not min_offset <= first_index < end:
        return b"", f"Index {first_index} of {queue_id}@{topic} is not exist!"
    queue = [
        {"eval": False, "physicOffset": offset, "physicSize": size, "tagsCode": _java_string_hash(tag)}
        for offset, size, tag in entries
    ]
    body = {"filterData": "null", "maxQueueIndex": end, "minQueueIndex": min_offset, "queueData": queue}
    return fastjson.encode_json(body), None


def _java_string_hash(text: str) -> int:
    """Java's `String#hashCode`."""
    hash_code = 0
    for letter in text:
        hash_code = (31 * hash_code + ord(letter)) & 0xFFFFFFFF
    return hash_code - (1 << 32) if hash_code >> 31 else hash_code
