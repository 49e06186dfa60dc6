"""Sending: one message to one queue, as a producer would, but asked for by an operator."""

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from time import localtime, mktime, time
from typing import NamedTuple

from namesrv_core.errors import RequestError, ResponseCode
from namesrv_core.protocol.codes import MASTER_ID, RequestCode
from namesrv_core.protocol.command import Command, request
from namesrv_core.protocol.message_ids import unique_key
from namesrv_core.protocol.messages import KEYS, TAGS, UNIQUE_KEY, properties_text
from nsadmin.client.caller import Caller
from nsadmin.client.results import NotFound
from nsadmin.client.routes import QueueRoute
from nsadmin.client.topics import Topics
from nsadmin.client.traces import TRACE_TOPIC

PRODUCER_GROUP = "TOOLS_PRODUCER"
_LOOPBACK = b"\x7f\0\0\1"
_LOADER = int.from_bytes(os.urandom(4), "big", signed=True)
_counter = count()
_BUT_STORED = (
    ResponseCode.FLUSH_DISK_TIMEOUT,
    ResponseCode.FLUSH_SLAVE_TIMEOUT,
    ResponseCode.SLAVE_NOT_AVAILABLE,
)


class Place(NamedTuple):
    """The queue to send to, on the master at `broker_addr`."""

    topic: str
    broker_name: str
    broker_addr: str
    queue_id: int


class Sent(NamedTuple):
    """What a broker stored: `msg_id` as producers say it, `offset_msg_id` where it is."""

    place: Place
    msg_id: str
    offset_msg_id: str | None
    queue_offset: int | None


class Sending:
    """`admin.sending`."""

    def __init__(self, caller: Caller, topics: Topics) -> None:
        self._caller = caller
        self._topics = topics

    def place(self, topic: str, broker_name: str | None = None, queue_id: int | None = None) -> Place:
        """A queue that can be written to: any, or one of this broker, or just this one; NotFound for none."""
        queues = [
            item for item in self._topics.route(topic).queues if broker_name in (None, item.broker_name)
        ]
        if not queues:
            raise NotFound(f"{topic} is not on a broker {broker_name!r}")
        writable = [item for item in queues if item.is_writable]
        if not writable:
            raise NotFound(f"{topic} has no queue {_there(queues)} that can be written to: see topicRoute")
        chosen = writable[_any_of(len(writable))]
        ids = chosen.write_ids
        if queue_id is not None and queue_id not in ids:
            raise NotFound(
                f"{topic} has no queue {queue_id} to write to on {chosen.broker_name}: it has {len(ids)}"
            )
        number = ids[_any_of(len(ids))] if queue_id is None else queue_id
        return Place(topic, chosen.broker_name, chosen.broker_addrs[MASTER_ID], number)

    def places(self, topic: str) -> list[Place]:
        """All queues that can be written to, broker by broker; NotFound for none."""
        queues = self._topics.route(topic).queues
        found = [
            Place(topic, item.broker_name, item.broker_addrs[MASTER_ID], number)
            for item in queues
            if item.is_writable
            for number in item.write_ids
        ]
        if not found:
            raise NotFound(f"{topic} has no queue {_there(queues)} that can be written to: see topicRoute")
        return found

    def send(
        self,
        place: Place,
        body: bytes,
        *,
        keys: str | None = None,
        tags: str | None = None,
        properties: Mapping[str, str] | None = None,
    ) -> Sent:
        """Store a message; ValueError for a property that cannot be written.

        A topic that the broker does not have (any more) is not created by it.
        """
        given = properties or {}
        msg_id = given.get(UNIQUE_KEY) or _new_id(time())
        table = {KEYS: keys or "", TAGS: tags or "", UNIQUE_KEY: msg_id, "WAIT": "true", **given}
        asked = send_request(place, body, table)
        [(_, answer, error)] = self._caller.ask([(place.broker_addr, asked)])
        if isinstance(error, RequestError) and error.code in _BUT_STORED:
            raise RequestError(f"it is stored as {msg_id}, but not as safely as it should be", error.code)
        if answer is None:
            raise error or NotFound(place.broker_name)
        ext = answer.ext or {}
        offset = ext.get("queueOffset")
        return Sent(place, msg_id, ext.get("msgId"), None if offset is None else int(offset))

    def trace(self, sent: Sent, body_length: int, *, keys: str, tags: str, began: int, cost: int) -> Sent:
        """Write into the trace topic what was sent: `began` in ms since 1970, `cost` in ms."""
        fields: Iterable[object] = (
            "Pub", began, "DefaultRegion", PRODUCER_GROUP, sent.place.topic, sent.msg_id, tags, keys,
            sent.place.broker_addr, body_length, cost, 0, sent.offset_msg_id, "true",
        )  # fmt: skip
        body = "\x01".join(map(str, fields)) + "\x02"
        return self.send(self.place(TRACE_TOPIC), body.encode(), keys=f"{sent.msg_id} {keys}".strip())


def send_request(place: Place, body: bytes, table: Mapping[str, str]) -> Command:
    """SEND_MESSAGE_V2. The template of a topic is the topic itself: what is not there is not created."""
    ext = {
        "a": PRODUCER_GROUP,
        "b": place.topic,
        "c": place.topic,
        "d": "4",
        "e": str(place.queue_id),
        "f": "0",
        "g": str(int(time() * 1000)),
        "h": "0",
        "i": properties_text(table),
        "j": "0",
        "k": "false",
        "m": "false",
        "n": place.broker_name,
    }
    return request(RequestCode.SEND_MESSAGE_V2, ext, body)


def _any_of(number: int) -> int:
    return int.from_bytes(os.urandom(4), "big") % number


def _new_id(now: float) -> str:
    """A unique key; its address is the loopback's, as the one that a broker sees is not known here."""
    month = mktime((*localtime(now)[:2], 1, 0, 0, 0, 0, 0, -1))
    return unique_key(_LOOPBACK, os.getpid(), _LOADER, int((now - month) * 1000), next(_counter))


def _there(queues: Sequence[QueueRoute]) -> str:
    return "on " + ", ".join(item.broker_name for item in queues)
