"""What a simulated broker says of its queues and their readers: shares of its traffic, so that all agrees.

The topics that a broker started with share its messages evenly, and so do the queues of each; a topic made
later gets none. Groups read a second behind.
"""

from collections.abc import Callable

from namesrv_core.errors import RequestError, TopicNotExist
from namesrv_core.fleet.model import BrokerModel
from namesrv_core.protocol import fastjson, object_keys

_BEHIND = 1000
_SPANS = (("statsMinute", 60_000), ("statsHour", 3_600_000), ("statsDay", 86_400_000))
_WINDOW = 10_000


def topic_stats(model: BrokerModel, topic: str, now: int) -> bytes:
    """TopicStatsTable."""
    config = model.topics.configs.get(topic)
    if config is None:
        raise TopicNotExist(f"topic[{topic}] not exist")
    queues = max(config["readQueueNums"], config["writeQueueNums"])
    ends = _offsets(model, topic, queues, model.traffic.stored(now))
    begins = _offsets(model, topic, queues, model.traffic.deleted(now))
    table = object_keys.dumps_table(
        (
            {"brokerName": model.spec.broker_name, "queueId": queue, "topic": topic},
            {"lastUpdateTimestamp": now if end else 0, "maxOffset": end, "minOffset": begin},
        )
        for queue, (begin, end) in enumerate(zip(begins, ends, strict=True))
    )
    tps = fastjson.java_double(_put(model, topic, now, _WINDOW) * 1000 / _WINDOW)
    return b'{"offsetTable":' + table + b',"topicPutTps":' + tps.encode() + b"}"


def consume_stats(model: BrokerModel, group: str, topic: str | None, now: int) -> bytes:
    """ConsumeStats of a group: of all its topics, or of one; an unknown group has read nothing."""
    read = sorted(name for name, groups in model.groups.items() if group in groups and topic in (None, name))
    table = object_keys.dumps_table(
        (
            {"brokerName": model.spec.broker_name, "queueId": queue, "topic": name},
            {"brokerOffset": end, "consumerOffset": at, "lastTimestamp": now - _BEHIND, "pullOffset": at},
        )
        for name in read
        if name in model.topics.configs
        for queue, (end, at) in enumerate(_read(model, name, now))
    )
    tps = sum(_put(model, name, now - _BEHIND, _WINDOW) for name in read) * 1000 / _WINDOW
    return b'{"consumeTps":' + fastjson.java_double(tps).encode() + b',"offsetTable":' + table + b"}"


def counters(model: BrokerModel, name: str, key: str, now: int) -> bytes:
    """BrokerStatsData; RequestError for what was never counted."""
    topic, _, group = key.partition("@")
    counted = {
        "TOPIC_PUT_NUMS": not group,
        "GROUP_GET_NUMS": group in model.groups.get(topic, ()),
    }
    if not (model.spec.is_master and counted.get(name) and topic in _started_with(model)):
        raise RequestError(f"The stats <{name}> <{key}> not exist")
    spans: dict[str, object] = {}
    for span, length in _SPANS:
        messages = _put(model, topic, now, length)
        spans[span] = {"avgpt": 0.0, "sum": messages, "tps": messages * 1000 / length}
    return fastjson.dumps(spans)


def _started_with(model: BrokerModel) -> list[str]:
    return [config["topicName"] for config in model.spec.topics]


def _share(model: BrokerModel, topic: str) -> Callable[[int], int]:
    """How many of so many messages are the topic's."""
    names = _started_with(model)
    if topic not in names:
        return lambda total: 0
    at = names.index(topic)
    return lambda total: _part(total, at, len(names))


def _part(total: int, at: int, parts: int) -> int:
    """One of almost equal parts; none shrinks when the total grows."""
    return (total + parts - 1 - at) // parts


def _offsets(model: BrokerModel, topic: str, queues: int, total: int) -> list[int]:
    share = _share(model, topic)(total)
    return [_part(share, queue, queues) for queue in range(queues)]


def _read(model: BrokerModel, topic: str, now: int) -> list[tuple[int, int]]:
    """The end and the reader's place of each queue."""
    queues = model.topics.configs[topic]["readQueueNums"]
    ends, places = (_offsets(model, topic, queues, model.traffic.stored(at)) for at in (now, now - _BEHIND))
    return list(zip(ends, places, strict=True))


def _put(model: BrokerModel, topic: str, now: int, window: int) -> int:
    """Messages that came in the last `window` ms."""
    share = _share(model, topic)
    return share(model.traffic.stored(now)) - share(model.traffic.stored(now - window))
