"""Topic statistics: the minimum and maximum offset of each queue, from every broker of the topic."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command
from nsadmin.client import static_topics
from nsadmin.client.bodies import json_object
from nsadmin.client.caller import Caller
from nsadmin.client.queues import queue_table
from nsadmin.client.results import NotFound, ServerResult
from nsadmin.client.retry import decoded
from nsadmin.client.routes import TopicRoute
from nsadmin.client.static_topics import Mappings, Part


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


class TopicStats(NamedTuple):
    """A topic on one broker.

    Attributes:
        queues: The queues in order.
        put_tps: Messages received per second; None before 5.3.3.
    """

    queues: tuple[QueueStats, ...]
    put_tps: float | None


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


def topic_stats(caller: Caller, route: TopicRoute, topic: str) -> list[BrokerTopicStats]:
    """Read the offsets of a topic's queues from each broker of a route (GET_TOPIC_STATS_INFO, 202).

    Asks the master of each broker, or a slave if there is no master now. For a static topic, also reads the
    mapping (GET_TOPIC_CONFIG, 351) and returns each logical queue at the broker that receives its messages.

    Returns:
        One BrokerTopicStats per broker, in the order of the route.
    """
    found = _own_stats(caller, route, topic)
    written = {queue.broker_name: queue.logical_queues for queue in route.queues}
    if all(queues is None for queues in written.values()):
        return found
    asked = [broker.broker_addr for broker in found if broker.broker_addr and written[broker.broker_name]]
    mappings = static_topics.hosted(caller, topic, asked)
    own = {
        (broker.broker_name, queue.queue_id): queue
        for broker in found
        if broker.stats is not None
        for queue in broker.stats.queues
    }
    return [
        _logical(broker, written[broker.broker_name] or (), mappings.get(broker.broker_addr or ""), own)
        for broker in found
    ]


def _logical(
    broker: BrokerTopicStats,
    written: Collection[int],
    mappings: ServerResult[Mappings] | None,
    own: Mapping[tuple[str, int], QueueStats],
) -> BrokerTopicStats:
    """Replace a broker's own queues by the logical queues for which it receives messages."""
    if broker.stats is None or mappings is None:
        return broker._replace(stats=broker.stats and broker.stats._replace(queues=()))
    if mappings.result is None:
        return broker._replace(stats=None, error=mappings.error)
    queues = {number: _of_parts(number, mappings.result.get(number, ()), own) for number in written}
    missing = [number for number, queue in queues.items() if queue is None]
    if missing:
        error = NotFound(f"nobody tells how far the logical queues {missing} go")
        return broker._replace(stats=None, error=error)
    known = tuple(queue for queue in queues.values() if queue is not None)
    return broker._replace(stats=broker.stats._replace(queues=known))


def _of_parts(
    queue_id: int, parts: Sequence[Part], own: Mapping[tuple[str, int], QueueStats]
) -> QueueStats | None:
    """Compute a logical queue from its parts; return None if the newest part is unknown."""
    decided = [part for part in parts if part.logic_offset >= 0]
    known = [(part, own[part[:2]]) for part in decided if part[:2] in own]
    if not known or known[-1][0] != decided[-1]:
        return None
    first, oldest = known[0]
    last, newest = known[-1]
    begins = first == parts[0] and oldest.min_offset is not None
    return QueueStats(
        queue_id,
        first.logical(oldest.min_offset or 0) if begins else None,
        last.logical(newest.max_offset),
        max(stats.last_update_timestamp for _, stats in known),
    )


def _own_stats(caller: Caller, route: TopicRoute, topic: str) -> list[BrokerTopicStats]:
    addrs = {queue.broker_name: queue.any_addr for queue in route.queues}
    asked = [addr for addr in addrs.values() if addr is not None]
    ext = headers.write(headers.TopicName(topic))
    answers = {
        answer.addr: decoded(answer, _topic_stats)
        for answer in caller.ask_each(asked, RequestCode.GET_TOPIC_STATS_INFO, ext)
    }
    gone = ServerResult[TopicStats]("", None, NotFound("this broker has left: it has queues and no address"))
    found = [(name, addr, answers.get(addr or "", gone)) for name, addr in addrs.items()]
    return [BrokerTopicStats(name, addr, answer.result, answer.error) for name, addr, answer in found]


def _topic_stats(command: Command) -> TopicStats:
    body = json_object(command)
    queues = (
        QueueStats(
            queue.queue_id,
            int(stats.get("minOffset", 0)),
            int(stats.get("maxOffset", 0)),
            int(stats.get("lastUpdateTimestamp", 0)),
        )
        for queue, stats in queue_table(body.get("offsetTable")).items()
    )
    tps = body.get("topicPutTps")
    return TopicStats(tuple(sorted(queues)), None if tps is None else float(tps))
