"""`admin.message_sender`: sends of messages on behalf of an operator."""

import os
from collections.abc import Mapping, Sequence
from itertools import count
from time import localtime, mktime, sleep, time
from typing import NamedTuple

from namesrv_core.errors import RequestError, ResponseCode, RocketMQError
from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import MASTER_BROKER_ID, RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.message_ids import build_unique_key
from namesrv_core.protocol.stored_messages import (
    KEYS_PROPERTY,
    TAGS_PROPERTY,
    UNIQUE_KEY_PROPERTY,
    encode_properties,
)
from nsadmin.client.advised_command import quote_command
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.messages.message_traces import (
    FIELD_SEPARATOR,
    MESSAGE_TYPES,
    RECORD_SEPARATOR,
    TRACE_TOPIC,
)
from nsadmin.client.results import NotFound, ServerResult
from nsadmin.client.topic_routes import QueueRoute, list_write_queues
from nsadmin.client.topics.topics import TopicAdmin

PRODUCER_GROUP = "TOOLS_PRODUCER"
DEFAULT_REGION = "DefaultRegion"
NORMAL_MESSAGE, HALF_MESSAGE, TRANSACTION_END, DELAYED_MESSAGE = MESSAGE_TYPES[:4]
_LOOPBACK_IP = b"\x7f\0\0\1"
_LOADER_HASH = int.from_bytes(os.urandom(4), "big", signed=True)
_message_counter = count()
STORED_UNSAFELY_CODES = (
    ResponseCode.FLUSH_DISK_TIMEOUT,
    ResponseCode.FLUSH_SLAVE_TIMEOUT,
    ResponseCode.SLAVE_NOT_AVAILABLE,
)
_BUSY_CODES = (ResponseCode.SYSTEM_BUSY, ResponseCode.FLOW_CONTROL)
_BUSY_ATTEMPTS, _BUSY_PAUSE_SECONDS = 6, 0.3


class SendQueue(NamedTuple):
    """A queue to send to; `broker_addr` is the master of the broker."""

    topic: str
    broker_name: str
    broker_addr: str
    queue_id: int


class SentMessage(NamedTuple):
    """A stored message.

    Attributes:
        send_queue: The queue.
        msg_id: The unique key that the sender assigned.
        offset_msg_id: The id that names its place in the commit log; None if not reported.
        queue_offset: Its offset in the queue; None if not reported.
        region_id: The region that traces of the message name; None if the broker wants no traces.
    """

    send_queue: SendQueue
    msg_id: str
    offset_msg_id: str | None
    queue_offset: int | None
    region_id: str | None = DEFAULT_REGION


class OutgoingMessage(NamedTuple):
    """A message to send.

    Attributes:
        send_queue: The queue.
        body: The body in bytes, compressed if `sys_flag` has that flag.
        properties: All properties, with keys, tag and unique key.
        sys_flag: The flags of RocketMQ, such as those of compression.
        flag: The flag of the application.
        born_ms: The time of the producer in ms since 1970. Default: now.
    """

    send_queue: SendQueue
    body: bytes
    properties: Mapping[str, str]
    sys_flag: int = 0
    flag: int = 0
    born_ms: int | None = None


class MessageSender:
    """`admin.message_sender`: sends of messages."""

    def __init__(self, caller: Caller, topics: TopicAdmin) -> None:
        self._caller, self._topics = caller, topics

    def choose_queue(
        self, topic: str, broker_name: str | None = None, queue_id: int | None = None
    ) -> SendQueue:
        """Choose a writable queue of a topic, at random among the candidates.

        Args:
            topic: The topic.
            broker_name: Only queues of this broker.
            queue_id: Only this queue.

        Raises:
            NotFound: No such queue is writable.
            TopicNotExist: The topic has no route.
        """
        routes = [r for r in self._topics.get_route(topic).queues if broker_name in (None, r.broker_name)]
        if not routes:
            raise NotFound(f'{topic} is not on broker "{broker_name}"')
        writable_routes = [route for route in routes if route.is_writable]
        if not writable_routes:
            raise _no_writable_queue(topic, routes)
        route = writable_routes[_random_index(len(writable_routes))]
        write_queue_ids = route.write_queue_ids
        if queue_id is not None and queue_id not in write_queue_ids:
            raise NotFound(
                f"{topic} has no write queue {queue_id} on {route.broker_name}: it has "
                f"{len(write_queue_ids)}, counted from 0"
            )
        chosen_id = write_queue_ids[_random_index(len(write_queue_ids))] if queue_id is None else queue_id
        return SendQueue(topic, route.broker_name, route.broker_addrs[MASTER_BROKER_ID], chosen_id)

    def list_queues(self, topic: str) -> list[SendQueue]:
        """Return all writable queues of a topic, broker by broker.

        Raises:
            NotFound: No queue is writable.
            TopicNotExist: The topic has no route.
        """
        queue_routes = self._topics.get_route(topic).queues
        send_queues = [
            SendQueue(topic, queue_route.broker_name, queue_route.broker_addrs[MASTER_BROKER_ID], queue_id)
            for queue_route, queue_id in list_write_queues(r for r in queue_routes if r.is_writable)
        ]
        if not send_queues:
            raise _no_writable_queue(topic, queue_routes)
        return send_queues

    def send_message(
        self,
        send_queue: SendQueue,
        message_body: bytes,
        *,
        keys: str | None = None,
        tags: str | None = None,
        properties: Mapping[str, str] | None = None,
    ) -> SentMessage:
        """Send a message to a queue (SEND_MESSAGE_V2, 310). The broker does not create a missing topic.

        Args:
            send_queue: The queue.
            message_body: The body.
            keys: The business keys, separated by blanks.
            tags: The tag.
            properties: Further properties. A unique key among them is used as the message id.

        Returns:
            The stored message.

        Raises:
            ValueError: A property contains a separator character.
            RequestError: The broker refused; or it stored the message, but a flush or a slave was late.
            RocketMQError: The broker did not answer.
        """
        own = {KEYS_PROPERTY: keys or "", TAGS_PROPERTY: tags or "", "WAIT": "true"}
        message = OutgoingMessage(send_queue, message_body, {**own, **(properties or {})})
        [send_result] = self.send_messages([message])
        return send_result.value()

    def send_messages(self, outgoing_messages: Sequence[OutgoingMessage]) -> list[ServerResult[SentMessage]]:
        """Send messages at once, without waiting for one before the next (SEND_MESSAGE_V2, 310).

        Messages of one queue may be stored in another order. A message without a unique key gets one.

        Returns:
            One ServerResult per message, in order. The error is a RequestError with the code of
            `is_stored_unsafely` if the broker stored the message, but a flush or a slave was late.

        Raises:
            ValueError: A property contains a separator character. Nothing was sent.
        """
        now_seconds = time()
        keyed_messages = [
            m
            if m.properties.get(UNIQUE_KEY_PROPERTY)
            else m._replace(properties={**m.properties, UNIQUE_KEY_PROPERTY: make_unique_key(now_seconds)})
            for m in outgoing_messages
        ]
        answers = self._caller.send_requests(
            (message.send_queue.broker_addr, build_send_command(message)) for message in keyed_messages
        )
        return [_parse_send_answer(message, a) for message, a in zip(keyed_messages, answers, strict=True)]

    def send_patiently(self, outgoing_messages: Sequence[OutgoingMessage]) -> list[ServerResult[SentMessage]]:
        """Send messages like `send_messages`; send again the messages that a busy broker refused.

        Args:
            outgoing_messages: The messages. Each should have a unique key, which is the same in each attempt.

        Returns:
            One ServerResult per message, in order: the result of its last attempt.

        Raises:
            ValueError: A property contains a separator character. Nothing was sent.
        """
        results = self.send_messages(outgoing_messages)
        for attempt_number in range(1, _BUSY_ATTEMPTS):
            busy_indexes = [
                index
                for index, result in enumerate(results)
                if isinstance(result.error, RequestError) and result.error.code in _BUSY_CODES
            ]
            if not busy_indexes:
                break
            sleep(_BUSY_PAUSE_SECONDS * attempt_number)
            repeated_results = self.send_messages([outgoing_messages[index] for index in busy_indexes])
            for index, result in zip(busy_indexes, repeated_results, strict=True):
                results[index] = result
        return results

    def send_trace(
        self,
        sent_message: SentMessage,
        body_length: int,
        *,
        message_keys: str,
        message_tags: str,
        began_ms: int,
        cost_ms: int,
    ) -> SentMessage:
        """Send a trace of a sent message to the trace topic (SEND_MESSAGE_V2, 310).

        Args:
            sent_message: The message.
            body_length: The length of its body in bytes.
            message_keys: Its keys.
            message_tags: Its tag.
            began_ms: The start of the send in ms since 1970.
            cost_ms: The duration of the send in ms.

        Returns:
            The stored trace message.

        Raises:
            RocketMQError: The trace topic has no writable queue, or the send failed; see `send_message`.
        """
        trace_record = encode_send_record(
            sent_message,
            keys=message_keys,
            tags=message_tags,
            body_length=body_length,
            began_ms=began_ms,
            cost_ms=cost_ms,
        )
        return self.send_message(
            self.choose_queue(TRACE_TOPIC),
            trace_record.encode(),
            keys=f"{sent_message.msg_id} {message_keys}".rstrip(" "),
        )


def is_stored_unsafely(error: RocketMQError | None) -> bool:
    """Return whether a broker stored the message, but a flush or a slave was late."""
    return isinstance(error, RequestError) and error.code in STORED_UNSAFELY_CODES


def build_send_command(outgoing_message: OutgoingMessage) -> RemotingCommand:
    """Build the request SEND_MESSAGE_V2 (310).

    Its template topic is the topic itself, so that brokers create no missing topic.
    """
    send_queue, born_ms = outgoing_message.send_queue, outgoing_message.born_ms
    ext_fields = {
        "a": PRODUCER_GROUP,
        "b": send_queue.topic,
        "c": send_queue.topic,
        "d": "4",
        "e": str(send_queue.queue_id),
        "f": str(outgoing_message.sys_flag),
        "g": str(int(time() * 1000) if born_ms is None else born_ms),
        "h": str(outgoing_message.flag),
        "i": encode_properties(outgoing_message.properties),
        "j": "0",
        "k": "false",
        "m": "false",
        "n": send_queue.broker_name,
    }
    return make_request(RequestCode.SEND_MESSAGE_V2, ext_fields, outgoing_message.body)


def _parse_send_answer(
    outgoing_message: OutgoingMessage, answer: ServerResult[RemotingCommand]
) -> ServerResult[SentMessage]:
    broker_addr, response, error = answer
    msg_id = outgoing_message.properties[UNIQUE_KEY_PROPERTY]
    if isinstance(error, RequestError) and is_stored_unsafely(error):
        error = RequestError(
            f"the message is stored as {msg_id}, but less safely than configured", error.code
        )
    if response is None:
        return ServerResult(broker_addr, None, error)
    ext_fields = response.ext or {}
    sent_message = SentMessage(
        outgoing_message.send_queue,
        msg_id,
        ext_fields.get("msgId"),
        headers.parse_java_integer(ext_fields.get("queueOffset") or "", 64),
        # The defaults are those of clients (MQClientAPIImpl.processSendResponse).
        None if ext_fields.get("TRACE_ON") == "false" else ext_fields.get("MSG_REGION") or DEFAULT_REGION,
    )
    return ServerResult(broker_addr, sent_message, None)


def _random_index(choice_count: int) -> int:
    return int.from_bytes(os.urandom(4), "big") % choice_count


def make_unique_key(now_seconds: float) -> str:
    """Make a unique key with the loopback address: the address that a broker sees is unknown here."""
    start = mktime((*localtime(now_seconds)[:2], 1, 0, 0, 0, 0, 0, -1))
    return build_unique_key(
        _LOOPBACK_IP, os.getpid(), _LOADER_HASH, int((now_seconds - start) * 1000), next(_message_counter)
    )


def _no_writable_queue(topic: str, routes: Sequence[QueueRoute]) -> NotFound:
    brokers = ", ".join(route.broker_name for route in routes)
    command = quote_command("route", "explain", topic)
    return NotFound(f"{topic} has no writable queue on {brokers}: `{command}` finds the cause and the remedy")


def encode_send_record(
    sent_message: SentMessage,
    *,
    keys: str,
    tags: str,
    body_length: int,
    began_ms: int,
    cost_ms: int,
    message_type: str = NORMAL_MESSAGE,
) -> str:
    """Encode the trace of a send that succeeded, as producers do (TraceDataEncoder upstream)."""
    send_queue = sent_message.send_queue
    return join_trace_fields(
        "Pub", began_ms, sent_message.region_id or DEFAULT_REGION, PRODUCER_GROUP, send_queue.topic,
        sent_message.msg_id, tags, keys, send_queue.broker_addr, body_length, cost_ms,
        MESSAGE_TYPES.index(message_type), sent_message.offset_msg_id, "true",
    )  # fmt: skip


def join_trace_fields(*fields: object) -> str:
    """Join the fields of one record of a trace."""
    return FIELD_SEPARATOR.join(map(str, fields)) + RECORD_SEPARATOR
