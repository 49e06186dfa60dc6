"""Topic stats: how far the queues of a topic go, asked of every broker that has it."""

from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command
from nsadmin.client.bodies import json_object
from nsadmin.client.caller import Caller
from nsadmin.client.queues import queue_table
from nsadmin.client.results import NotFound, ServerResult
from nsadmin.client.retry import decoded
from nsadmin.client.routes import TopicRoute


class QueueStats(NamedTuple):
    """One queue: `max_offset` is the next to be written; the time is ms since 1970, 0 for never written."""

    queue_id: int
    min_offset: int
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
    """Each broker of the route asked once: its master, or a slave where there is no master now."""
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
