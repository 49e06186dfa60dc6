"""`admin.messages`: lookup of messages by key, by id, or by queue offset. It changes no consumer offset."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from namesrv_core.errors import RequestError, ResponseCode, RocketMQError
from namesrv_core.protocol import broker_headers, headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.message_ids import OffsetId, parse_message_id
from namesrv_core.protocol.stored_messages import StoredMessage, decode_messages
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.brokers.replica_failover import ask_replicas
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.message_queues import describe_offsets
from nsadmin.client.messages.pull_requests import (
    PULL_RESPONSE_CODES,
    build_pull_request,
    decode_pulled_messages,
)
from nsadmin.client.results import ClientClosed, NotFound, ServerResult, is_unreachable
from nsadmin.client.topic_routes import QueueRoute, missing_read_queue
from nsadmin.client.topics.topics import TopicAdmin

END_OF_TIME_MS = 2**63 - 1
"""The end of a time range without a limit, in ms."""


class LocatedMessage(NamedTuple):
    """A message and its broker.

    Attributes:
        broker_name: The broker; None if only its address is known.
        message: The message.
    """

    broker_name: str | None
    message: StoredMessage


class FoundMessages(NamedTuple):
    """The result of a message lookup.

    Attributes:
        messages: The messages in the order of their store time.
        broker_results: One ServerResult per broker: the number of messages that it returned.
    """

    messages: tuple[LocatedMessage, ...]
    broker_results: tuple[ServerResult[int], ...]

    @property
    def errors(self) -> list[RocketMQError | None]:
        """The error of each broker; None after a success."""
        return [broker_result.error for broker_result in self.broker_results]


class MessageAdmin:
    """`admin.messages`: lookup of messages by key, by id, or by queue offset."""

    def __init__(self, caller: Caller, topics: TopicAdmin) -> None:
        self._caller, self._topics = caller, topics

    def find_by_key(
        self,
        topic: str,
        message_key: str,
        *,
        max_num: int = 64,
        begin_ms: int = 0,
        end_ms: int = END_OF_TIME_MS,
        by_tag: bool = False,
        last_key: str | None = None,
        route_topic: str | None = None,
    ) -> FoundMessages:
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

        Returns:
            The messages, and one result per broker.

        Raises:
            TopicNotExist: The topic has no route.
        """
        query_header = broker_headers.QueryMessage(
            topic, message_key, max_num, begin_ms, end_ms, "T" if by_tag else None, last_key
        )

        def is_match(message: StoredMessage) -> bool:
            if by_tag:
                return message.tags == message_key
            return message_key in (*message.keys, message.msg_id)

        return self._query_brokers(query_header, route_topic, is_match)

    def find_by_unique_key(
        self,
        topic: str,
        msg_id: str,
        *,
        begin_ms: int = 0,
        end_ms: int = END_OF_TIME_MS,
        route_topic: str | None = None,
    ) -> FoundMessages:
        """Find messages by the unique key that the producer assigned (QUERY_MESSAGE, 12).

        Asks every broker of the topic. A retried send may give more than one message.

        Args:
            topic: The topic.
            msg_id: The unique key.
            begin_ms: The earliest store time, in ms since 1970.
            end_ms: The latest store time, in ms since 1970.
            route_topic: Use the brokers of this topic's route instead.

        Returns:
            The messages, and one result per broker.

        Raises:
            TopicNotExist: The topic has no route.
        """
        query_header = broker_headers.QueryMessage(topic, msg_id, 32, begin_ms, end_ms, unique_key_query=True)
        return self._query_brokers(query_header, route_topic, lambda m: m.msg_id == msg_id)

    def find_by_id(self, topic: str, msg_id: str, *, route_topic: str | None = None) -> FoundMessages:
        """Find a message by its offset id or its unique key.

        An offset id is sent to the broker that it names (VIEW_MESSAGE_BY_ID, 33). If that broker is not
        reachable, or has another address from here, every broker of the route is asked. A unique key is
        looked up with `find_by_unique_key`.

        Args:
            topic: The topic.
            msg_id: The offset id or the unique key.
            route_topic: Use the brokers of this topic's route instead.

        Returns:
            The messages, and one result per asked broker.

        Raises:
            TopicNotExist: The topic has no route.
        """
        place = parse_message_id(msg_id)
        if not isinstance(place, OffsetId):
            return self.find_by_unique_key(topic, msg_id, route_topic=route_topic)
        found = self._view_by_position(topic, place, [(None, place.broker_addr)], msg_id)
        if not found.messages and is_unreachable(found.broker_results[0].error):
            routes = self._topics.get_route(route_topic or topic).queues
            other_brokers = [
                (r.broker_name, a) for r in routes for a in r.broker_addrs.values() if a != place.broker_addr
            ]
            elsewhere = self._view_by_position(topic, place, other_brokers, msg_id)
            # If another broker has the message, the failure of the address in the id is irrelevant.
            failures = () if elsewhere.messages else found.broker_results
            found = FoundMessages(elsewhere.messages, (*failures, *elsewhere.broker_results))
        if not found.messages:
            # A unique key may look like an offset id.
            failures = tuple(result for result in found.broker_results if is_unreachable(result.error))
            found = self.find_by_unique_key(topic, msg_id, route_topic=route_topic)
            if not found.messages:
                found = FoundMessages((), (*failures, *found.broker_results))
        return self._add_broker_names(found)

    def get_at_offset(
        self, topic: str, broker_name: str, queue_id: int, offset: int, *, route_topic: str | None = None
    ) -> LocatedMessage:
        """Return the message at an offset of a queue (PULL_MESSAGE, 11).

        Asks the master, or a slave if the master does not answer.

        Args:
            topic: The topic.
            broker_name: The broker.
            queue_id: The queue.
            offset: The queue offset.
            route_topic: Use the brokers of this topic's route instead.

        Raises:
            NotFound: No message at this offset, or no such queue; the text names those that exist.
            TopicNotExist: The topic has no route.
        """
        queue_route = self.list_queue_routes(topic, broker_name, route_topic)[0]
        pull_request = build_pull_request(topic, queue_id, offset, 1)
        [pull_result] = ask_replicas(self._caller, [(queue_route, pull_request)], PULL_RESPONSE_CODES)
        error = pull_result.error
        # Static topics have queues that have moved away.
        if (
            isinstance(error, RequestError)
            and error.code != ResponseCode.NOT_LEADER_FOR_QUEUE
            and queue_id not in queue_route.read_queue_ids
        ):
            raise missing_read_queue(topic, [queue_route], queue_id)
        response = pull_result.value()
        for message in decode_pulled_messages(response):
            if message.queue_offset == offset:
                return LocatedMessage(broker_name, message)
        ext = response.ext or {}
        begin, end = (headers.parse_java_integer(ext.get(k) or "", 64) for k in ("minOffset", "maxOffset"))
        if begin is None or end is None:
            held = "the broker did not say which offsets the queue has"
        else:
            held = describe_offsets(begin, end)
        raise NotFound(
            f"no message at offset {offset} of queue {queue_id} of {topic} on {broker_name}: {held}"
        )

    def list_queue_routes(
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
        queue_routes = self._topics.get_route(route_topic or topic).queues
        if broker_name is None:
            return queue_routes
        named_routes = [route for route in queue_routes if route.broker_name == broker_name]
        if not named_routes:
            brokers = ", ".join(route.broker_name for route in queue_routes)
            raise NotFound(f'{route_topic or topic} is not on broker "{broker_name}": it is on {brokers}')
        return named_routes

    def _query_brokers(
        self,
        header: broker_headers.QueryMessage,
        route_topic: str | None,
        is_match: Callable[[StoredMessage], bool],
    ) -> FoundMessages:
        queue_routes = self._topics.get_route(route_topic or header.topic or "").queues
        requests = [(route, make_request(RequestCode.QUERY_MESSAGE, header)) for route in queue_routes]
        answers = ask_replicas(self._caller, requests, (0, ResponseCode.QUERY_NOT_FOUND))
        broker_names = (route.broker_name for route in queue_routes)
        found = _gather_messages(zip(broker_names, answers, strict=True))
        matching = (m for m in found.messages if m.message.topic == header.topic and is_match(m.message))
        return found._replace(messages=tuple(matching))

    def _view_by_position(
        self, topic: str, message_place: OffsetId, named_addrs: Sequence[tuple[str | None, str]], msg_id: str
    ) -> FoundMessages:
        """Read the message at a commit log position of brokers, if it has this id."""
        ext_fields = broker_headers.ViewMessage(topic, message_place.physical_offset)
        calls = [(addr, make_request(RequestCode.VIEW_MESSAGE_BY_ID, ext_fields)) for _, addr in named_addrs]
        # An empty position, or one inside a message, gives code 1 or bytes that are not a message.
        answers = self._caller.send_requests(calls, accepted_codes=(0, ResponseCode.SYSTEM_ERROR))
        broker_names = (broker_name for broker_name, _ in named_addrs)
        found = _gather_messages(zip(broker_names, answers, strict=True), is_tolerant=True)
        messages = [m for m in found.messages if m.message.offset_msg_id == msg_id.upper()]
        # Slaves hold exact copies of their master's messages, so the same message may occur several times.
        messages_by_offset = {m.message.queue_offset: m for m in reversed(messages)}
        return found._replace(messages=tuple(messages_by_offset[o] for o in sorted(messages_by_offset)))

    def _add_broker_names(self, found_messages: FoundMessages) -> FoundMessages:
        """Add the broker name to each message whose store address occurs in the route of its topic."""
        unnamed_topics = {m.message.topic for m in found_messages.messages if m.broker_name is None}
        names_by_addr: dict[str, str] = {}
        for topic in unnamed_topics:
            try:
                queue_routes = self._topics.get_route(topic).queues
            except ClientClosed:
                raise
            except RocketMQError:
                continue
            names_by_addr |= {addr: r.broker_name for r in queue_routes for addr in r.broker_addrs.values()}
        named_messages = (
            LocatedMessage(broker_name or names_by_addr.get(message.store_host), message)
            for broker_name, message in found_messages.messages
        )
        return found_messages._replace(messages=tuple(named_messages))


def _gather_messages(
    named_answers: Iterable[tuple[str | None, ServerResult[RemotingCommand]]], *, is_tolerant: bool = False
) -> FoundMessages:
    """Join the answers of brokers. Bytes that are not a message are an error unless `is_tolerant`."""
    located_messages: list[LocatedMessage] = []
    results: list[ServerResult[int]] = []
    for broker_name, (broker_addr, response, error) in named_answers:
        if response is None:
            results.append(ServerResult(broker_addr, None, error))
            continue
        decoded_body = decode_messages(response.body if response.code == 0 else b"")
        located_messages += (LocatedMessage(broker_name, message) for message in decoded_body.messages)
        if decoded_body.unread_bytes and not is_tolerant:
            reason = f"{decoded_body.unread_bytes} bytes of the answer are not messages"
            results.append(ServerResult(broker_addr, None, CallError(broker_addr, "unreadable", reason)))
        else:
            results.append(ServerResult(broker_addr, len(decoded_body.messages), None))
    located_messages.sort(key=lambda m: (m.message.store_timestamp, m.message.physical_offset))
    return FoundMessages(tuple(located_messages), tuple(results))
