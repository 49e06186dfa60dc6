"""The report of a consumer client about itself: queues, rates, settings."""

from typing import NamedTuple

from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.json_object import JsonObject
from nsadmin.client.connection.response_bodies import parse_json_object
from nsadmin.client.consumers.connected_clients import TopicSubscription, parse_subscription
from nsadmin.client.message_queues import MessageQueue, parse_queue_table


class RunningQueue(NamedTuple):
    """A queue that a client consumes from (ProcessQueueInfo). Times are ms since 1970; None for never.

    Counts are None if the client does not report them.

    Attributes:
        queue: The queue.
        consumer_offset: The next message to consume, as the client knows it.
        cached_msg_count: The messages that the client fetched but did not consume.
        cached_msg_size_in_mib: Their size in MiB.
        last_pull_ms: The last pull.
        last_consume_ms: The last consumption.
        is_locked: Whether the client holds the lock of the queue; ordered consumers lock queues.
        is_dropped: Whether the client gave the queue up.
        consuming_msg_count: The messages that an ordered consumer has taken from its cache.
    """

    queue: MessageQueue
    consumer_offset: int | None
    cached_msg_count: int | None
    cached_msg_size_in_mib: int | None
    last_pull_ms: int | None
    last_consume_ms: int | None
    is_locked: bool
    is_dropped: bool
    consuming_msg_count: int | None = None


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
    wait_ack_count: int | None
    last_pop_ms: int | None
    is_dropped: bool


class ConsumeStatus(NamedTuple):
    """The consumption of one topic by one client: `*_rt` in ms per message or pull, `*_tps` per second.

    `consume_failed_msgs` counts the failed messages of the last hour. None is not reported.
    """

    consume_ok_tps: float | None
    consume_failed_tps: float | None
    consume_rt: float | None
    pull_tps: float | None
    pull_rt: float | None
    consume_failed_msgs: float | None = None


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
    """Parse a ConsumerRunningInfo body of a client in any language."""
    json_body = parse_json_object(response)
    subscriptions = (parse_subscription(s.text("topic"), s) for s in json_body.children("subscriptionSet"))
    properties = json_body.child("properties")
    queues = parse_queue_table(json_body.members.get("mqTable"), JsonObject)
    pop_queues = parse_queue_table(json_body.members.get("mqPopTable"), JsonObject)
    return RunningInfo(
        {name: properties.text(name, "") for name in sorted(properties.members)},
        tuple(sorted(subscriptions)),
        tuple(_parse_running_queue(queue, state) for queue, state in queues.items()),
        {topic: _parse_status(status) for topic, status in json_body.child("statusTable").sorted_children()},
        json_body.text("jstack", None),
        tuple(_parse_pop_queue(queue, state) for queue, state in pop_queues.items()),
    )


def _parse_pop_queue(message_queue: MessageQueue, state: JsonObject) -> PopQueue:
    return PopQueue(
        message_queue,
        state.integer("waitAckCount", None),
        state.integer("lastPopTimestamp", 0) or None,
        _is_dropped(state),
    )


def _parse_running_queue(message_queue: MessageQueue, state: JsonObject) -> RunningQueue:
    return RunningQueue(
        message_queue,
        state.integer("commitOffset", None),
        state.integer("cachedMsgCount", None),
        state.integer("cachedMsgSizeInMiB", None),
        state.integer("lastPullTimestamp", 0) or None,
        state.integer("lastConsumeTimestamp", 0) or None,
        state.flag("locked"),
        _is_dropped(state),
        state.integer("transactionMsgCount", None),
    )


def _is_dropped(state: JsonObject) -> bool:
    # Java spells the member "droped", Go "dropped".
    return state.flag("droped", state.flag("dropped"))


def _parse_status(status: JsonObject) -> ConsumeStatus:
    member_names = ("consumeOKTPS", "consumeFailedTPS", "consumeRT", "pullTPS", "pullRT", "consumeFailedMsgs")
    return ConsumeStatus(*(status.number(member_name, None) for member_name in member_names))
