"""`admin.delayed_messages`: messages that brokers keep for later delivery, and their cancellation."""

from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import NoPermission, NotSupported, RocketMQError, TopicNotExist
from namesrv_core.protocol import broker_headers
from namesrv_core.protocol.codes import RequestCode
from nsadmin.client.brokers.broker_configs import BrokerConfigs
from nsadmin.client.connection.caller import Caller
from nsadmin.client.messages.message_queries import LocatedMessage
from nsadmin.client.messages.message_sender import PRODUCER_GROUP
from nsadmin.client.messages.queue_reader import QueueReader
from nsadmin.client.results import ClientClosed, NotApplied, NotFound, is_not_found
from nsadmin.client.topic_routes import QueueRoute
from nsadmin.client.topics.topics import SYSTEM_TOPIC_PREFIX, TopicAdmin

LEVEL_TOPIC, TIMER_TOPIC = "SCHEDULE_TOPIC_XXXX", "rmq_sys_wheel_timer"
HALF_TOPIC = "RMQ_SYS_TRANS_HALF_TOPIC"
DEFAULT_DELAY_LEVELS = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"
"""The default of messageDelayLevel (MessageStoreConfig upstream)."""
_MS_PER_UNIT = {"s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_TIMER_WINDOW_MS = 5 * 86_400_000
"""Brokers write a timed message again every 2 days at most (timerRollWindowSlot), so older copies are old."""


class DelayedMessage(NamedTuple):
    """A message that a broker delivers later.

    Attributes:
        located_message: The message and its broker. Its properties name the topic that it is for.
        deliver_ms: When the broker delivers it, in ms since 1970.
        delay_level: The delay level; None for a timed message.
        is_cancelled: Whether the message was recalled.
    """

    located_message: LocatedMessage
    deliver_ms: int
    delay_level: int | None
    is_cancelled: bool = False

    @property
    def topic(self) -> str | None:
        """The topic that the message is for."""
        return self.located_message.message.properties.get("REAL_TOPIC")


class DelayedMessages:
    """`admin.delayed_messages`: messages for later delivery."""

    def __init__(
        self, caller: Caller, topics: TopicAdmin, broker_configs: BrokerConfigs, queue_reader: QueueReader
    ) -> None:
        self._caller, self._topics = caller, topics
        self._broker_configs, self._queue_reader = broker_configs, queue_reader

    def list_pending(
        self, topic: str | None, now_ms: int
    ) -> tuple[list[DelayedMessage], dict[str, RocketMQError]]:
        """Return the messages of a topic that are not delivered yet, in the order of their delivery.

        Reads the delay levels (GET_BROKER_CONFIG, 26), and the queues of delayed and timed messages
        (PULL_MESSAGE, 11), from the masters of the topic.

        Args:
            topic: The topic; None for all topics except system topics, in the order of topics.
            now_ms: The present time in ms since 1970.

        Returns:
            The messages, also cancelled ones; and the errors by broker name.

        Raises:
            TopicNotExist: The topic has no route.
            NotFound: No broker is registered.
        """
        pending: list[DelayedMessage] = []
        errors: dict[str, RocketMQError] = {}
        try:
            queue_routes = self._topics.get_route(topic or LEVEL_TOPIC).queues
        except TopicNotExist:
            if topic is not None:
                raise
            # Each broker has the topic of the delay levels.
            raise NotFound("no broker is registered") from None
        for queue_route in queue_routes:
            try:
                pending += self._list_leveled(topic, queue_route, now_ms)
                pending += self._list_timed(topic, queue_route, now_ms)
            except ClientClosed:
                raise
            except RocketMQError as error:
                errors[queue_route.broker_name] = error
        return sorted(pending, key=lambda delayed: (delayed.topic or "", delayed.deliver_ms)), errors

    def cancel_message(self, delayed_message: DelayedMessage, broker_addr: str) -> None:
        """Cancel a timed message (RECALL_MESSAGE, 370; brokers since 5.4).

        Args:
            delayed_message: The message.
            broker_addr: The master of its broker.

        Raises:
            NotApplied: The message has a delay level, or is cancelled already.
            RequestError: The broker is older (code 3), or recallMessageEnable is not true (code 16).
            RocketMQError: The broker refused or did not answer.
        """
        _require_cancellable(delayed_message)
        recall_header = broker_headers.RecallMessage(
            PRODUCER_GROUP, delayed_message.topic, build_recall_handle(delayed_message)
        )
        self._caller.read_one(broker_addr, lambda _: True, RequestCode.RECALL_MESSAGE, recall_header).value()

    def preview_cancel(self, delayed_message: DelayedMessage, broker_addr: str) -> None:
        """Raise the error with which `cancel_message` would be refused, as far as settings tell it.

        Args:
            delayed_message: The message.
            broker_addr: The master of its broker (GET_BROKER_CONFIG, 26).
        """
        _require_cancellable(delayed_message)
        [config] = self._broker_configs.get_each([broker_addr])
        recall_setting = config.value().get("recallMessageEnable")
        if recall_setting is None:
            raise NotSupported("it has no setting recallMessageEnable")
        if recall_setting != "true":
            raise NoPermission(f"recallMessageEnable={recall_setting}")

    def _list_leveled(
        self, topic: str | None, queue_route: QueueRoute, now_ms: int
    ) -> Iterator[DelayedMessage]:
        [config] = self._broker_configs.get_each([queue_route.any_addr or ""])
        level_text = config.value().get("messageDelayLevel") or DEFAULT_DELAY_LEVELS
        for level, duration_ms in enumerate(parse_delay_levels(level_text), 1):
            begin_ms = now_ms - duration_ms
            for located_message in self._read_queue(LEVEL_TOPIC, queue_route, level - 1, begin_ms):
                deliver_ms = located_message.message.store_timestamp + duration_ms
                is_of_topic = _is_wanted(topic, located_message.message.properties.get("REAL_TOPIC"))
                if is_of_topic and deliver_ms > now_ms:
                    yield DelayedMessage(located_message, deliver_ms, level)

    def _list_timed(self, topic: str | None, queue_route: QueueRoute, now_ms: int) -> list[DelayedMessage]:
        try:
            messages = list(self._read_queue(TIMER_TOPIC, queue_route, 0, now_ms - _TIMER_WINDOW_MS))
        except RocketMQError as error:
            if is_not_found(error):
                # Brokers before 5.0 have no timed messages.
                return []
            raise
        return select_timed(topic, messages, now_ms)

    def _read_queue(
        self, topic: str, queue_route: QueueRoute, queue_id: int, begin_ms: int
    ) -> Iterator[LocatedMessage]:
        # The route is that of another topic.
        queue_count = queue_id + 1
        route = queue_route._replace(
            perm=6, read_queue_nums=queue_count, write_queue_nums=queue_count, logical_queues=None
        )
        [result] = self._queue_reader.get_spans(topic, [route], queue_id=queue_id, begin_ms=max(0, begin_ms))
        if result.queue_span is None:
            raise result.error or NotFound(topic)
        for message_page in self._queue_reader.read_pages(topic, [result.queue_span]):
            if message_page.error is not None:
                raise message_page.error
            for message in message_page.messages:
                yield LocatedMessage(queue_route.broker_name, message)


def _require_cancellable(delayed_message: DelayedMessage) -> None:
    if delayed_message.delay_level is not None:
        raise NotApplied("brokers cannot cancel a message that is delayed by a level, only a timed one")
    if delayed_message.is_cancelled:
        raise NotApplied("the message is cancelled already")


def parse_delay_levels(level_text: str) -> list[int]:
    """Parse the setting messageDelayLevel."""
    return [int(word[:-1]) * _MS_PER_UNIT[word[-1]] for word in level_text.split()]


def _is_wanted(topic: str | None, real_topic: str | None) -> bool:
    if topic is not None or real_topic is None:
        return real_topic == topic
    # Brokers use the timer for POP, too.
    return not real_topic.lower().startswith(SYSTEM_TOPIC_PREFIX)


def select_timed(topic: str | None, messages: Sequence[LocatedMessage], now_ms: int) -> list[DelayedMessage]:
    """Return the timed messages of a topic, or of all for None, that are not delivered yet, each once."""
    deleted_keys = {m.message.properties.get("TIMER_DEL_UNIQKEY", "") for m in messages}
    timed_by_id: dict[str, DelayedMessage] = {}
    for located_message in messages:
        properties: Mapping[str, str] = located_message.message.properties
        out_text = properties.get("TIMER_OUT_MS", "")
        real_topic = properties.get("REAL_TOPIC")
        is_of_topic = _is_wanted(topic, real_topic) and "TIMER_DEL_UNIQKEY" not in properties
        if not (is_of_topic and out_text.isdecimal() and int(out_text) > now_ms):
            continue
        msg_id = located_message.message.msg_id
        # With appendTopicForTimerDeleteKey the key begins with the topic (TimerMessageStore.buildDeleteKey).
        is_cancelled = not deleted_keys.isdisjoint({msg_id, f"{real_topic}_{msg_id}"})
        timed_by_id[msg_id] = DelayedMessage(located_message, int(out_text), None, is_cancelled)
    return list(timed_by_id.values())


def build_recall_handle(delayed_message: DelayedMessage) -> str:
    """Build the handle that the broker gave the producer (RecallMessageHandle.HandleV1 upstream)."""
    located_message = delayed_message.located_message
    # The handle has the time of the timer plus 1 ms (RecallMessageHandle in SendMessageProcessor).
    handle_fields = (
        "v1",
        delayed_message.topic or "",
        located_message.broker_name or "",
        str(delayed_message.deliver_ms + 1),
        located_message.message.msg_id,
    )
    return urlsafe_b64encode(" ".join(handle_fields).encode()).decode()
