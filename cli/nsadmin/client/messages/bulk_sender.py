"""BulkSender: sends many messages to a topic, spread over its queues."""

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from time import monotonic, sleep, time
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.message_compression import deflate_body
from namesrv_core.protocol.stored_messages import KEYS_PROPERTY, TAGS_PROPERTY, UNIQUE_KEY_PROPERTY
from nsadmin.client.messages.message_sender import (
    MessageSender,
    OutgoingMessage,
    SendQueue,
    SentMessage,
    make_unique_key,
)
from nsadmin.client.messages.message_tracer import MessageTracer
from nsadmin.client.messages.trace_records import DELAYED_MESSAGE, HALF_MESSAGE, NORMAL_MESSAGE
from nsadmin.client.messages.transactions import HALF_PROPERTIES, PREPARED_FLAG, TransactionEnder
from nsadmin.client.results import ServerResult

MAX_BATCH_MESSAGES, MAX_BATCH_BYTES = 64, 4 << 20
SHARDING_KEY_PROPERTY = "__SHARDINGKEY"
DELAY_PROPERTIES = frozenset({"DELAY", "TIMER_DELAY_MS", "TIMER_DELAY_SEC", "TIMER_DELIVER_MS"})


class MessageDraft(NamedTuple):
    """A message before its queue is chosen.

    Attributes:
        body: The body in bytes.
        keys: The business keys, separated by blanks.
        tags: The tag.
        properties: Further properties, such as the delay.
        sharding_key: Messages with the same key go to the same queue, in order. Default: any queue.
    """

    body: bytes
    keys: str = ""
    tags: str = ""
    properties: Mapping[str, str] = {}
    sharding_key: str | None = None


class SentDraft(NamedTuple):
    """A message that was sent, or that failed.

    Attributes:
        draft: The message.
        send_queue: The queue.
        result: The stored message, or the error. After a transaction, the ids of its place are None.
        trace_error: The error of the first trace of its batch that was not written; else None.
    """

    draft: MessageDraft
    send_queue: SendQueue
    result: ServerResult[SentMessage]
    trace_error: RocketMQError | None = None


class SendTransactions(NamedTuple):
    """How the transactions of messages end.

    Attributes:
        ender: Ends them.
        outcome: "commit" or "rollback".
    """

    ender: TransactionEnder
    outcome: str


class BulkSender:
    """Sends drafts in batches. The messages of a batch are sent at once."""

    def __init__(
        self,
        message_sender: MessageSender,
        send_queues: Sequence[SendQueue],
        messages_per_second: float | None = None,
        *,
        compression: str | None = None,
        transactions: SendTransactions | None = None,
        tracer: MessageTracer | None = None,
    ) -> None:
        self._message_sender, self._send_queues = message_sender, send_queues
        self._rate, self._compression = messages_per_second, compression
        self._transactions, self._tracer = transactions, tracer
        self._began_at, self._sent_count, self._next_queue_index = monotonic(), 0, 0

    def send_drafts(self, drafts: Iterable[MessageDraft | None]) -> Iterator[list[SentDraft]]:
        """Send drafts, and yield the outcome of each batch."""
        batch: list[tuple[MessageDraft, SendQueue]] = []
        batch_bytes = 0
        for draft in drafts:
            if draft is None:
                yield from self._send_batch(batch)
                batch, batch_bytes = [], 0
                continue
            send_queue = self._choose_queue(draft)
            if batch and (
                len(batch) >= self._max_messages
                or batch_bytes + len(draft.body) > MAX_BATCH_BYTES
                or _breaks_order(draft, send_queue, batch)
            ):
                yield from self._send_batch(batch)
                batch, batch_bytes = [], 0
            batch.append((draft, send_queue))
            batch_bytes += len(draft.body)
        yield from self._send_batch(batch)

    @property
    def _max_messages(self) -> int:
        """Small batches if a rate is set, so that they spread evenly."""
        return (
            MAX_BATCH_MESSAGES if self._rate is None else max(1, min(MAX_BATCH_MESSAGES, int(self._rate / 5)))
        )

    def _choose_queue(self, draft: MessageDraft) -> SendQueue:
        if draft.sharding_key is not None:
            return self._send_queues[zlib.crc32(draft.sharding_key.encode()) % len(self._send_queues)]
        self._next_queue_index += 1
        return self._send_queues[self._next_queue_index % len(self._send_queues)]

    def _send_batch(self, batch: Sequence[tuple[MessageDraft, SendQueue]]) -> Iterator[list[SentDraft]]:
        if not batch:
            return
        if self._rate is not None:
            sleep(max(0.0, self._began_at + self._sent_count / self._rate - monotonic()))
        self._sent_count += len(batch)
        began_ms = int(time() * 1000)
        results = self._message_sender.send_patiently([self._build_message(draft, q) for draft, q in batch])
        self._note_sends(batch, results, began_ms, int(time() * 1000) - began_ms)
        if self._transactions is not None:
            results = self._end_transactions(batch, results, self._transactions)
        trace_error = self._tracer.write_noted() if self._tracer is not None else None
        yield [SentDraft(d, queue, r, trace_error) for (d, queue), r in zip(batch, results, strict=True)]

    def _note_sends(
        self,
        batch: Sequence[tuple[MessageDraft, SendQueue]],
        results: Sequence[ServerResult[SentMessage]],
        began_ms: int,
        cost_ms: int,
    ) -> None:
        for (draft, _), result in zip(batch, results, strict=True):
            if self._tracer is not None and result.result is not None:
                self._tracer.note_send(
                    result.result,
                    tags=draft.tags,
                    keys=draft.keys,
                    body_length=len(draft.body),
                    message_type=self._trace_type(draft),
                    began_ms=began_ms,
                    cost_ms=cost_ms,
                )

    def _trace_type(self, draft: MessageDraft) -> str:
        if self._transactions is not None:
            return HALF_MESSAGE
        return NORMAL_MESSAGE if DELAY_PROPERTIES.isdisjoint(draft.properties) else DELAYED_MESSAGE

    def _end_transactions(
        self,
        batch: Sequence[tuple[MessageDraft, SendQueue]],
        results: Sequence[ServerResult[SentMessage]],
        transactions: SendTransactions,
    ) -> list[ServerResult[SentMessage]]:
        ended_results = list(results)
        half_messages = {index: result.result for index, result in enumerate(results) if result.result}
        ends = transactions.ender.end_transactions([*half_messages.values()], transactions.outcome)
        for (index, half_message), end_result in zip(half_messages.items(), ends, strict=True):
            ended_results[index] = end_result
            if self._tracer is not None and end_result.error is None:
                draft = batch[index][0]
                self._tracer.note_transaction(
                    half_message, tags=draft.tags, keys=draft.keys, outcome=transactions.outcome
                )
        return ended_results

    def _build_message(self, draft: MessageDraft, send_queue: SendQueue) -> OutgoingMessage:
        properties = {
            KEYS_PROPERTY: draft.keys,
            TAGS_PROPERTY: draft.tags,
            UNIQUE_KEY_PROPERTY: make_unique_key(time()),
            "WAIT": "true",
            **({SHARDING_KEY_PROPERTY: draft.sharding_key} if draft.sharding_key else {}),
            **draft.properties,
        }
        body, sys_flag = draft.body, 0
        if self._compression is not None:
            body, sys_flag = deflate_body(body, self._compression)
        if self._transactions is not None:
            properties |= HALF_PROPERTIES
            sys_flag |= PREPARED_FLAG
        return OutgoingMessage(send_queue, body, properties, sys_flag)


def _breaks_order(
    draft: MessageDraft, send_queue: SendQueue, batch: Sequence[tuple[MessageDraft, SendQueue]]
) -> bool:
    """Whether the broker could store this ordered message before an earlier one of the batch."""
    return draft.sharding_key is not None and any(other_queue == send_queue for _, other_queue in batch)
