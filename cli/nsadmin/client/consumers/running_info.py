"""The report of a consumer client about itself: queues, rates, settings."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.response_bodies import parse_json_object
from nsadmin.client.consumers.client_connections import parse_subscription
from nsadmin.client.consumers.connected_clients import TopicSubscription
from nsadmin.client.message_queues import MessageQueue, parse_queue_table


class RunningQueue(NamedTuple):
    """A queue that a client consumes from (ProcessQueueInfo). Times are ms since 1970; None for never.

    Attributes:
        queue: The queue.
        commit_offset: The next message to consume, as the client knows it.
        cached_msg_count: The messages that the client fetched but did not consume.
        cached_msg_size_in_mib: Their size in MiB.
        last_pull_ms: The last pull.
        last_consume_ms: The last consumption.
        is_locked: Whether the client holds the lock of the queue; ordered consumers lock queues.
        is_dropped: Whether the client gave the queue up.
    """

    queue: MessageQueue
    commit_offset: int
    cached_msg_count: int
    cached_msg_size_in_mib: int
    last_pull_ms: int | None
    last_consume_ms: int | None
    is_locked: bool
    is_dropped: bool


ALL_QUEUES = -1
"""The queue id of a client that pops messages from any queue of a broker."""


class PopQueue(NamedTuple):
    """A queue that a client pops from (PopProcessQueueInfo).

    Attributes:
        queue: The queue; its id is ALL_QUEUES if clients share all queues of the broker.
        wait_ack_count: The messages that the client popped but did not acknowledge.
        last_pop_ms: The last pop in ms since 1970; None for never.
        is_dropped: Whether the client gave the queue up.
    """

    queue: MessageQueue
    wait_ack_count: int
    last_pop_ms: int | None
    is_dropped: bool


class ConsumeStatus(NamedTuple):
    """The consumption of one topic by one client: `*_rt` in ms per message or pull, `*_tps` per second.

    `consume_failed_msgs` counts the failed messages of the last hour.
    """

    consume_ok_tps: float
    consume_failed_tps: float
    consume_rt: float
    pull_tps: float
    pull_rt: float
    consume_failed_msgs: float = 0


class RunningInfo(NamedTuple):
    """The runtime state of a client (ConsumerRunningInfo).

    Attributes:
        properties: All settings of the client.
        subscriptions: Its subscriptions, in order.
        queues: The queues that it pulls from.
        status_by_topic: Topic to its consumption.
        jstack: A dump of its threads, if requested; else None.
        pop_queues: The queues that it pops from.
    """

    properties: dict[str, str]
    subscriptions: tuple[TopicSubscription, ...]
    queues: tuple[RunningQueue, ...]
    status_by_topic: dict[str, ConsumeStatus]
    jstack: str | None
    pop_queues: tuple[PopQueue, ...] = ()

    @property
    def held_queues(self) -> list[MessageQueue]:
        """All queues that the client pulls or pops from."""
        return [item.queue for item in self.queues] + [item.queue for item in self.pop_queues]

    @property
    def is_orderly(self) -> bool:
        """Whether the client consumes in order."""
        return self.properties.get("PROP_CONSUMEORDERLY", "").lower() == "true"

    @property
    def started_at_ms(self) -> int | None:
        """The start time of the client in ms since 1970; None if not reported."""
        text = self.properties.get("PROP_CONSUMER_START_TIMESTAMP", "")
        return int(text) if text.isdecimal() else None


def parse_running_info(response: RemotingCommand) -> RunningInfo:
    """Parse a ConsumerRunningInfo body of a client in any language.

    Args:
        response: The answer to GET_CONSUMER_RUNNING_INFO (307).

    Raises:
        ValueError, TypeError, AttributeError, KeyError: The body is not a ConsumerRunningInfo.
    """
    json_body = parse_json_object(response)
    subscriptions = (
        parse_subscription(json_record["topic"], json_record)
        for json_record in json_body.get("subscriptionSet") or ()
    )
    return RunningInfo(
        {
            property_name: str(property_value)
            for property_name, property_value in sorted((json_body.get("properties") or {}).items())
        },
        tuple(sorted(subscriptions)),
        tuple(
            _parse_running_queue(message_queue, json_record)
            for message_queue, json_record in parse_queue_table(json_body.get("mqTable")).items()
        ),
        {
            topic: _parse_status(json_record)
            for topic, json_record in sorted((json_body.get("statusTable") or {}).items())
        },
        json_body.get("jstack"),
        tuple(
            _parse_pop_queue(message_queue, json_record)
            for message_queue, json_record in parse_queue_table(json_body.get("mqPopTable")).items()
        ),
    )


def _parse_pop_queue(message_queue: MessageQueue, queue_record: Mapping[str, Any]) -> PopQueue:
    return PopQueue(
        message_queue,
        int(queue_record.get("waitAckCount") or 0),
        queue_record.get("lastPopTimestamp") or None,
        bool(queue_record.get("droped", queue_record.get("dropped"))),
    )


def _parse_running_queue(message_queue: MessageQueue, queue_record: Mapping[str, Any]) -> RunningQueue:
    return RunningQueue(
        message_queue,
        int(queue_record.get("commitOffset") or 0),
        int(queue_record.get("cachedMsgCount") or 0),
        int(queue_record.get("cachedMsgSizeInMiB") or 0),
        queue_record.get("lastPullTimestamp") or None,
        queue_record.get("lastConsumeTimestamp") or None,
        bool(queue_record.get("locked")),
        # Java spells the member "droped", Go "dropped".
        bool(queue_record.get("droped", queue_record.get("dropped"))),
    )


def _parse_status(status_record: Mapping[str, Any]) -> ConsumeStatus:
    member_names = ("consumeOKTPS", "consumeFailedTPS", "consumeRT", "pullTPS", "pullRT", "consumeFailedMsgs")
    return ConsumeStatus(*(float(status_record.get(member_name) or 0) for member_name in member_names))
