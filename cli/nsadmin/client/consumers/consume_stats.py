"""Owns the records of GET_CONSUME_STATS and GET_BROKER_CONSUME_STATS: the progress of groups on queues."""

from typing import NamedTuple

from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.json_object import JsonObject
from nsadmin.client.connection.response_bodies import parse_json_object
from nsadmin.client.message_queues import MessageQueue, parse_queue_table


class GroupQueueLag(NamedTuple):
    """A group on one queue. All offsets count messages from 0.

    Attributes:
        group: The consumer group.
        queue: The queue.
        broker_offset: The offset of the next message that the broker stores.
        consumer_offset: The committed offset: the next message to consume. None if never committed.
        pull_offset: The offset of the next message to deliver. None before 5.1.
        last_consumed_ms: The store time of the last consumed message, in ms since 1970; None if unknown.
    """

    group: str
    queue: MessageQueue
    broker_offset: int
    consumer_offset: int | None
    pull_offset: int | None
    last_consumed_ms: int | None

    @property
    def lag_count(self) -> int | None:
        """The number of unconsumed messages; None if the group never committed an offset."""
        return None if self.consumer_offset is None else self.broker_offset - self.consumer_offset

    @property
    def inflight_count(self) -> int | None:
        """The number of delivered, unacknowledged messages; None if unknown (before 5.1)."""
        if self.consumer_offset is None or self.pull_offset is None:
            return None
        return self.pull_offset - self.consumer_offset


class ConsumeStats(NamedTuple):
    """One group on one broker.

    Attributes:
        consume_tps: Messages consumed per second.
        queues: One GroupQueueLag per queue, in order.
    """

    consume_tps: float
    queues: tuple[GroupQueueLag, ...]


def parse_group_stats(group: str, response: RemotingCommand) -> ConsumeStats:
    """Parse the body of GET_CONSUME_STATS (208).

    Args:
        group: The consumer group.
        response: The response of a broker.
    """
    json_body = parse_json_object(response)
    return ConsumeStats(
        json_body.number("consumeTps", 0.0), _parse_lags(group, json_body.members.get("offsetTable"))
    )


def _parse_lags(group: str, offset_table: object) -> tuple[GroupQueueLag, ...]:
    return tuple(
        GroupQueueLag(
            group,
            queue,
            offsets.integer("brokerOffset"),
            offsets.integer("consumerOffset"),
            offsets.integer("pullOffset", None),
            offsets.integer("lastTimestamp", 0) or None,
        )
        for queue, offsets in parse_queue_table(offset_table, JsonObject).items()
    )


def parse_broker_stats(response: RemotingCommand) -> ConsumeStats:
    """Parse the body of GET_BROKER_CONSUME_STATS (317): all groups, without their rates.

    Args:
        response: The response of a broker.
    """
    queue_lags = [
        queue_lag._replace(pull_offset=None)
        for stats_by_group in parse_json_object(response).children("consumeStatsList")
        for group in stats_by_group.members
        for stats in stats_by_group.children(group)
        for queue_lag in _parse_lags(group, stats.members.get("offsetTable"))
    ]
    return ConsumeStats(
        0.0,
        tuple(
            sorted(
                queue_lags, key=lambda queue_lag: (queue_lag.queue.topic, queue_lag.group, queue_lag.queue)
            )
        ),
    )
