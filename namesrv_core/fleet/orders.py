"""What simulated brokers do about orders: consume modes, cold data, timers, what a slave knows. Pure."""

from namesrv_core.errors import RequestError, ResponseCode, TopicNotExist
from namesrv_core.fleet import messages
from namesrv_core.fleet.model import BrokerModel
from namesrv_core.protocol import broker_headers, fastjson, headers
from namesrv_core.protocol.bodies import as_object
from namesrv_core.protocol.command import Command

_RETRY = "%RETRY%"

Answer = tuple[bytes, str | None]
"""The body of an answer, and its remark."""


def set_mode(model: BrokerModel, asked: Command, now: int) -> Answer:
    """QueryAssignmentProcessor#setMessageRequestMode, but no group is made."""
    wanted = as_object(fastjson.loads(asked.body))
    topic, group = wanted.get("topic"), wanted.get("consumerGroup")
    if str(topic).startswith(_RETRY):
        raise RequestError("retry topic is not allowed to set mode", ResponseCode.NO_PERMISSION)
    if topic not in model.topics.configs:
        raise TopicNotExist(f"topic[{topic}] not exist")
    if group not in model.groups.configs:
        raise RequestError("subscription group does not exist", ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST)
    model.modes.setdefault(str(topic), {})[str(group)] = wanted
    return b"", "not set any response code"


def all_modes(model: BrokerModel, asked: Command, now: int) -> Answer:
    return fastjson.dumps({"messageRequestModeMap": model.modes}), None


def set_threshold(model: BrokerModel, asked: Command, now: int) -> Answer:
    """Lines of group=threshold; what is no number is passed over, as upstream does."""
    for line in asked.body.decode().splitlines():
        group, _, value = line.partition("=")
        if value.isdigit():
            model.cold_thresholds[group] = int(value)
    return b"", None


def remove_threshold(model: BrokerModel, asked: Command, now: int) -> Answer:
    model.cold_thresholds.pop(asked.body.decode(), None)
    return b"", None


def cold_data(model: BrokerModel, asked: Command, now: int) -> Answer:
    """Simulated brokers have all in memory: nobody reads cold data."""
    body = {
        "runtimeTable": {},
        "configTable": model.cold_thresholds,
        "cgColdReadThreshold": int(model.properties["cgColdReadThreshold"]),
        "globalColdReadThreshold": int(model.properties["globalColdReadThreshold"]),
        "globalAcc": 0,
    }
    return fastjson.dumps(body), None


def set_read_ahead(model: BrokerModel, asked: Command, now: int) -> Answer:
    mode = (asked.ext or {}).get("READ_AHEAD_MODE")
    if mode not in ("0", "1"):
        raise RequestError("set commitlog readahead mode param value error", ResponseCode.INVALID_PARAMETER)
    model.properties.update(f"dataReadAheadEnable={str(mode == '0').lower()}\n".encode(), now)
    return b"", f"set commitlog readahead mode success, mode: {mode}"


def switch_timer(model: BrokerModel, asked: Command, now: int) -> Answer:
    """AdminBrokerProcessor#switchTimerEngine."""
    engine = (asked.ext or {}).get("E_T")
    if engine not in ("R", "F"):
        raise RequestError("param error", ResponseCode.INVALID_PARAMETER)
    if engine == "R" and model.properties["timerRocksDBEnable"] != "true":
        remark = "timerRocksDBEnable must be configured true when broker start"
        raise RequestError(remark, ResponseCode.INVALID_PARAMETER)
    stops = {"timerStopEnqueue": engine == "R", "timerRocksDBStopScan": engine == "F"}
    lines = "".join(f"{key}={str(value).lower()}\n" for key, value in stops.items())
    model.properties.update(lines.encode(), now)
    return b"", "switch timer engine success"


def set_master_flush_offset(model: BrokerModel, asked: Command, now: int) -> Answer:
    """A master passes over it."""
    if not model.spec.is_master:
        wanted = headers.read(broker_headers.MasterFlushOffset, asked.ext)
        model.master_flush_offset = wanted.master_flush_offset
    return b"", None


def check_rocksdb(model: BrokerModel, asked: Command, now: int) -> Answer:
    """It says that it looks, as real ones do, whatever there is to compare."""
    return fastjson.dumps({"checkStatus": 2}), None


def queue_entries(model: BrokerModel, asked: Command, now: int) -> Answer:
    fields = asked.ext or {}
    topic = str(fields.get("topic"))
    queue, index, count = (
        headers.integer(fields.get(key) or "", 64) or 0 for key in ("queueId", "index", "count")
    )
    if queue not in range(model.queues(topic)):
        raise RequestError(f"{queue}@{topic} is not exist!")
    low, high, found = messages.entries(model, topic, queue, index, count, now)
    if not low <= index < high:
        return b"", f"Index {index} of {queue}@{topic} is not exist!"
    data = [
        {"eval": False, "physicOffset": place, "physicSize": size, "tagsCode": _hash(tag)}
        for place, size, tag in found
    ]
    body = {"filterData": "null", "maxQueueIndex": high, "minQueueIndex": low, "queueData": data}
    return fastjson.dumps(body), None


def _hash(text: str) -> int:
    """Java's `String#hashCode`."""
    code = 0
    for letter in text:
        code = (31 * code + ord(letter)) & 0xFFFFFFFF
    return code - (1 << 32) if code >> 31 else code
