"""The statistics of a simulated broker: its queues and consumers have shares of its traffic, so all agree."""

from collections.abc import Callable, Iterable, Iterator

from namesrv_core.errors import RequestError, ResponseCode, TopicNotExist
from namesrv_core.fleet.broker_model import BrokerModel
from namesrv_core.protocol import broker_headers, fastjson, headers, object_keys

_COUNTER_SPANS = (("statsMinute", 60_000), ("statsHour", 3_600_000), ("statsDay", 86_400_000))
_TPS_WINDOW_MS = 60_000
"""StatsItem#getStatsDataInMinute, which BrokerStatsManager reads for put and get TPS."""
_USER_PUT_COUNTER = "BROKER_PUT_NUMS_WITHOUT_SYSTEM_TOPIC"

QueueOffsetPair = tuple[dict[str, object], dict[str, int]]
"""A MessageQueue and its OffsetWrapper."""


def topic_stats_json(model: BrokerModel, header: headers.TopicName, now_ms: int) -> bytes:
    topic = header.topic or ""
    config = model.topic_table.configs.get(topic)
    if config is None:
        raise TopicNotExist(f"topic[{topic}] not exist")
    queue_count = max(config["readQueueNums"], config["writeQueueNums"])
    ends, begins = (
        model.offsets.end_offsets(topic, queue_count, now_ms),
        model.offsets.begin_offsets(topic, queue_count, now_ms),
    )
    offsets = object_keys.encode_object_key_map(
        (
            _message_queue_json(model, topic, queue_id),
            {
                "lastUpdateTimestamp": model.offsets.last_stored_ms(topic, queue_id, end, now_ms),
                "maxOffset": end,
                "minOffset": offset,
            },
        )
        for queue_id, (offset, end) in enumerate(zip(begins, ends, strict=True))
    )
    put_tps = fastjson.format_java_double(
        model.offsets.count_recent_messages(topic, now_ms, _TPS_WINDOW_MS) * 1000 / _TPS_WINDOW_MS
    )
    return b'{"offsetTable":' + offsets + b',"topicPutTps":' + put_tps.encode() + b"}"


def consume_stats_json(model: BrokerModel, header: broker_headers.ConsumerGroup, now_ms: int) -> bytes:
    """ConsumeStats of a group for all its topics or for one. An unknown group has consumed nothing."""
    group = header.consumer_group or ""
    topics = [
        read_topic
        for read_topic in model.offsets.topics_of_group(group)
        if header.topic in (None, read_topic) and read_topic in model.topic_table.configs
    ]
    lags = (lag for topic in topics for lag in _list_queue_lags(model, group, topic, now_ms))
    return _consume_stats_body(lags, _consume_tps(model, group, topics, now_ms))


def consume_stats_list_json(
    model: BrokerModel, header: broker_headers.BrokerConsumeStats, now_ms: int
) -> bytes:
    """ConsumeStatsList: every group on every queue. As upstream, `pullOffset` is 0 here."""
    bodies, total_lag = [], 0
    for group in model.group_table.configs:
        topic_bodies = []
        for topic in model.offsets.topics_of_group(group):
            if topic in model.topic_table.configs and (
                model.topic_table.configs[topic]["order"] or not header.is_order
            ):
                lags = [(q, {**w, "pullOffset": 0}) for q, w in _list_queue_lags(model, group, topic, now_ms)]
                total_lag += sum(wrapper["brokerOffset"] - wrapper["consumerOffset"] for _, wrapper in lags)
                topic_bodies.append(_consume_stats_body(lags, _consume_tps(model, group, [topic], now_ms)))
        bodies.append(b"{" + fastjson.encode_json(group) + b":[" + b",".join(topic_bodies) + b"]}")
    return b'{"brokerAddr":%s,"consumeStatsList":[%s],"totalDiff":%d,"totalInflightDiff":0}' % (
        fastjson.encode_json(model.broker_addr),
        b",".join(bodies),
        total_lag,
    )


def all_offsets_json(model: BrokerModel, now_ms: int) -> bytes:
    """ConsumerOffsetSerializeWrapper: the consumer offsets of all groups, also of deleted ones."""
    table: dict[str, dict[int, int]] = {}
    for group in dict.fromkeys((*model.group_table.configs, *model.offsets.moved_groups)):
        for topic in model.offsets.topics_of_group(group):
            queue_count = model.read_queue_count(topic)
            offsets = {
                queue_id: model.offsets.committed_offset((group, topic, queue_id), queue_count, now_ms)
                for queue_id in range(model.offsets.offset_count(group, topic, queue_count))
            }
            known = {queue_id: offset for queue_id, offset in offsets.items() if offset is not None}
            if known:
                table[f"{topic}@{group}"] = known
    return fastjson.encode_json({"offsetTable": table})


def _consume_tps(model: BrokerModel, group: str, topic_names: Iterable[str], now_ms: int) -> float:
    topics = [topic for topic in topic_names if group in model.offsets.readers_by_topic.get(topic, ())]
    read = (
        model.offsets.count_read_messages(group, t, model.read_queue_count(t), now_ms, _TPS_WINDOW_MS)
        for t in topics
    )
    return sum(read) * 1000 / _TPS_WINDOW_MS


def _consume_stats_body(lags: Iterable[QueueOffsetPair], consume_tps: float) -> bytes:
    tps = fastjson.format_java_double(consume_tps).encode()
    return b'{"consumeTps":' + tps + b',"offsetTable":' + object_keys.encode_object_key_map(lags) + b"}"


def _list_queue_lags(model: BrokerModel, group: str, topic: str, now_ms: int) -> Iterator[QueueOffsetPair]:
    """OffsetWrapper of each queue. As upstream, a queue without a consumer offset has 0."""
    queue_count = model.read_queue_count(topic)
    for queue_id, end in enumerate(model.offsets.end_offsets(topic, queue_count, now_ms)):
        offset_key = (group, topic, queue_id)
        committed = model.offsets.committed_offset(offset_key, queue_count, now_ms) or 0
        last_consumed_ms = model.offsets.last_consumed_ms(offset_key, queue_count, now_ms)
        wrapper = {
            "brokerOffset": end,
            "consumerOffset": committed,
            "lastTimestamp": last_consumed_ms,
            "pullOffset": committed,
        }
        yield _message_queue_json(model, topic, queue_id), wrapper


def time_spans_json(model: BrokerModel, header: broker_headers.GroupOfTopic, now_ms: int) -> bytes:
    """QueryConsumeTimeSpanBody. -1 is no message."""
    topic, group = header.topic or "", header.group or ""
    if topic not in model.topic_table.configs:
        raise TopicNotExist(f"topic[{topic}] not exist")
    spans = []
    earliest_ms = model.traffic.stored_time_ms(model.traffic.deleted_count(now_ms), now_ms)
    for queue_id, (queue, wrapper) in enumerate(_list_queue_lags(model, group, topic, now_ms)):
        end, committed, consumed_ms = (
            wrapper[key] for key in ("brokerOffset", "consumerOffset", "lastTimestamp")
        )
        oldest_ms = earliest_ms if end else -1
        spans.append(
            {
                "consumeTimeStamp": consumed_ms if end and committed else oldest_ms,
                "delayTime": 0 if committed >= end else now_ms - (consumed_ms if committed else -1),
                "maxTimeStamp": model.offsets.last_stored_ms(topic, queue_id, end, now_ms) or -1,
                "messageQueue": queue,
                "minTimeStamp": oldest_ms,
            }
        )
    return fastjson.encode_json({"consumeTimeSpanSet": spans})


def _message_queue_json(model: BrokerModel, topic: str, queue_id: int) -> dict[str, object]:
    return {"brokerName": model.spec.broker_name, "queueId": queue_id, "topic": topic}


def reset_offsets(model: BrokerModel, header: broker_headers.ResetOffset, now_ms: int) -> bytes:
    """Reset all queues to a time (negative: the end), or one queue to an offset (ResetOffsetBody)."""
    group, topic = header.group or "", header.topic or ""
    if not model.spec.is_master:
        raise RequestError("Can not reset offset in slave broker")
    require_topic_and_group(model, group, topic)
    offsets = _reset_targets(model, header, now_ms)
    for queue_id, target in offsets.items():
        model.offsets.move_offset((group, topic, queue_id), target, now_ms)
    pairs = ((_message_queue_json(model, topic, queue_id), target) for queue_id, target in offsets.items())
    return b'{"offsetTable":' + object_keys.encode_object_key_map(pairs) + b"}"


def _reset_targets(model: BrokerModel, header: broker_headers.ResetOffset, now_ms: int) -> dict[int, int]:
    """The new offset of each queue, within the offsets that it has."""
    topic, queue_count = header.topic or "", model.read_queue_count(header.topic or "")
    begins, ends = (
        model.offsets.begin_offsets(topic, queue_count, now_ms),
        model.offsets.end_offsets(topic, queue_count, now_ms),
    )
    reset_time_ms, wanted_queue_id = header.timestamp, header.queue_id
    offsets_at_time = (
        ends
        if reset_time_ms is None or reset_time_ms < 0
        else model.offsets.end_offsets(topic, queue_count, min(reset_time_ms - 1, now_ms))
    )
    targets = {queue_id: max(offsets_at_time[queue_id], begins[queue_id]) for queue_id in range(queue_count)}
    if wanted_queue_id is None or wanted_queue_id < 0:
        return targets
    if wanted_queue_id not in targets:
        raise RequestError(f"{topic} has no queue {wanted_queue_id}")
    if header.offset is None or header.offset < 0:
        return {wanted_queue_id: targets[wanted_queue_id]}
    if not begins[wanted_queue_id] <= header.offset <= ends[wanted_queue_id] + 1:
        bounds = f"[{begins[wanted_queue_id]}-{ends[wanted_queue_id]}]"
        raise RequestError(f"Target offset {header.offset} not in consume queue range {bounds}")
    return {wanted_queue_id: header.offset}


def require_topic_and_group(model: BrokerModel, group: str, topic: str) -> None:
    if topic not in model.topic_table.configs:
        raise TopicNotExist(f"Topic {topic} does not exist")
    if group not in model.group_table.configs:
        raise RequestError(f"Group {group} does not exist", ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST)


def counter_stats_json(model: BrokerModel, header: broker_headers.ViewBrokerStats, now_ms: int) -> bytes:
    """BrokerStatsData. Raises RequestError for a statistic that does not exist."""
    stats_name, key = header.stats_name or "", header.stats_key or ""
    if stats_name == _USER_PUT_COUNTER and key == model.spec.cluster_name and model.traffic.put_total(now_ms):
        return _counter_spans_json(
            lambda span_ms: model.traffic.put_total(now_ms) - model.traffic.put_total(now_ms - span_ms)
        )
    topic, _, group = key.partition("@")
    is_counted_by_name = {
        "TOPIC_PUT_NUMS": not group,
        "TOPIC_PUT_SIZE": not group,
        "GROUP_GET_NUMS": group in model.offsets.readers_by_topic.get(topic, ()),
    }
    if not (model.spec.is_master and is_counted_by_name.get(stats_name) and model.offsets.has_traffic(topic)):
        raise RequestError(f"The stats <{stats_name}> <{key}> not exist")
    if group:
        queue_count = model.read_queue_count(topic)
        return _counter_spans_json(
            lambda span_ms: model.offsets.count_read_messages(group, topic, queue_count, now_ms, span_ms)
        )
    size = model.traffic.message_size if stats_name == "TOPIC_PUT_SIZE" else 1
    return _counter_spans_json(
        lambda span_ms: size * model.offsets.count_recent_messages(topic, now_ms, span_ms)
    )


def _counter_spans_json(count: Callable[[int], int]) -> bytes:
    """BrokerStatsData of messages, or of their bytes, counted over these spans (ms)."""
    figures: dict[str, object] = {}
    for span_name, span_ms in _COUNTER_SPANS:
        span_sum = count(span_ms)
        figures[span_name] = {"avgpt": 0.0, "sum": span_sum, "tps": span_sum * 1000 / span_ms}
    return fastjson.encode_json(figures)
