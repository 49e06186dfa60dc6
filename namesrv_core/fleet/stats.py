"""The statistics of a simulated broker: its queues and consumers have shares of its traffic, so all agree."""

from collections.abc import Callable, Iterable, Iterator

from namesrv_core.errors import QueryNotFound, RequestError, ResponseCode, TopicNotExist
from namesrv_core.fleet.broker_model import BrokerModel
from namesrv_core.fleet.offsets import group_delay_ms
from namesrv_core.protocol import broker_headers, fastjson, object_keys

_COUNTER_SPANS = (("statsMinute", 60_000), ("statsHour", 3_600_000), ("statsDay", 86_400_000))
_TPS_WINDOW_MS = 10_000
_USER_PUT_COUNTER = "BROKER_PUT_NUMS_WITHOUT_SYSTEM_TOPIC"

QueueOffsetPair = tuple[dict[str, object], dict[str, int]]
"""A MessageQueue and its OffsetWrapper."""


def topic_stats_json(broker_model: BrokerModel, topic: str, now_ms: int) -> bytes:
    """TopicStatsTable."""
    topic_config_json = broker_model.topic_table.configs.get(topic)
    if topic_config_json is None:
        raise TopicNotExist(f"topic[{topic}] not exist")
    queue_count = max(topic_config_json["readQueueNums"], topic_config_json["writeQueueNums"])
    end_offsets, begin_offsets = (
        broker_model.offsets.end_offsets(topic, queue_count, now_ms),
        broker_model.offsets.begin_offsets(topic, queue_count, now_ms),
    )
    offset_table_json = object_keys.encode_object_key_map(
        (
            _message_queue_json(broker_model, topic, queue_id),
            {
                "lastUpdateTimestamp": now_ms if end_offset else 0,
                "maxOffset": end_offset,
                "minOffset": begin_offset,
            },
        )
        for queue_id, (begin_offset, end_offset) in enumerate(zip(begin_offsets, end_offsets, strict=True))
    )
    put_tps = fastjson.format_java_double(
        broker_model.offsets.count_recent_messages(topic, now_ms, _TPS_WINDOW_MS) * 1000 / _TPS_WINDOW_MS
    )
    return b'{"offsetTable":' + offset_table_json + b',"topicPutTps":' + put_tps.encode() + b"}"


def consume_stats_json(broker_model: BrokerModel, group: str, topic: str | None, now_ms: int) -> bytes:
    """ConsumeStats of a group for all its topics or for one. An unknown group has consumed nothing."""
    read_topics = [
        read_topic
        for read_topic in broker_model.offsets.topics_of_group(group)
        if topic in (None, read_topic) and read_topic in broker_model.topic_table.configs
    ]
    queue_lags = (
        queue_lag
        for read_topic in read_topics
        for queue_lag in _list_queue_lags(broker_model, group, read_topic, now_ms)
    )
    return _consume_stats_body(queue_lags, _consume_tps(broker_model, group, read_topics, now_ms))


def consume_stats_list_json(broker_model: BrokerModel, only_ordered: bool, now_ms: int) -> bytes:
    """ConsumeStatsList: every group on every queue. As upstream, `pullOffset` is 0 here."""
    group_bodies, total_lag = [], 0
    for group in broker_model.group_table.configs:
        topic_bodies = []
        for topic in broker_model.offsets.topics_of_group(group):
            if topic in broker_model.topic_table.configs and (
                broker_model.topic_table.configs[topic]["order"] or not only_ordered
            ):
                queue_lags = [
                    (message_queue, {**offset_wrapper, "pullOffset": 0})
                    for message_queue, offset_wrapper in _list_queue_lags(broker_model, group, topic, now_ms)
                ]
                total_lag += sum(
                    offset_wrapper["brokerOffset"] - offset_wrapper["consumerOffset"]
                    for _, offset_wrapper in queue_lags
                )
                topic_bodies.append(
                    _consume_stats_body(queue_lags, _consume_tps(broker_model, group, [topic], now_ms))
                )
        group_bodies.append(b"{" + fastjson.encode_json(group) + b":[" + b",".join(topic_bodies) + b"]}")
    return b'{"brokerAddr":%s,"consumeStatsList":[%s],"totalDiff":%d,"totalInflightDiff":0}' % (
        fastjson.encode_json(broker_model.broker_addr),
        b",".join(group_bodies),
        total_lag,
    )


def all_offsets_json(broker_model: BrokerModel, now_ms: int) -> bytes:
    """ConsumerOffsetSerializeWrapper: the committed offsets of all groups."""
    offset_table: dict[str, dict[int, int]] = {}
    for group in broker_model.group_table.configs:
        for topic in broker_model.offsets.topics_of_group(group):
            queue_count = broker_model.read_queue_count(topic)
            offsets_by_queue = {
                queue_id: broker_model.offsets.committed_offset((group, topic, queue_id), queue_count, now_ms)
                for queue_id in range(queue_count)
            }
            known_offsets = {
                queue_id: offset for queue_id, offset in offsets_by_queue.items() if offset is not None
            }
            if known_offsets:
                offset_table[f"{topic}@{group}"] = known_offsets
    return fastjson.encode_json({"offsetTable": offset_table})


def _consume_tps(broker_model: BrokerModel, group: str, topic_names: Iterable[str], now_ms: int) -> float:
    """Messages that the group consumes per second."""
    read_topics = [
        topic for topic in topic_names if group in broker_model.offsets.readers_by_topic.get(topic, ())
    ]
    return (
        sum(
            broker_model.offsets.count_recent_messages(topic, now_ms - group_delay_ms(group), _TPS_WINDOW_MS)
            for topic in read_topics
        )
        * 1000
        / _TPS_WINDOW_MS
    )


def _consume_stats_body(queue_lags: Iterable[QueueOffsetPair], consume_tps: float) -> bytes:
    """ConsumeStats."""
    tps_text = fastjson.format_java_double(consume_tps).encode()
    return (
        b'{"consumeTps":'
        + tps_text
        + b',"offsetTable":'
        + object_keys.encode_object_key_map(queue_lags)
        + b"}"
    )


def _list_queue_lags(
    broker_model: BrokerModel, group: str, topic: str, now_ms: int
) -> Iterator[QueueOffsetPair]:
    """OffsetWrapper of each queue. As upstream, a queue without a committed offset has 0."""
    queue_count = broker_model.read_queue_count(topic)
    for queue_id, end_offset in enumerate(broker_model.offsets.end_offsets(topic, queue_count, now_ms)):
        offset_key = (group, topic, queue_id)
        committed_offset = broker_model.offsets.committed_offset(offset_key, queue_count, now_ms) or 0
        last_consumed_ms = broker_model.offsets.last_consumed_ms(offset_key, queue_count, now_ms)
        offset_wrapper = {
            "brokerOffset": end_offset,
            "consumerOffset": committed_offset,
            "lastTimestamp": last_consumed_ms,
            "pullOffset": committed_offset,
        }
        yield _message_queue_json(broker_model, topic, queue_id), offset_wrapper


def _message_queue_json(broker_model: BrokerModel, topic: str, queue_id: int) -> dict[str, object]:
    return {"brokerName": broker_model.spec.broker_name, "queueId": queue_id, "topic": topic}


def require_committed_offset(
    broker_model: BrokerModel, group: str, topic: str, queue_id: int, now_ms: int
) -> int:
    """The group's committed offset. Raises QueryNotFound if there is none."""
    offset = broker_model.offsets.committed_offset(
        (group, topic, queue_id), broker_model.read_queue_count(topic), now_ms
    )
    if offset is None:
        raise QueryNotFound("Not found, maybe this group consumer boot first")
    return offset


def queue_end_offset(
    broker_model: BrokerModel, request_header: broker_headers.QueueOffset, time_ms: int
) -> int:
    """The end of a queue at that time. As upstream, 0 for an unknown queue."""
    topic, queue_count = request_header.topic or "", broker_model.read_queue_count(request_header.topic or "")
    return (
        broker_model.offsets.end_offsets(topic, queue_count, time_ms)[request_header.queue_id]
        if 0 <= request_header.queue_id < queue_count
        else 0
    )


def queue_begin_offset(
    broker_model: BrokerModel, request_header: broker_headers.QueueOffset, now_ms: int
) -> int:
    """The offset of the oldest message of a queue. As upstream, 0 for an unknown queue."""
    topic, queue_count = request_header.topic or "", broker_model.read_queue_count(request_header.topic or "")
    return (
        broker_model.offsets.begin_offsets(topic, queue_count, now_ms)[request_header.queue_id]
        if 0 <= request_header.queue_id < queue_count
        else 0
    )


def reset_offsets(
    broker_model: BrokerModel, request_header: broker_headers.ResetOffset, now_ms: int
) -> bytes:
    """Reset all queues to a time (negative: the end), or one queue to an offset (ResetOffsetBody)."""
    group, topic = request_header.group or "", request_header.topic or ""
    if not broker_model.spec.is_master:
        raise RequestError("Can not reset offset in slave broker")
    require_topic_and_group(broker_model, group, topic)
    offsets_by_queue = _reset_targets(broker_model, request_header, now_ms)
    for queue_id, target_offset in offsets_by_queue.items():
        broker_model.offsets.move_offset((group, topic, queue_id), target_offset, now_ms)
    queue_offset_pairs = (
        (_message_queue_json(broker_model, topic, queue_id), target_offset)
        for queue_id, target_offset in offsets_by_queue.items()
    )
    return b'{"offsetTable":' + object_keys.encode_object_key_map(queue_offset_pairs) + b"}"


def _reset_targets(
    broker_model: BrokerModel, request_header: broker_headers.ResetOffset, now_ms: int
) -> dict[int, int]:
    """The new offset of each queue, within the offsets that it has."""
    topic, queue_count = request_header.topic or "", broker_model.read_queue_count(request_header.topic or "")
    begin_offsets, end_offsets = (
        broker_model.offsets.begin_offsets(topic, queue_count, now_ms),
        broker_model.offsets.end_offsets(topic, queue_count, now_ms),
    )
    reset_time_ms, wanted_queue_id = request_header.timestamp, request_header.queue_id
    offsets_at_time = (
        end_offsets
        if reset_time_ms is None or reset_time_ms < 0
        else broker_model.offsets.end_offsets(topic, queue_count, min(reset_time_ms - 1, now_ms))
    )
    target_offsets = {
        queue_id: max(offsets_at_time[queue_id], begin_offsets[queue_id]) for queue_id in range(queue_count)
    }
    if wanted_queue_id is None or wanted_queue_id < 0:
        return target_offsets
    if wanted_queue_id not in target_offsets:
        raise RequestError(f"{topic} has no queue {wanted_queue_id}")
    if request_header.offset is None or request_header.offset < 0:
        return {wanted_queue_id: target_offsets[wanted_queue_id]}
    if not begin_offsets[wanted_queue_id] <= request_header.offset <= end_offsets[wanted_queue_id] + 1:
        offset_range = f"[{begin_offsets[wanted_queue_id]}-{end_offsets[wanted_queue_id]}]"
        raise RequestError(f"Target offset {request_header.offset} not in consume queue range {offset_range}")
    return {wanted_queue_id: request_header.offset}


def require_topic_and_group(broker_model: BrokerModel, group: str, topic: str) -> None:
    """Raise the error of 5.5.0 if the topic or the group does not exist."""
    if topic not in broker_model.topic_table.configs:
        raise TopicNotExist(f"Topic {topic} does not exist")
    if group not in broker_model.group_table.configs:
        raise RequestError(f"Group {group} does not exist", ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST)


def counter_stats_json(broker_model: BrokerModel, stats_name: str, stats_key: str, now_ms: int) -> bytes:
    """BrokerStatsData. Raises RequestError for a statistic that does not exist."""
    if (
        stats_name == _USER_PUT_COUNTER
        and stats_key == broker_model.spec.cluster_name
        and broker_model.traffic.put_total(now_ms)
    ):
        return _counter_spans_json(
            lambda span_ms: (
                broker_model.traffic.put_total(now_ms) - broker_model.traffic.put_total(now_ms - span_ms)
            )
        )
    topic, _, group = stats_key.partition("@")
    is_counted_by_name = {
        "TOPIC_PUT_NUMS": not group,
        "GROUP_GET_NUMS": group in broker_model.offsets.readers_by_topic.get(topic, ()),
    }
    if not (
        broker_model.spec.is_master
        and is_counted_by_name.get(stats_name)
        and broker_model.offsets.has_traffic(topic)
    ):
        raise RequestError(f"The stats <{stats_name}> <{stats_key}> not exist")
    counted_until_ms = now_ms - group_delay_ms(group) if group else now_ms
    return _counter_spans_json(
        lambda span_ms: broker_model.offsets.count_recent_messages(topic, counted_until_ms, span_ms)
    )


def _counter_spans_json(count_messages: Callable[[int], int]) -> bytes:
    """BrokerStatsData of messages counted over these spans (ms)."""
    span_figures: dict[str, object] = {}
    for span_name, span_ms in _COUNTER_SPANS:
        message_count = count_messages(span_ms)
        span_figures[span_name] = {"avgpt": 0.0, "sum": message_count, "tps": message_count * 1000 / span_ms}
    return fastjson.encode_json(span_figures)
