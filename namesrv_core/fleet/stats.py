"""What a simulated broker says of its queues and their readers: shares of its traffic, so that all agrees."""

from collections.abc import Callable, Iterable, Iterator

from namesrv_core.errors import QueryNotFound, RequestError, ResponseCode, TopicNotExist
from namesrv_core.fleet.model import BrokerModel
from namesrv_core.fleet.offsets import behind
from namesrv_core.protocol import broker_headers, fastjson, object_keys

_SPANS = (("statsMinute", 60_000), ("statsHour", 3_600_000), ("statsDay", 86_400_000))
_WINDOW = 10_000
_OF_USERS = "BROKER_PUT_NUMS_WITHOUT_SYSTEM_TOPIC"

Lag = tuple[dict[str, object], dict[str, int]]
"""A MessageQueue and its OffsetWrapper."""


def topic_stats(model: BrokerModel, topic: str, now: int) -> bytes:
    """TopicStatsTable."""
    config = model.topics.configs.get(topic)
    if config is None:
        raise TopicNotExist(f"topic[{topic}] not exist")
    queues = max(config["readQueueNums"], config["writeQueueNums"])
    ends, begins = model.offsets.ends(topic, queues, now), model.offsets.begins(topic, queues, now)
    table = object_keys.dumps_table(
        (
            _queue(model, topic, queue),
            {"lastUpdateTimestamp": now if end else 0, "maxOffset": end, "minOffset": begin},
        )
        for queue, (begin, end) in enumerate(zip(begins, ends, strict=True))
    )
    tps = fastjson.java_double(model.offsets.put(topic, now, _WINDOW) * 1000 / _WINDOW)
    return b'{"offsetTable":' + table + b',"topicPutTps":' + tps.encode() + b"}"


def consume_stats(model: BrokerModel, group: str, topic: str | None, now: int) -> bytes:
    """ConsumeStats of a group: of all its topics, or of one; an unknown group has read nothing."""
    read = [
        name
        for name in model.offsets.topics_of(group)
        if topic in (None, name) and name in model.topics.configs
    ]
    lags = (lag for name in read for lag in _lags(model, group, name, now))
    return _table(lags, _tps(model, group, read, now))


def all_consume_stats(model: BrokerModel, ordered: bool, now: int) -> bytes:
    """ConsumeStatsList: every group on every queue; upstream leaves `pullOffset` at 0 here."""
    groups, total = [], 0
    for group in model.groups.configs:
        stats = []
        for name in model.offsets.topics_of(group):
            if name in model.topics.configs and (model.topics.configs[name]["order"] or not ordered):
                lags = [(queue, {**lag, "pullOffset": 0}) for queue, lag in _lags(model, group, name, now)]
                total += sum(lag["brokerOffset"] - lag["consumerOffset"] for _, lag in lags)
                stats.append(_table(lags, _tps(model, group, [name], now)))
        groups.append(b"{" + fastjson.dumps(group) + b":[" + b",".join(stats) + b"]}")
    return b'{"brokerAddr":%s,"consumeStatsList":[%s],"totalDiff":%d,"totalInflightDiff":0}' % (
        fastjson.dumps(model.broker_addr),
        b",".join(groups),
        total,
    )


def all_offsets(model: BrokerModel, now: int) -> bytes:
    """ConsumerOffsetSerializeWrapper: what every group has committed, and nothing of other queues."""
    table: dict[str, dict[int, int]] = {}
    for group in model.groups.configs:
        for topic in model.offsets.topics_of(group):
            queues = model.queues(topic)
            places = {
                queue: model.offsets.committed((group, topic, queue), queues, now) for queue in range(queues)
            }
            known = {queue: offset for queue, offset in places.items() if offset is not None}
            if known:
                table[f"{topic}@{group}"] = known
    return fastjson.dumps({"offsetTable": table})


def _tps(model: BrokerModel, group: str, topics: Iterable[str], now: int) -> float:
    """Messages that the group reads in a second."""
    read = [name for name in topics if group in model.offsets.readers.get(name, ())]
    return sum(model.offsets.put(name, now - behind(group), _WINDOW) for name in read) * 1000 / _WINDOW


def _table(lags: Iterable[Lag], tps: float) -> bytes:
    """ConsumeStats."""
    tps_text = fastjson.java_double(tps).encode()
    return b'{"consumeTps":' + tps_text + b',"offsetTable":' + object_keys.dumps_table(lags) + b"}"


def _lags(model: BrokerModel, group: str, topic: str, now: int) -> Iterator[Lag]:
    """OffsetWrapper of each queue; a queue where the group never was stands at 0, as upstream has it."""
    queues = model.queues(topic)
    for queue, end in enumerate(model.offsets.ends(topic, queues, now)):
        key = (group, topic, queue)
        at = model.offsets.committed(key, queues, now) or 0
        times = model.offsets.last_consumed(key, queues, now)
        lag = {"brokerOffset": end, "consumerOffset": at, "lastTimestamp": times, "pullOffset": at}
        yield _queue(model, topic, queue), lag


def _queue(model: BrokerModel, topic: str, queue: int) -> dict[str, object]:
    return {"brokerName": model.spec.broker_name, "queueId": queue, "topic": topic}


def committed(model: BrokerModel, group: str, topic: str, queue: int, now: int) -> int:
    """Where the group goes on; QueryNotFound where it never was."""
    offset = model.offsets.committed((group, topic, queue), model.queues(topic), now)
    if offset is None:
        raise QueryNotFound("Not found, maybe this group consumer boot first")
    return offset


def end_of(model: BrokerModel, wanted: broker_headers.QueueOffset, at: int) -> int:
    """The end of a queue at that time; 0 for one that is not there, as upstream answers."""
    topic, queues = wanted.topic or "", model.queues(wanted.topic or "")
    return model.offsets.ends(topic, queues, at)[wanted.queue_id] if 0 <= wanted.queue_id < queues else 0


def begin_of(model: BrokerModel, wanted: broker_headers.QueueOffset, now: int) -> int:
    """The oldest message's offset, likewise."""
    topic, queues = wanted.topic or "", model.queues(wanted.topic or "")
    return model.offsets.begins(topic, queues, now)[wanted.queue_id] if 0 <= wanted.queue_id < queues else 0


def reset(model: BrokerModel, wanted: broker_headers.ResetOffset, now: int) -> bytes:
    """Move a group to a time (negative: the end) on all queues, or one to an offset: ResetOffsetBody."""
    group, topic = wanted.group or "", wanted.topic or ""
    if not model.spec.is_master:
        raise RequestError("Can not reset offset in slave broker")
    check_known(model, group, topic)
    moves = _goals(model, wanted, now)
    for queue, goal in moves.items():
        model.offsets.move((group, topic, queue), goal, now)
    pairs = ((_queue(model, topic, queue), goal) for queue, goal in moves.items())
    return b'{"offsetTable":' + object_keys.dumps_table(pairs) + b"}"


def _goals(model: BrokerModel, wanted: broker_headers.ResetOffset, now: int) -> dict[int, int]:
    """The offset that each queue is to be moved to, within what it has."""
    topic, queues = wanted.topic or "", model.queues(wanted.topic or "")
    begins, ends = model.offsets.begins(topic, queues, now), model.offsets.ends(topic, queues, now)
    at, queue = wanted.timestamp, wanted.queue_id
    found = ends if at is None or at < 0 else model.offsets.ends(topic, queues, min(at - 1, now))
    goals = {number: max(found[number], begins[number]) for number in range(queues)}
    if queue is None or queue < 0:
        return goals
    if queue not in goals:
        raise RequestError(f"{topic} has no queue {queue}")
    if wanted.offset is None or wanted.offset < 0:
        return {queue: goals[queue]}
    if not begins[queue] <= wanted.offset <= ends[queue] + 1:
        span = f"[{begins[queue]}-{ends[queue]}]"
        raise RequestError(f"Target offset {wanted.offset} not in consume queue range {span}")
    return {queue: wanted.offset}


def check_known(model: BrokerModel, group: str, topic: str) -> None:
    """What 5.5.0 says of a topic or a group that is not there."""
    if topic not in model.topics.configs:
        raise TopicNotExist(f"Topic {topic} does not exist")
    if group not in model.groups.configs:
        raise RequestError(f"Group {group} does not exist", ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST)


def counters(model: BrokerModel, name: str, key: str, now: int) -> bytes:
    """BrokerStatsData; RequestError for what was never counted."""
    if name == _OF_USERS and key == model.spec.cluster_name and model.traffic.put_total(now):
        return _spans(lambda length: model.traffic.put_total(now) - model.traffic.put_total(now - length))
    topic, _, group = key.partition("@")
    counted = {
        "TOPIC_PUT_NUMS": not group,
        "GROUP_GET_NUMS": group in model.offsets.readers.get(topic, ()),
    }
    if not (model.spec.is_master and counted.get(name) and model.offsets.counts(topic)):
        raise RequestError(f"The stats <{name}> <{key}> not exist")
    at = now - behind(group) if group else now
    return _spans(lambda length: model.offsets.put(topic, at, length))


def _spans(count: Callable[[int], int]) -> bytes:
    """BrokerStatsData, of messages counted over so many ms."""
    spans: dict[str, object] = {}
    for span, length in _SPANS:
        messages = count(length)
        spans[span] = {"avgpt": 0.0, "sum": messages, "tps": messages * 1000 / length}
    return fastjson.dumps(spans)
