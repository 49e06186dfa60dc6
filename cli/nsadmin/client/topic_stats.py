"""Topic stats: how far the queues of a topic go, asked of every broker that has it."""

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
    """One queue: `max_offset` is the next to be written; the time is ms since 1970, 0 for never written.

    `min_offset` is None for a queue of a static topic whose oldest part is on a broker that does not tell.
    """

    queue_id: int
    min_offset: int | None
    max_offset: int
    last_update_timestamp: int


class TopicStats(NamedTuple):
    """A topic on one broker, its queues in order; `put_tps` is not reported, and None, before 5.3.3."""

    queues: tuple[QueueStats, ...]
    put_tps: float | None


class BrokerTopicStats(NamedTuple):
    """What one broker of the route says: `stats` is None where it did not, and `error` says why."""

    broker_name: str
    broker_addr: str | None
    stats: TopicStats | None
    error: RocketMQError | None


def topic_stats(caller: Caller, route: TopicRoute, topic: str) -> list[BrokerTopicStats]:
    """Each broker of the route asked once: its master, or a slave where there is no master now.

    Of a static topic these are the logical queues, at the broker that takes messages for each.
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
    """The same broker with those logical queues, instead of its own ones, that it takes messages for."""
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
    """A logical queue of its parts; None where the newest of them is not known."""
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
