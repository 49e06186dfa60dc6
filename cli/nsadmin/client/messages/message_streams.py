"""`admin.message_streams`: many messages at once, sent to a topic or read from it as they come."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.stored_messages import encode_batch_message, require_short_properties
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer, read_ext_fields
from nsadmin.client.messages.bulk_sender import (
    BulkSender,
    MessageDraft,
    MessageTracer,
    SentDraft,
    TransactionEnder,
)
from nsadmin.client.messages.message_sender import (
    STORED_UNSAFELY_CODES,
    MessageSender,
    OutgoingMessage,
    build_send_command,
)
from nsadmin.client.messages.topic_follower import FROM_EARLIEST, FollowStart, TopicFollower
from nsadmin.client.results import NotFound, ServerResult
from nsadmin.client.topics.topics import TopicAdmin


class StoredBatch(NamedTuple):
    """A stored batch.

    Attributes:
        begin_offset: The queue offset of its first message. The others follow without a gap.
        is_safe: False if a flush or a slave was late.
    """

    begin_offset: int
    is_safe: bool


class MessageStreams:
    """`admin.message_streams`: streams of messages."""

    def __init__(self, caller: Caller, topics: TopicAdmin, message_sender: MessageSender) -> None:
        self._caller, self._topics, self._message_sender = caller, topics, message_sender

    def send_drafts(
        self,
        topic: str,
        drafts: Iterable[MessageDraft | None],
        *,
        broker_name: str | None = None,
        queue_id: int | None = None,
        messages_per_second: float | None = None,
        compression: str | None = None,
        transaction: str | None = None,
        writes_traces: bool = False,
    ) -> Iterator[list[SentDraft]]:
        """Send messages to the queues of a topic in turns (SEND_MESSAGE_V2, 310), and yield the outcomes.

        Messages of one queue may be stored in another order, unless they have a sharding key.

        Args:
            topic: The topic. Brokers do not create a missing topic.
            drafts: The messages. None among them sends the messages so far, without waiting for more.
            broker_name: Only queues of this broker. Default: all brokers.
            queue_id: Only queues with this id. Default: all queues.
            messages_per_second: The maximum rate. Default: none.
            compression: Compress bodies that get smaller, with "zlib", "lz4" or "zstd". Default: none.
            transaction: Send each message as a half message, then "commit" it or "rollback" it
                (END_TRANSACTION, 37). Default: no transaction.
            writes_traces: Write traces to the trace topic, as Java producers do.

        Yields:
            One SentDraft per message of a batch, at most 64.

        Raises:
            NotFound: No such queue is writable.
            TopicNotExist: The topic, or the trace topic, has no route.
            ValueError: The library of the compression is not installed.
        """
        send_queues = [
            send_queue
            for send_queue in self._message_sender.list_queues(topic)
            if broker_name in (None, send_queue.broker_name) and queue_id in (None, send_queue.queue_id)
        ]
        if not send_queues:
            queue_phrase = f"queue {queue_id}" if queue_id is not None else "queue"
            raise NotFound(f"{topic} has no writable {queue_phrase} on {broker_name or 'any broker'}")
        bulk_sender = BulkSender(
            self._message_sender,
            send_queues,
            messages_per_second,
            compression=compression,
            transactions=TransactionEnder(self._caller, transaction) if transaction else None,
            tracer=MessageTracer(self._message_sender) if writes_traces else None,
        )
        yield from bulk_sender.send_drafts(drafts)

    def send_batches(self, batches: Sequence[Sequence[OutgoingMessage]]) -> list[ServerResult[StoredBatch]]:
        """Send batches, each to its queue and in order (SEND_BATCH_MESSAGE, 320).

        A batch of one is sent with SEND_MESSAGE_V2 (310). Batches of one queue may be stored in
        another order. Brokers do not create a missing topic.

        Args:
            batches: At least one message each. All messages of a batch have the queue and the sysFlag of the
                first, and its producer's time.

        Returns:
            One ServerResult per batch, in order.

        Raises:
            ValueError: A property contains a separator, or properties are too long. Nothing is sent.
        """
        commands = [_build_batch(batch) for batch in batches]
        answers = self._caller.send_requests(
            [(batch[0].send_queue.broker_addr, c) for batch, c in zip(batches, commands, strict=True)],
            accepted_codes=(0, *STORED_UNSAFELY_CODES),
        )
        return [decode_answer(answer, _parse_batch_answer) for answer in answers]

    def open_follower(
        self,
        topic: str,
        follow_start: FollowStart = FROM_EARLIEST,
        *,
        expression: str = "*",
        expression_type: str = "TAG",
        broker_name: str | None = None,
        queue_id: int | None = None,
    ) -> TopicFollower:
        """Return a reader of all queues of a topic (GET_ROUTEINFO_BY_TOPIC, 105).

        Args:
            topic: The topic.
            follow_start: Where to begin. Default: at the first message of each queue.
            expression: The filter of brokers: tags such as "A || B", or SQL92. Default: all messages.
            expression_type: "TAG" or "SQL92".
            broker_name: Only queues of this broker. Default: all brokers.
            queue_id: Only queues with this id. Default: all queues.

        Raises:
            TopicNotExist: The topic has no route.
            NotFound: The topic is not on this broker, or has no queue with this id.
        """
        return TopicFollower(
            self._caller,
            self._topics,
            topic,
            follow_start,
            expression=expression,
            expression_type=expression_type,
            broker_name=broker_name,
            queue_id=queue_id,
        )


def _build_batch(batch: Sequence[OutgoingMessage]) -> RemotingCommand:
    first_command = build_send_command(batch[0])
    if len(batch) == 1:
        require_short_properties(((first_command.ext or {})["i"] or "").encode())
        return first_command
    # The broker adds the properties of the header to each message (MessageExtEncoder).
    ext_fields = {**(first_command.ext or {}), "h": "0", "i": "", "m": "true"}
    batch_body = b"".join(encode_batch_message(m.body, m.properties, m.flag) for m in batch)
    return make_request(RequestCode.SEND_BATCH_MESSAGE, ext_fields, batch_body)


def _parse_batch_answer(response: RemotingCommand) -> StoredBatch:
    return StoredBatch(read_ext_fields(response).integer("queueOffset"), response.code == 0)
