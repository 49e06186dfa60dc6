"""Messages: found by key, by either kind of id, or by their place in a queue; no offset is touched."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from namesrv_core.errors import ResponseCode, RocketMQError
from namesrv_core.protocol import broker_headers, headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command, request
from namesrv_core.protocol.message_ids import OffsetId, parse_id
from namesrv_core.protocol.messages import Message, decode_messages
from namesrv_core.transport.calls import CallError
from nsadmin.client.caller import Caller
from nsadmin.client.replicas import Inquiry, addrs_of, ask_replicas
from nsadmin.client.results import NotFound, ServerResult, is_unreachable
from nsadmin.client.routes import QueueRoute
from nsadmin.client.topics import Topics

FOREVER = 2**63 - 1
"""The end of a span of time that has none, in ms."""


class Located(NamedTuple):
    """A message and the broker it was found on, which is None where only the address is known."""

    broker_name: str | None
    message: Message


class Found(NamedTuple):
    """Messages in the order they were stored, and what each broker said: how many it had, or its error."""

    messages: tuple[Located, ...]
    brokers: tuple[ServerResult[int], ...]

    @property
    def errors(self) -> list[RocketMQError | None]:
        """What happened on each broker; None where it answered."""
        return [broker.error for broker in self.brokers]


class Messages:
    """`admin.messages`."""

    def __init__(self, caller: Caller, topics: Topics) -> None:
        self._caller = caller
        self._topics = topics

    def by_key(
        self,
        topic: str,
        key: str,
        *,
        max_num: int = 64,
        begin: int = 0,
        end: int = FOREVER,
        by_tag: bool = False,
        last_key: str | None = None,
        route_topic: str | None = None,
    ) -> Found:
        """Messages with this business key (or, on brokers with a RocksDB index, with this tag).

        Every broker of the topic's route is asked (`route_topic`: of another topic's), for up to `max_num`
        messages each, stored from `begin` to `end` (ms). Brokers index by hash: each message is compared.
        """
        header = broker_headers.QueryMessage(
            topic, key, max_num, begin, end, "T" if by_tag else None, last_key
        )
        found = self._query(header, route_topic)
        wanted = (
            item
            for item in found.messages
            if item.message.topic == topic
            and (item.message.tags == key if by_tag else key in (*item.message.keys, item.message.msg_id))
        )
        return found._replace(messages=tuple(wanted))

    def by_unique_key(
        self, topic: str, msg_id: str, *, begin: int = 0, end: int = FOREVER, route_topic: str | None = None
    ) -> Found:
        """Messages that their producer called so: more than one where it sent one twice."""
        header = broker_headers.QueryMessage(topic, msg_id, 32, begin, end, unique_key_query=True)
        found = self._query(header, route_topic)
        wanted = (
            item for item in found.messages if item.message.topic == topic and item.message.msg_id == msg_id
        )
        return found._replace(messages=tuple(wanted))

    def by_id(self, topic: str, msg_id: str, *, route_topic: str | None = None) -> Found:
        """The message of an id of either kind.

        Where the broker that an offset id names cannot be reached (it has another address from here, or it
        is down), every broker of the route is asked, as what is found says itself where it belongs.
        """
        place = parse_id(msg_id)
        if not isinstance(place, OffsetId):
            return self.by_unique_key(topic, msg_id, route_topic=route_topic)
        found = self._view(topic, place, [(None, place.addr)], msg_id)
        if not found.messages and is_unreachable(found.brokers[0].error):
            queues = self._topics.route(route_topic or topic).queues
            others = [(item.broker_name, addr) for item in queues for addr in addrs_of(item)]
            elsewhere = self._view(topic, place, [who for who in others if who[1] != place.addr], msg_id)
            # Who has it has it: what the address in the id is good for does not matter then.
            brokers = elsewhere.brokers if elsewhere.messages else (*found.brokers, *elsewhere.brokers)
            found = Found(elsewhere.messages, brokers)
        if not found.messages:
            # A unique key may look like an offset id.
            as_key = self.by_unique_key(topic, msg_id, route_topic=route_topic)
            unreachable = tuple(item for item in found.brokers if is_unreachable(item.error))
            found = as_key if as_key.messages else Found((), (*unreachable, *as_key.brokers))
        return self._named(found)

    def at_offset(
        self, topic: str, broker_name: str, queue_id: int, offset: int, *, route_topic: str | None = None
    ) -> Located:
        """The message at one place of a queue; NotFound says which offsets the queue has."""
        queues = self.queues(topic, broker_name, route_topic)[0]
        header = broker_headers.PullMessage(
            topic=topic, queue_id=queue_id, queue_offset=offset, max_msg_nums=1
        )
        inquiry = Inquiry(
            broker_name, addrs_of(queues), request(RequestCode.PULL_MESSAGE, headers.write(header))
        )
        [result] = ask_replicas(self._caller, [inquiry], PULLED)
        if result.result is None:
            raise result.error or NotFound(f"no message at {offset}")
        for message in pulled(result.result):
            if message.queue_offset == offset:
                return Located(broker_name, message)
        ext = result.result.ext or {}
        raise NotFound(
            f"no message at offset {offset} of queue {queue_id} of {topic} on {broker_name}: "
            f"it has those from {ext.get('minOffset')} to before {ext.get('maxOffset')}"
        )

    def queues(
        self, topic: str, broker_name: str | None = None, route_topic: str | None = None
    ) -> Sequence[QueueRoute]:
        """The brokers of the topic's route, or the one of this name; NotFound where it has none of it."""
        queues = self._topics.route(route_topic or topic).queues
        if broker_name is None:
            return queues
        named = [item for item in queues if item.broker_name == broker_name]
        if not named:
            known = ", ".join(item.broker_name for item in queues)
            raise NotFound(f"{route_topic or topic} is not on a broker {broker_name!r}: it is on {known}")
        return named

    def _query(self, header: broker_headers.QueryMessage, route_topic: str | None) -> Found:
        queues = self._topics.route(route_topic or header.topic or "").queues
        asked = headers.write(header)
        inquiries = [
            Inquiry(item.broker_name, addrs_of(item), request(RequestCode.QUERY_MESSAGE, asked))
            for item in queues
        ]
        answers = ask_replicas(self._caller, inquiries, (0, ResponseCode.QUERY_NOT_FOUND))
        names = (item.broker_name for item in queues)
        return _gathered(zip(names, answers, strict=True))

    def _view(
        self, topic: str, place: OffsetId, brokers: Sequence[tuple[str | None, str]], msg_id: str
    ) -> Found:
        """What these brokers have at a position of their commit log, if it is the message of this id."""
        ext = headers.write(broker_headers.ViewMessage(topic, place.physical_offset))
        calls = [(addr, request(RequestCode.VIEW_MESSAGE_BY_ID, ext)) for _, addr in brokers]
        # A position where nothing is, or the middle of a message: code 1, or bytes that are no message.
        answers = self._caller.ask(calls, codes=(0, ResponseCode.SYSTEM_ERROR))
        gathered = _gathered(zip((name for name, _ in brokers), answers, strict=True), tolerant=True)
        wanted = [item for item in gathered.messages if item.message.offset_msg_id == msg_id.upper()]
        # Slaves keep their master's messages byte for byte: the same one may come more than once.
        once = {item.message.queue_offset: item for item in reversed(wanted)}
        return Found(tuple(once[offset] for offset in sorted(once)), gathered.brokers)

    def _named(self, found: Found) -> Found:
        """The broker's name beside each message, if its topic's route knows the address it is stored at."""
        unnamed = {item.message.topic for item in found.messages if item.broker_name is None}
        names: dict[str, str] = {}
        for topic in unnamed:
            try:
                queues = self._topics.route(topic).queues
            except RocketMQError:
                continue
            names |= {addr: item.broker_name for item in queues for addr in addrs_of(item)}
        named = (
            Located(item.broker_name or names.get(item.message.store_host), item.message)
            for item in found.messages
        )
        return found._replace(messages=tuple(named))


PULLED = (
    ResponseCode.SUCCESS,
    ResponseCode.PULL_NOT_FOUND,
    ResponseCode.PULL_RETRY_IMMEDIATELY,
    ResponseCode.PULL_OFFSET_MOVED,
)
"""Codes of answers to PULL_MESSAGE that say how to go on."""


def pulled(answer: Command) -> list[Message]:
    """The messages of an answer to PULL_MESSAGE, with the offsets that a static topic counts by."""
    if answer.code != ResponseCode.SUCCESS:
        return []
    delta = headers.integer((answer.ext or {}).get("offsetDelta") or "0", 64) or 0
    return [
        message._replace(queue_offset=message.queue_offset + delta)
        for message in decode_messages(answer.body).messages
    ]


def _gathered(
    answers: Iterable[tuple[str | None, ServerResult[Command]]], *, tolerant: bool = False
) -> Found:
    """What brokers answered, put together; bytes that are no message are an error unless `tolerant`."""
    messages: list[Located] = []
    brokers: list[ServerResult[int]] = []
    for name, (addr, answer, error) in answers:
        if answer is None:
            brokers.append(ServerResult(addr, None, error))
            continue
        decoded = decode_messages(answer.body if answer.code == 0 else b"")
        messages += (Located(name, message) for message in decoded.messages)
        if decoded.left_over and not tolerant:
            reason = f"{decoded.left_over} bytes of its answer cannot be read as messages"
            brokers.append(ServerResult(addr, None, CallError(addr, "unreadable", reason)))
        else:
            brokers.append(ServerResult(addr, len(decoded.messages), None))
    messages.sort(key=lambda item: (item.message.store_timestamp, item.message.physical_offset))
    return Found(tuple(messages), tuple(brokers))
