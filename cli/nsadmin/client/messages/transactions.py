"""`admin.transactions`: half messages of transactions that have not ended, and discarded ones."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from namesrv_core.errors import NotSupported, RocketMQError, TopicNotExist
from namesrv_core.protocol import broker_headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.stored_messages import StoredMessage, decode_messages
from nsadmin.client.brokers.broker_configs import BrokerConfigs
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.consumers.committed_offsets import read_committed_offsets
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.messages.consume_queues import ConsumeQueues
from nsadmin.client.messages.delayed_messages import HALF_TOPIC
from nsadmin.client.messages.message_queries import MessageAdmin
from nsadmin.client.messages.queue_reader import QueueReader, QueueSpan
from nsadmin.client.results import NotApplied, OverReadLimit, ServerResult, is_not_found
from nsadmin.client.topic_routes import QueueRoute

ENDED_TOPIC, DISCARDED_TOPIC = "RMQ_SYS_TRANS_OP_HALF_TOPIC", "TRANS_CHECK_MAX_TIME_TOPIC"
CHECKING_GROUP = "CID_RMQ_SYS_TRANS"
"""The group of brokers that reads half messages, and the topic with the offsets of ended ones."""
DEFAULT_READ_LIMIT = 10_000
_VIEWED_AT_ONCE = 500


class HalfMessage(NamedTuple):
    """A message of a transaction that has not ended.

    Attributes:
        message: The message without its body. A broker stores it again with each check.
    """

    message: StoredMessage

    @property
    def topic(self) -> str | None:
        """The topic that the message is for."""
        return self.message.properties.get("REAL_TOPIC")

    @property
    def producer_group(self) -> str | None:
        """The producer group that the broker asks about the transaction."""
        return self.message.properties.get("PGROUP")

    @property
    def check_count(self) -> int:
        """How often the broker has asked, with or without a connected producer."""
        count_text = self.message.properties.get("TRANSACTION_CHECK_TIMES", "")
        return int(count_text) if count_text.isdecimal() else 0


class HalfMessages(NamedTuple):
    """The half messages of a broker.

    Attributes:
        messages: The messages in the order of their queue.
        unread_count: The messages beyond the read limit, which were not examined.
    """

    messages: tuple[HalfMessage, ...]
    unread_count: int


class TransactionAdmin:
    """`admin.transactions`: half messages."""

    def __init__(
        self, caller: Caller, broker_configs: BrokerConfigs, messages: MessageAdmin, queue_reader: QueueReader
    ) -> None:
        self._caller, self._broker_configs = caller, broker_configs
        self._messages, self._queue_reader = messages, queue_reader

    def list_half_messages(
        self, broker_addrs: Iterable[str], read_limit: int = DEFAULT_READ_LIMIT
    ) -> list[ServerResult[HalfMessages]]:
        """Return the half messages whose transaction has not ended.

        Sends GET_MIN_OFFSET (31), GET_MAX_OFFSET (30), QUERY_CONSUMER_OFFSET (14) and PULL_MESSAGE (11). 4.x
        brokers do not let clients pull the offsets of ended transactions: QUERY_CONSUME_QUEUE (321) and
        VIEW_MESSAGE_BY_ID (33) read them. A broker since 5.0 notes the end of a transaction 3 seconds late.

        Args:
            broker_addrs: The masters.
            read_limit: The maximum number of messages to read from each queue of a broker.

        Returns:
            One ServerResult per distinct address, in order. The error is NotSupported for a broker that
            keeps half messages in RocksDB.
        """
        addrs = list(dict.fromkeys(broker_addrs))
        configs = self._broker_configs.get_each(addrs)
        errors = {config.addr: _refuse_rocksdb(config) for config in configs}
        asked_addrs = [addr for addr in addrs if errors[addr] is None]
        # A broker's check moves its place among half messages first, then that among ended transactions.
        ended_spans = self._read_spans(ENDED_TOPIC, asked_addrs)
        half_spans = {span.addr: span for span in self._read_spans(HALF_TOPIC, asked_addrs)}
        spans = [half_spans.get(addr, ServerResult(addr, None, errors[addr])) for addr in addrs]
        half_messages = self._read_messages(HALF_TOPIC, spans, read_limit)
        checked_addrs = {r.addr for r in half_messages if r.result is not None and r.result.messages}
        ended = {
            span.addr: span.then(lambda s: self._read_ended_offsets(s, read_limit))
            for span in ended_spans
            if span.addr in checked_addrs
        }
        return [
            _without_ended(result, ended[result.addr]) if result.addr in ended else result
            for result in half_messages
        ]

    def list_discarded(
        self, broker_addrs: Iterable[str], read_limit: int = DEFAULT_READ_LIMIT, since_ms: int = 0
    ) -> list[ServerResult[HalfMessages]]:
        """Return the newest half messages that brokers discarded after too many checks, or as too old.

        Sends GET_MIN_OFFSET (31), GET_MAX_OFFSET (30), QUERY_CONSUMER_OFFSET (14), PULL_MESSAGE (11) and,
        with `since_ms`, SEARCH_OFFSET_BY_TIMESTAMP (29).

        Args:
            broker_addrs: The masters.
            read_limit: The maximum number of messages to read from each broker.
            since_ms: Only those discarded since this time in ms since 1970. Default: all.

        Returns:
            One ServerResult per distinct address, in order.
        """
        spans = self._read_spans(DISCARDED_TOPIC, broker_addrs, since_ms)
        return self._read_messages(DISCARDED_TOPIC, spans, read_limit, reads_newest=True)

    def resume_check(self, broker_addr: str, half_message: HalfMessage) -> None:
        """Have a broker check a discarded half message again, from 0 on (RESUME_CHECK_HALF_MESSAGE, 323).

        Args:
            broker_addr: The master that discarded it.
            half_message: The message of `list_discarded`. A broker takes any other message, too.

        Raises:
            RocketMQError: The broker refused or did not answer.
        """
        header = broker_headers.ResumeCheckHalfMessage(
            half_message.message.topic, half_message.message.offset_msg_id
        )
        request_code = RequestCode.RESUME_CHECK_HALF_MESSAGE
        self._caller.read_one(broker_addr, lambda _: True, request_code, header).value()

    def preview_resume(self, broker_addr: str, half_message: HalfMessage, now_ms: int) -> None:
        """Raise the reason why `resume_check` would have no effect, or would deliver the message twice.

        Args:
            broker_addr: The master that discarded it.
            half_message: The message of `list_discarded`.
            now_ms: The present time in ms since 1970.

        Raises:
            NotApplied: The broker checks the message already, discards it at once, or its topic has it.
            NotSupported: The broker keeps half messages in RocksDB.
        """
        [config_result] = self._broker_configs.get_each([broker_addr])
        config = config_result.value()
        if config.get("brokerRole") == "SLAVE":
            raise NotApplied("the broker is a slave: only a master checks half messages")
        message = half_message.message
        hours = config.get("fileReservedTime", "")
        if hours.isdecimal() and now_ms - message.born_timestamp > int(hours) * 3_600_000:
            raise NotApplied(
                f"the message is older than fileReservedTime ({hours} h): "
                "the broker would discard it again at once"
            )
        [half_messages] = self.list_half_messages([broker_addr])
        for other in half_messages.value().messages:
            if other.message.msg_id == message.msg_id:
                raise NotApplied(
                    f"the broker checks the message already, as half message {other.message.offset_msg_id}"
                )
        topic = half_message.topic or ""
        try:
            found = self._messages.find_by_unique_key(topic, message.msg_id)
        except TopicNotExist as error:
            raise NotApplied(f'the topic "{topic}" of the message does not exist') from error
        if found.messages:
            raise NotApplied(f'the transaction was committed: topic "{topic}" has the message')
        for query_error in found.errors:
            if query_error is not None and not is_not_found(query_error):
                raise query_error

    def _read_spans(
        self, topic: str, broker_addrs: Iterable[str], since_ms: int = 0
    ) -> list[ServerResult[QueueSpan]]:
        """The offsets in queue 0, from where the broker continues. Pages are told apart by the address."""
        routes = [QueueRoute(addr, None, {0: addr}, 6, 1, 1, 0) for addr in dict.fromkeys(broker_addrs)]
        spans = self._queue_reader.get_spans(topic, routes, begin_ms=since_ms)
        passed = read_committed_offsets(
            self._caller,
            [(s.broker_name, CHECKING_GROUP, MessageQueue(topic, s.broker_name, 0)) for s in spans],
        )
        return [
            ServerResult(
                s.broker_name,
                s.queue_span
                and s.queue_span._replace(begin_offset=max(s.queue_span.begin_offset, offset or 0)),
                None,
            )
            if s.error is None and error is None
            else ServerResult(s.broker_name, None, s.error or error)
            for s, (offset, error) in zip(spans, passed, strict=True)
        ]

    def _read_messages(
        self,
        topic: str,
        spans: Sequence[ServerResult[QueueSpan]],
        read_limit: int,
        *,
        reads_newest: bool = False,
    ) -> list[ServerResult[HalfMessages]]:
        errors = {s.addr: s.error for s in spans if s.error is not None}
        messages: dict[str, dict[str, HalfMessage]] = {s.addr: {} for s in spans}
        unread_counts = {a: 0 if s is None else max(0, s.offset_count - read_limit) for a, s, _ in spans}
        bounded = [
            s._replace(begin_offset=s.begin_offset + unread_counts[addr])
            if reads_newest
            else s._replace(end_offset=s.end_offset - unread_counts[addr])
            for addr, s, _ in spans
            if s is not None
        ]
        for page in self._queue_reader.read_pages(topic, bounded):
            if page.error is not None:
                errors[page.broker_name] = page.error
            for message in page.messages:
                # A check stores the message again, and then leaves the earlier copy behind.
                messages[page.broker_name].pop(message.msg_id, None)
                messages[page.broker_name][message.msg_id] = HalfMessage(message._replace(body=b""))
        return [
            ServerResult(addr, None, errors[addr])
            if addr in errors
            else ServerResult(addr, HalfMessages(tuple(found.values()), unread_counts[addr]), None)
            for addr, found in messages.items()
        ]

    def _read_ended_offsets(self, span: QueueSpan, read_limit: int) -> frozenset[int]:
        """The offsets of half messages whose transaction ended, and which the broker did not pass yet."""
        if span.offset_count > read_limit:
            raise OverReadLimit(
                f"not read: more than {read_limit} transactions ended since the last check of the broker"
            )
        bodies: list[bytes] = []
        for page in self._queue_reader.read_pages(ENDED_TOPIC, [span]):
            if isinstance(page.error, TopicNotExist):
                bodies = self._view_ended(span)
                break
            if page.error is not None:
                raise page.error
            bodies += [message.body for message in page.messages]
        offset_texts = b",".join(bodies).split(b",")
        return frozenset(int(text) for text in offset_texts if text.isdigit())

    def _view_ended(self, span: QueueSpan) -> list[bytes]:
        """The same on 4.x brokers, which refuse pulls because the topic has no configuration."""
        consume_queues = ConsumeQueues(self._caller)
        bodies: list[bytes] = []
        offset = span.begin_offset
        while offset < span.end_offset:
            count = min(_VIEWED_AT_ONCE, span.end_offset - offset)
            read = consume_queues.read_entries_at(span.broker_addr, ENDED_TOPIC, 0, offset, count)
            entries = read.value().entries
            headers = (broker_headers.ViewMessage(ENDED_TOPIC, entry.physic_offset) for entry in entries)
            answers = self._caller.send_requests(
                (span.broker_addr, make_request(RequestCode.VIEW_MESSAGE_BY_ID, header)) for header in headers
            )
            bodies += [m.body for answer in answers for m in decode_messages(answer.value().body).messages]
            offset += max(1, len(entries))
        return bodies


def _refuse_rocksdb(config: ServerResult[dict[str, str]]) -> RocketMQError | None:
    if config.result is not None and config.result.get("transRocksDBEnable") == "true":
        return NotSupported("it keeps half messages in RocksDB (transRocksDBEnable), which no request reads")
    return config.error


def _without_ended(
    half_messages: ServerResult[HalfMessages], ended_offsets: ServerResult[frozenset[int]]
) -> ServerResult[HalfMessages]:
    return half_messages.then(
        lambda found: found._replace(
            messages=tuple(h for h in found.messages if h.message.queue_offset not in ended_offsets.value())
        )
    )
