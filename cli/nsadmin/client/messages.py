"""`admin.messages`: lookup of messages by key, by id, or by queue offset. It changes no consumer offset."""

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
"""The end of a time range without a limit, in ms."""


class Located(NamedTuple):
    """A message and its broker.

    Attributes:
        broker_name: The broker; None if only its address is known.
        message: The message.
    """

    broker_name: str | None
    message: Message


class Found(NamedTuple):
    """The result of a message lookup.

    Attributes:
        messages: The messages in the order of their store time.
        broker_results: One ServerResult per broker: the number of messages that it returned.
    """

    messages: tuple[Located, ...]
    brokers: tuple[ServerResult[int], ...]

    @property
    def errors(self) -> list[RocketMQError | None]:
        """The error of each broker; None after a success."""
        return [broker.error for broker in self.brokers]


class Messages:
    """`admin.messages`: lookup of messages by key, by id, or by queue offset."""

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
        """Find messages by business key or by tag (QUERY_MESSAGE, 12).

        Asks every broker of the topic: its master, or a slave if the master does not answer. Brokers look up
        hashes, so the result is filtered by the exact key.

        Args:
            topic: The topic.
            message_key: The key, or the tag if `by_tag` is set.
            max_num: The maximum number of messages per broker.
            begin_ms: The earliest store time, in ms since 1970.
            end_ms: The latest store time, in ms since 1970.
            by_tag: Search by tag. Only brokers with a RocksDB index can do it.
            last_key: Continue after this index key of a RocksDB index.
            route_topic: Use the brokers of this topic's route instead.

        Raises:
            TopicNotExist: The topic has no route.
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
        """Find messages by the unique key that the producer assigned (QUERY_MESSAGE, 12).

        Asks every broker of the topic. A retried send may give more than one message.

        Args:
            topic: The topic.
            msg_id: The unique key.
            begin_ms: The earliest store time, in ms since 1970.
            end_ms: The latest store time, in ms since 1970.
            route_topic: Use the brokers of this topic's route instead.

        Raises:
            TopicNotExist: The topic has no route.
        """
        header = broker_headers.QueryMessage(topic, msg_id, 32, begin, end, unique_key_query=True)
        found = self._query(header, route_topic)
        wanted = (
            item for item in found.messages if item.message.topic == topic and item.message.msg_id == msg_id
        )
        return found._replace(messages=tuple(wanted))

    def by_id(self, topic: str, msg_id: str, *, route_topic: str | None = None) -> Found:
        """Find a message by its offset id or its unique key.

        An offset id is sent to the broker that it names (VIEW_MESSAGE_BY_ID, 33). If that broker is not
        reachable, or has another address from here, every broker of the route is asked. A unique key is
        looked up with `find_by_unique_key`.

        Args:
            topic: The topic.
            msg_id: The offset id or the unique key.
            route_topic: Use the brokers of this topic's route instead.

        Raises:
            TopicNotExist: The topic has no route.
        """
        place = parse_id(msg_id)
        if not isinstance(place, OffsetId):
            return self.by_unique_key(topic, msg_id, route_topic=route_topic)
        found = self._view(topic, place, [(None, place.addr)], msg_id)
        if not found.messages and is_unreachable(found.brokers[0].error):
            queues = self._topics.route(route_topic or topic).queues
            others = [(item.broker_name, addr) for item in queues for addr in addrs_of(item)]
            elsewhere = self._view(topic, place, [who for who in others if who[1] != place.addr], msg_id)
            # If another broker has the message, the failure of the address in the id is irrelevant.
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
        """Return the message at an offset of a queue (PULL_MESSAGE, 11).

        Asks the master, or a slave if the master does not answer.

        Args:
            topic: The topic.
            broker_name: The broker.
            queue_id: The queue.
            offset: The queue offset.
            route_topic: Use the brokers of this topic's route instead.

        Raises:
            NotFound: No message at this offset; the text names the offsets that exist.
            TopicNotExist: The topic has no route.
        """
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
        """Return the brokers of a topic's route (GET_ROUTEINFO_BY_TOPIC, 105).

        Args:
            topic: The topic.
            broker_name: Return only this broker.
            route_topic: Use this topic's route instead.

        Raises:
            NotFound: The topic is not on this broker.
            TopicNotExist: The topic has no route.
        """
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
        """Read the message at a commit log position of brokers, if it has this id."""
        ext = headers.write(broker_headers.ViewMessage(topic, place.physical_offset))
        calls = [(addr, request(RequestCode.VIEW_MESSAGE_BY_ID, ext)) for _, addr in brokers]
        # An empty position, or one inside a message, gives code 1 or bytes that are not a message.
        answers = self._caller.ask(calls, codes=(0, ResponseCode.SYSTEM_ERROR))
        gathered = _gathered(zip((name for name, _ in brokers), answers, strict=True), tolerant=True)
        wanted = [item for item in gathered.messages if item.message.offset_msg_id == msg_id.upper()]
        # Slaves hold exact copies of their master's messages, so the same message may occur several times.
        once = {item.message.queue_offset: item for item in reversed(wanted)}
        return Found(tuple(once[offset] for offset in sorted(once)), gathered.brokers)

    def _named(self, found: Found) -> Found:
        """Add the broker name to each message whose store address occurs in the route of its topic."""
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
"""The response codes of PULL_MESSAGE (11) that contain the next offset."""


def pulled(answer: Command) -> list[Message]:
    """Decode the messages of a PULL_MESSAGE (11) answer. Offsets of a static topic become logical offsets."""
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
    """Join the answers of brokers. Bytes that are not a message are an error unless `is_tolerant`."""
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
