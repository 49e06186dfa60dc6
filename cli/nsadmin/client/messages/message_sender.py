"""Sending: one message to one queue, as a producer would, but asked for by an operator."""

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from time import localtime, mktime, time
from typing import NamedTuple

from namesrv_core.errors import RequestError, ResponseCode
from namesrv_core.protocol.codes import MASTER_BROKER_ID, RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_request
from namesrv_core.protocol.message_ids import build_unique_key
from namesrv_core.protocol.stored_messages import (
    KEYS_PROPERTY,
    TAGS_PROPERTY,
    UNIQUE_KEY_PROPERTY,
    encode_properties,
)
from nsadmin.client.connection.caller import Caller
from nsadmin.client.messages.message_traces import TRACE_TOPIC
from nsadmin.client.results import NotFound
from nsadmin.client.topic_routes import QueueRoute
from nsadmin.client.topics.topics import TopicAdmin

PRODUCER_GROUP = "TOOLS_PRODUCER"
_LOOPBACK_IP = b"\x7f\0\0\1"
_LOADER_HASH = int.from_bytes(os.urandom(4), "big", signed=True)
_message_counter = count()
_STORED_UNSAFELY_CODES = (
    ResponseCode.FLUSH_DISK_TIMEOUT,
    ResponseCode.FLUSH_SLAVE_TIMEOUT,
    ResponseCode.SLAVE_NOT_AVAILABLE,
)


class SendQueue(NamedTuple):
    """The queue to send to, on the master at `broker_addr`."""

    topic: str
    broker_name: str
    broker_addr: str
    queue_id: int


class SentMessage(NamedTuple):
    """What a broker stored: `msg_id` as producers say it, `offset_msg_id` where it is."""

    send_queue: SendQueue
    msg_id: str
    offset_msg_id: str | None
    queue_offset: int | None


class MessageSender:
    """`admin.sending`."""

    def __init__(self, caller: Caller, topics: TopicAdmin) -> None:
        self._caller = caller
        self._topics = topics

    def choose_queue(
        self, topic: str, broker_name: str | None = None, queue_id: int | None = None
    ) -> SendQueue:
        """A queue that can be written to: any, or one of this broker, or just this one; NotFound for none."""
        queue_routes = [
            queue_route
            for queue_route in self._topics.get_route(topic).queues
            if broker_name in (None, queue_route.broker_name)
        ]
        if not queue_routes:
            raise NotFound(f"{topic} is not on a broker {broker_name!r}")
        writable_routes = [queue_route for queue_route in queue_routes if queue_route.is_writable]
        if not writable_routes:
            raise NotFound(
                f"{topic} has no queue {_format_brokers(queue_routes)} that can be written to: see topicRoute"
            )
        chosen_route = writable_routes[_random_index(len(writable_routes))]
        write_queue_ids = chosen_route.write_queue_ids
        if queue_id is not None and queue_id not in write_queue_ids:
            raise NotFound(
                f"{topic} has no queue {queue_id} to write to on {chosen_route.broker_name}: "
                f"it has {len(write_queue_ids)}"
            )
        chosen_id = write_queue_ids[_random_index(len(write_queue_ids))] if queue_id is None else queue_id
        return SendQueue(
            topic, chosen_route.broker_name, chosen_route.broker_addrs[MASTER_BROKER_ID], chosen_id
        )

    def list_queues(self, topic: str) -> list[SendQueue]:
        """All queues that can be written to, broker by broker; NotFound for none."""
        queue_routes = self._topics.get_route(topic).queues
        send_queues = [
            SendQueue(topic, queue_route.broker_name, queue_route.broker_addrs[MASTER_BROKER_ID], queue_id)
            for queue_route in queue_routes
            if queue_route.is_writable
            for queue_id in queue_route.write_queue_ids
        ]
        if not send_queues:
            raise NotFound(
                f"{topic} has no queue {_format_brokers(queue_routes)} that can be written to: see topicRoute"
            )
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
        """Store a message; ValueError for a property that cannot be written.

        A topic that the broker does not have (any more) is not created by it.
        """
        own_properties = properties or {}
        msg_id = own_properties.get(UNIQUE_KEY_PROPERTY) or _make_unique_key(time())
        all_properties = {
            KEYS_PROPERTY: keys or "",
            TAGS_PROPERTY: tags or "",
            UNIQUE_KEY_PROPERTY: msg_id,
            "WAIT": "true",
            **own_properties,
        }
        command = build_send_request(send_queue, message_body, all_properties)
        [(_, response, error)] = self._caller.send_requests([(send_queue.broker_addr, command)])
        if isinstance(error, RequestError) and error.code in _STORED_UNSAFELY_CODES:
            raise RequestError(f"it is stored as {msg_id}, but not as safely as it should be", error.code)
        if response is None:
            raise error or NotFound(send_queue.broker_name)
        ext_fields = response.ext or {}
        queue_offset = ext_fields.get("queueOffset")
        return SentMessage(
            send_queue, msg_id, ext_fields.get("msgId"), None if queue_offset is None else int(queue_offset)
        )

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
        """Write into the trace topic what was sent: `began` in ms since 1970, `cost` in ms."""
        trace_fields: Iterable[object] = (
            "Pub", began_ms, "DefaultRegion", PRODUCER_GROUP, sent_message.send_queue.topic,
            sent_message.msg_id, message_tags, message_keys,
            sent_message.send_queue.broker_addr, body_length, cost_ms, 0, sent_message.offset_msg_id, "true",
        )  # fmt: skip
        trace_body = "\x01".join(map(str, trace_fields)) + "\x02"
        return self.send_message(
            self.choose_queue(TRACE_TOPIC),
            trace_body.encode(),
            keys=f"{sent_message.msg_id} {message_keys}".strip(),
        )


def build_send_request(
    send_queue: SendQueue, message_body: bytes, all_properties: Mapping[str, str]
) -> RemotingCommand:
    """SEND_MESSAGE_V2. The template of a topic is the topic itself: what is not there is not created."""
    ext_fields = {
        "a": PRODUCER_GROUP,
        "b": send_queue.topic,
        "c": send_queue.topic,
        "d": "4",
        "e": str(send_queue.queue_id),
        "f": "0",
        "g": str(int(time() * 1000)),
        "h": "0",
        "i": encode_properties(all_properties),
        "j": "0",
        "k": "false",
        "m": "false",
        "n": send_queue.broker_name,
    }
    return build_request(RequestCode.SEND_MESSAGE_V2, ext_fields, message_body)


def _random_index(choice_count: int) -> int:
    return int.from_bytes(os.urandom(4), "big") % choice_count


def _make_unique_key(now_seconds: float) -> str:
    """A unique key; its address is the loopback's, as the one that a broker sees is not known here."""
    month_start = mktime((*localtime(now_seconds)[:2], 1, 0, 0, 0, 0, 0, -1))
    return build_unique_key(
        _LOOPBACK_IP,
        os.getpid(),
        _LOADER_HASH,
        int((now_seconds - month_start) * 1000),
        next(_message_counter),
    )


def _format_brokers(queue_routes: Sequence[QueueRoute]) -> str:
    return "on " + ", ".join(queue_route.broker_name for queue_route in queue_routes)
