"""Reads half messages: those of transactions that their producers neither committed nor rolled back."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.stored_messages import StoredMessage
from nsadmin.client import AdminClient
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.messages.queue_reader import QueueSpan
from nsadmin.client.topic_routes import QueueRoute

HALF_TOPIC, OP_TOPIC = "RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC"
DISCARDED_TOPIC = "TRANS_CHECK_MAX_TIME_TOPIC"
"""Brokers move half messages there after transactionCheckMax checks without an answer."""
HALF_GROUP = "CID_RMQ_SYS_TRANS"
_REMOVE_TAG = "d"
"""The tag of messages whose body lists the offsets of decided half messages (TransactionalMessageUtil)."""
_MAX_READ = 10_000


class BrokerTransactions(NamedTuple):
    """The transactions of a broker.

    `half_messages` are those without a decision. `unread_count` more half messages were not read, because
    there are too many. `discarded_messages` are those that the broker gave up since the asked time.
    """

    broker_name: str
    half_messages: Sequence[StoredMessage] = ()
    unread_count: int = 0
    discarded_messages: Sequence[StoredMessage] = ()
    error: RocketMQError | None = None


def read_transactions(
    admin: AdminClient, master_addrs: Mapping[str, str], discarded_since_ms: int
) -> list[BrokerTransactions]:
    """Read the transactions of masters, by broker name, from the queues in which brokers keep them."""
    return [
        _read_broker(admin, name, addr, discarded_since_ms) for name, addr in sorted(master_addrs.items())
    ]


def _read_broker(admin: AdminClient, name: str, addr: str, discarded_since_ms: int) -> BrokerTransactions:
    route = QueueRoute(name, None, {0: addr}, 6, 1, 1, 0)
    try:
        half_span = _find_waiting(admin, HALF_TOPIC, route)
        read_span, op_span = _limit(half_span), _limit(_find_waiting(admin, OP_TOPIC, route))
        [discarded] = admin.queue_reader.get_spans(DISCARDED_TOPIC, [route], begin_ms=discarded_since_ms)
        discarded_spans = [] if discarded.queue_span is None else [_limit(discarded.queue_span)]
        half_messages = list(_read(admin, HALF_TOPIC, [read_span]))
        decided = set(find_decided(_read(admin, OP_TOPIC, [op_span])))
        return BrokerTransactions(
            name,
            # During its check, a broker writes each message again, and then moves past the former ones.
            list({m.msg_id: m for m in half_messages if m.queue_offset not in decided}.values()),
            half_span.end_offset - read_span.end_offset,
            list(_read(admin, DISCARDED_TOPIC, discarded_spans)),
            discarded.error,
        )
    except RocketMQError as error:
        return BrokerTransactions(name, error=error)


def _find_waiting(admin: AdminClient, topic: str, route: QueueRoute) -> QueueSpan:
    """The part of a queue that the broker's own check of transactions has not passed."""
    [result] = admin.queue_reader.get_spans(topic, [route])
    if result.queue_span is None:
        raise result.error or RuntimeError(topic)
    span = result.queue_span
    queue = MessageQueue(topic, route.broker_name, 0)
    [committed] = admin.queue_progress.get_committed_offsets([(span.broker_addr, HALF_GROUP, queue)])
    if committed.error is not None:
        raise committed.error
    return span._replace(begin_offset=max(span.begin_offset, committed.offset or 0))


def _limit(span: QueueSpan) -> QueueSpan:
    return span._replace(end_offset=min(span.end_offset, span.begin_offset + _MAX_READ))


def _read(admin: AdminClient, topic: str, spans: Sequence[QueueSpan]) -> Iterator[StoredMessage]:
    for page in admin.queue_reader.read_pages(topic, spans):
        if page.error is not None:
            raise page.error
        yield from page.messages


def find_decided(op_messages: Iterable[StoredMessage]) -> Iterator[int]:
    """The offsets of decided half messages. Before 5.0 a message has one offset, since then several."""
    for message in op_messages:
        if message.tags == _REMOVE_TAG:
            yield from (
                int(word) for word in message.body.decode(errors="replace").split(",") if word.isdecimal()
            )
