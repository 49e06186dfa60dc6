"""Topic statistics: the minimum and maximum offset of each queue, from every broker of the topic.

A logical queue of a static topic keeps its id while its parts change brokers. Upstream:
TopicQueueMappingDetail, TopicQueueMappingUtils, TopicStatusSubCommand.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import broker_headers, headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.json_object import JsonObject, to_integer
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer, parse_json_object
from nsadmin.client.message_queues import parse_queue_table
from nsadmin.client.results import NotFound, ServerResult
from nsadmin.client.topic_routes import TopicRoute


class QueueStats(NamedTuple):
    """The offsets of one queue.

    Attributes:
        queue_id: The queue; the logical queue for a static topic.
        min_offset: The oldest offset. None for a static topic if the oldest part's broker did not answer.
        max_offset: The offset of the next message.
        last_update_timestamp: The time of the last message in ms since 1970; 0 for an empty queue.
    """

    queue_id: int
    min_offset: int | None
    max_offset: int
    last_update_timestamp: int

    @property
    def message_count(self) -> int:
        """The number of stored messages."""
        return self.max_offset - (self.min_offset or 0)


class TopicStats(NamedTuple):
    """A topic on one broker.

    Attributes:
        queues: The queues in order.
        put_tps: Messages received per second; None before 5.3.3.
    """

    queues: tuple[QueueStats, ...]
    put_tps: float | None


class QueueTimes(NamedTuple):
    """When the messages of a broker's own queue were stored, in ms since 1970. None is unknown or never.

    Attributes:
        queue_id: The queue.
        oldest_ms: The oldest message.
        newest_ms: The newest message.
        consumed_ms: The last message that the group consumed; the oldest one if it consumed none.
        unread_age_ms: The age in ms of the oldest unread message; None if there is none.
    """

    queue_id: int
    oldest_ms: int | None
    newest_ms: int | None
    consumed_ms: int | None
    unread_age_ms: int | None


class QueuePart(NamedTuple):
    """A part of a logical queue.

    Attributes:
        broker_name: The broker.
        queue_id: The broker's own queue.
        logic_offset: The first offset in the logical queue; negative while undecided.
        start_offset: The first offset in the broker's own queue.
    """

    broker_name: str
    queue_id: int
    logic_offset: int
    start_offset: int

    def to_logical_offset(self, own_offset: int) -> int:
        """Convert an offset of the broker's own queue to an offset of the logical queue."""
        return self.logic_offset + max(0, own_offset - self.start_offset)


PartsByLogicalId = dict[int, tuple[QueuePart, ...]]
"""Logical queue id to its parts, the oldest first."""


class BrokerTopicStats(NamedTuple):
    """The answer of one broker of the route.

    Attributes:
        broker_name: The broker.
        broker_addr: The process that was asked; None if the broker has no address.
        stats: The statistics; None after an error.
        error: The error; None after a success.
    """

    broker_name: str
    broker_addr: str | None
    stats: TopicStats | None
    error: RocketMQError | None


def read_topic_stats(caller: Caller, route: TopicRoute, topic: str) -> list[BrokerTopicStats]:
    """Read the offsets of a topic's queues from each broker of a route (GET_TOPIC_STATS_INFO, 202).

    Asks the master of each broker, or a slave if there is no master now. For a static topic, also reads the
    mapping (GET_TOPIC_CONFIG, 351) and returns each logical queue at the broker that receives its messages.
    """
    own_stats = _read_own_stats(caller, route, topic)
    logical_by_broker = {queue_item.broker_name: queue_item.logical_queues for queue_item in route.queues}
    if all(logical_queues is None for logical_queues in logical_by_broker.values()):
        return own_stats
    mapped_addrs = [s.broker_addr for s in own_stats if s.broker_addr and logical_by_broker[s.broker_name]]
    mappings_by_addr = _read_hosted_queues(caller, topic, mapped_addrs)
    stats_by_queue = {
        (broker_stats.broker_name, queue_item.queue_id): queue_item
        for broker_stats in own_stats
        if broker_stats.stats is not None
        for queue_item in broker_stats.stats.queues
    }
    return [
        _logical_stats(
            broker_stats,
            logical_by_broker[broker_stats.broker_name] or (),
            mappings_by_addr.get(broker_stats.broker_addr or ""),
            stats_by_queue,
        )
        for broker_stats in own_stats
    ]


def read_stats_at(caller: Caller, topic_places: Sequence[tuple[str, str]]) -> list[ServerResult[TopicStats]]:
    """Read the offsets of topics' own queues at brokers, with one GET_TOPIC_STATS_INFO (202) each."""
    answers = caller.send_requests(
        (a, make_request(RequestCode.GET_TOPIC_STATS_INFO, headers.TopicName(t))) for a, t in topic_places
    )
    return [decode_answer(answer, _parse_topic_stats) for answer in answers]


def read_times_at(
    caller: Caller, places: Sequence[tuple[str, str, str]]
) -> list[ServerResult[list[QueueTimes]]]:
    """Read the times of a topic's queues, with one QUERY_CONSUME_TIME_SPAN (303) for each group."""
    answers = caller.send_requests(
        (addr, make_request(RequestCode.QUERY_CONSUME_TIME_SPAN, broker_headers.GroupOfTopic(topic, group)))
        for addr, topic, group in places
    )
    return [decode_answer(answer, _parse_times) for answer in answers]


_LONGEST_AGE_MS = 10**12


def _parse_times(response: RemotingCommand) -> list[QueueTimes]:
    spans = parse_json_object(response).children("consumeTimeSpanSet")
    return sorted(map(_parse_time_span, spans), key=lambda times: times.queue_id)


def _parse_time_span(span: JsonObject) -> QueueTimes:
    oldest_ms, newest_ms, consumed_ms, unread_age_ms = (
        value if (value := span.integer(key, 0)) > 0 else None
        for key in ("minTimeStamp", "maxTimeStamp", "consumeTimeStamp", "delayTime")
    )
    # A broker that does not find the next message takes -1 for its time: the age is the present time plus 1.
    # The group has read nothing, or its messages are deleted.
    if unread_age_ms is not None and unread_age_ms > _LONGEST_AGE_MS:
        unread_age_ms = None if oldest_ms is None else unread_age_ms - 1 - oldest_ms
    queue_id = span.child("messageQueue").integer("queueId")
    return QueueTimes(queue_id, oldest_ms, newest_ms, consumed_ms, unread_age_ms)


def _logical_stats(
    broker_stats: BrokerTopicStats,
    logical_ids: Collection[int],
    mappings_result: ServerResult[PartsByLogicalId] | None,
    stats_by_queue: Mapping[tuple[str, int], QueueStats],
) -> BrokerTopicStats:
    """Replace a broker's own queues by the logical queues for which it receives messages."""
    if broker_stats.stats is None or mappings_result is None:
        return broker_stats._replace(stats=broker_stats.stats and broker_stats.stats._replace(queues=()))
    if mappings_result.result is None:
        return broker_stats._replace(stats=None, error=mappings_result.error)
    stats_by_id = {
        logical_id: _combine_parts(logical_id, mappings_result.result.get(logical_id, ()), stats_by_queue)
        for logical_id in logical_ids
    }
    unknown_ids = [logical_id for logical_id, queue_stats in stats_by_id.items() if queue_stats is None]
    if unknown_ids:
        error = NotFound(f"no broker reports the offsets of the logical queues {unknown_ids}")
        return broker_stats._replace(stats=None, error=error)
    known_stats = tuple(queue_stats for queue_stats in stats_by_id.values() if queue_stats is not None)
    return broker_stats._replace(stats=broker_stats.stats._replace(queues=known_stats))


def _combine_parts(
    queue_id: int, queue_parts: Sequence[QueuePart], stats_by_queue: Mapping[tuple[str, int], QueueStats]
) -> QueueStats | None:
    """Compute a logical queue from its parts; return None if the newest part is unknown."""
    decided_parts = [queue_part for queue_part in queue_parts if queue_part.logic_offset >= 0]
    known_parts = [(part, stats_by_queue[part[:2]]) for part in decided_parts if part[:2] in stats_by_queue]
    if not known_parts or known_parts[-1][0] != decided_parts[-1]:
        return None
    first_part, oldest_stats = known_parts[0]
    last_part, newest_stats = known_parts[-1]
    has_beginning = first_part == queue_parts[0] and oldest_stats.min_offset is not None
    return QueueStats(
        queue_id,
        first_part.to_logical_offset(oldest_stats.min_offset or 0) if has_beginning else None,
        last_part.to_logical_offset(newest_stats.max_offset),
        max(part_stats.last_update_timestamp for _, part_stats in known_parts),
    )


def _read_own_stats(caller: Caller, route: TopicRoute, topic: str) -> list[BrokerTopicStats]:
    # A name server keeps a broker from which the topic was deleted, without queues.
    addrs_by_broker = {
        r.broker_name: r.any_addr for r in route.queues if r.read_queue_nums != 0 or r.write_queue_nums != 0
    }
    asked_addrs = [broker_addr for broker_addr in addrs_by_broker.values() if broker_addr is not None]
    code, header = RequestCode.GET_TOPIC_STATS_INFO, headers.TopicName(topic)
    results_by_addr = {r.addr: r for r in caller.read_each(asked_addrs, _parse_topic_stats, code, header)}
    gone = ServerResult[TopicStats](
        "", None, NotFound("the broker has queues in the route, but no address: it unregistered or expired")
    )
    results = [(n, a, results_by_addr.get(a or "", gone)) for n, a in addrs_by_broker.items()]
    return [BrokerTopicStats(name, addr, result.result, result.error) for name, addr, result in results]


def _parse_topic_stats(response: RemotingCommand) -> TopicStats:
    json_body = parse_json_object(response)
    queue_stats = (
        QueueStats(
            q.queue_id, s.integer("minOffset"), s.integer("maxOffset"), s.integer("lastUpdateTimestamp", 0)
        )
        for q, s in parse_queue_table(json_body.members.get("offsetTable"), JsonObject).items()
    )
    return TopicStats(
        tuple(sorted(queue_stats, key=lambda stats: stats.queue_id)), json_body.number("topicPutTps", None)
    )


def _read_hosted_queues(
    caller: Caller, topic: str, broker_addrs: Iterable[str]
) -> dict[str, ServerResult[PartsByLogicalId]]:
    """Read the logical queues for which brokers receive messages (GET_TOPIC_CONFIG, 351)."""
    code, header = RequestCode.GET_TOPIC_CONFIG, broker_headers.LogicalTopic(topic)
    results = caller.read_each(dict.fromkeys(broker_addrs), _parse_hosted_queues, code, header)
    return {result.addr: result for result in results}


def _parse_hosted_queues(response: RemotingCommand) -> PartsByLogicalId:
    hosted_queues = parse_json_object(response).child("mappingDetail").child("hostedQueues")
    return {
        to_integer(logical_id, "a logical queue"): tuple(
            QueuePart(
                item.text("bname"),
                item.integer("queueId"),
                item.integer("logicOffset"),
                item.integer("startOffset"),
            )
            for item in sorted(hosted_queues.children(logical_id), key=lambda item: item.integer("gen"))
        )
        for logical_id in hosted_queues.members
    }
