"""BulkSender: sends many messages to a topic, spread over its queues, in transactions and with traces."""

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from time import monotonic, sleep, time
from typing import NamedTuple

from namesrv_core.errors import RequestError, RocketMQError
from namesrv_core.protocol import broker_headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.message_compression import deflate_body
from namesrv_core.protocol.stored_messages import (
    KEYS_PROPERTY,
    TAGS_PROPERTY,
    UNIQUE_KEY_PROPERTY,
    split_keys,
)
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.messages.message_sender import (
    DELAYED_MESSAGE,
    HALF_MESSAGE,
    NORMAL_MESSAGE,
    PRODUCER_GROUP,
    TRANSACTION_END,
    MessageSender,
    OutgoingMessage,
    SendQueue,
    SentMessage,
    encode_send_record,
    join_trace_fields,
    make_unique_key,
)
from nsadmin.client.messages.message_traces import MESSAGE_TYPES, TRACE_TOPIC
from nsadmin.client.results import ServerResult

MAX_BATCH_MESSAGES, MAX_BATCH_BYTES = 64, 4 << 20
SHARDING_KEY_PROPERTY = "__SHARDINGKEY"
DELAY_PROPERTIES = frozenset({"DELAY", "TIMER_DELAY_MS", "TIMER_DELAY_SEC", "TIMER_DELIVER_MS"})

COMMIT, ROLLBACK = "commit", "rollback"
TRANSACTION_OUTCOMES = (COMMIT, ROLLBACK)
PREPARED_FLAG = 0x4
HALF_PROPERTIES = {"TRAN_MSG": "true", "PGROUP": PRODUCER_GROUP}
"""The properties that make a message a half message: brokers hide it from consumers until its commit."""
_FLAGS_BY_OUTCOME = {COMMIT: 0x8, ROLLBACK: 0xC}
_TRANSACTION_STATES = {COMMIT: "COMMIT_MESSAGE", ROLLBACK: "ROLLBACK_MESSAGE"}

_MAX_KEY_CHARS = 16_000
"""The keys of a trace message. Brokers refuse properties of more than 32,767 bytes."""


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


class TransactionEnder:
    """Ends transactions. The outcome of all is "commit" or "rollback"."""

    def __init__(self, caller: Caller, outcome: str) -> None:
        self._caller, self.outcome = caller, outcome

    def end_transactions(self, half_messages: Sequence[SentMessage]) -> list[ServerResult[SentMessage]]:
        """Commit half messages, or roll them back, all at once (END_TRANSACTION, 37)."""
        code = RequestCode.END_TRANSACTION
        answers = self._caller.send_requests(
            (m.send_queue.broker_addr, make_request(code, _build_header(m, self.outcome)))
            for m in half_messages
        )
        return [
            ServerResult(answer.addr, half_message._replace(offset_msg_id=None, queue_offset=None), None)
            if answer.error is None
            else ServerResult(answer.addr, None, _describe_failure(half_message, self.outcome, answer.error))
            for half_message, answer in zip(half_messages, answers, strict=True)
        ]


def _build_header(half_message: SentMessage, outcome: str) -> broker_headers.EndTransaction:
    return broker_headers.EndTransaction(
        topic=half_message.send_queue.topic,
        producer_group=PRODUCER_GROUP,
        tran_state_table_offset=half_message.queue_offset or 0,
        # The id is the address of the broker and the position, in hexadecimal digits.
        commit_log_offset=int((half_message.offset_msg_id or "0")[-16:], 16),
        commit_or_rollback=_FLAGS_BY_OUTCOME[outcome],
        msg_id=half_message.msg_id,
        transaction_id=half_message.msg_id,
    )


def _describe_failure(half_message: SentMessage, outcome: str, error: RocketMQError) -> RocketMQError:
    message_text = f"the {outcome} of {half_message.msg_id}"
    if isinstance(error, RequestError):
        return RequestError(f"{message_text} failed, so no consumer gets it: {error.remark}", error.code)
    if isinstance(error, CallError):
        outcome_text = "may have failed" if error.was_sent else "failed, so no consumer gets it"
        return CallError(error.addr, error.kind, f"{message_text} {outcome_text}: {error.reason}")
    return error


class MessageTracer:
    """Collects the records of a batch, then writes them as few messages."""

    def __init__(self, message_sender: MessageSender) -> None:
        self._message_sender = message_sender
        self._send_queues, self._next_queue_index = message_sender.list_queues(TRACE_TOPIC), 0
        self._noted: list[tuple[str, str]] = []

    def note_send(
        self, sent_message: SentMessage, draft: MessageDraft, message_type: str, began_ms: int, cost_ms: int
    ) -> None:
        """Note a message that the broker stored."""
        trace_record = encode_send_record(
            sent_message,
            keys=draft.keys,
            tags=draft.tags,
            body_length=len(draft.body),
            began_ms=began_ms,
            cost_ms=cost_ms,
            message_type=message_type,
        )
        self._note(sent_message, draft, trace_record)

    def note_transaction(self, half_message: SentMessage, draft: MessageDraft, outcome: str) -> None:
        """Note the end of a transaction."""
        send_queue = half_message.send_queue
        trace_record = join_trace_fields(
            "EndTransaction", int(time() * 1000), half_message.region_id, PRODUCER_GROUP, send_queue.topic,
            half_message.msg_id, draft.tags, draft.keys, send_queue.broker_addr,
            MESSAGE_TYPES.index(TRANSACTION_END), half_message.msg_id, _TRANSACTION_STATES[outcome], "false",
        )  # fmt: skip
        self._note(half_message, draft, trace_record)

    def _note(self, sent_message: SentMessage, draft: MessageDraft, trace_record: str) -> None:
        # Without a region, the broker wants no traces.
        if sent_message.region_id is not None:
            self._noted.append((f"{sent_message.msg_id} {draft.keys}".rstrip(" "), trace_record))

    def write_noted(self) -> RocketMQError | None:
        """Write the noted records (SEND_MESSAGE_V2, 310), and return the first error."""
        trace_messages = []
        while self._noted:
            message_keys, records, key_chars = dict[str, None](), "", 0
            while self._noted and (not records or key_chars + len(self._noted[0][0]) < _MAX_KEY_CHARS):
                record_keys, trace_record = self._noted.pop(0)
                message_keys |= dict.fromkeys(split_keys(record_keys))
                records, key_chars = records + trace_record, key_chars + len(record_keys) + 1
            trace_messages.append(self._build_message(" ".join(message_keys), records))
        results = self._message_sender.send_patiently(trace_messages) if trace_messages else ()
        return next((result.error for result in results if result.error is not None), None)

    def _build_message(self, keys: str, trace_records: str) -> OutgoingMessage:
        self._next_queue_index += 1
        return OutgoingMessage(
            self._send_queues[self._next_queue_index % len(self._send_queues)],
            trace_records.encode(),
            {KEYS_PROPERTY: keys, UNIQUE_KEY_PROPERTY: make_unique_key(time()), "WAIT": "true"},
        )


class BulkSender:
    """Sends drafts in batches. The messages of a batch are sent at once."""

    def __init__(
        self,
        message_sender: MessageSender,
        send_queues: Sequence[SendQueue],
        messages_per_second: float | None = None,
        *,
        compression: str | None = None,
        transactions: TransactionEnder | None = None,
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
            # The broker could store an ordered message before an earlier one of its batch.
            breaks_order = draft.sharding_key is not None and send_queue in (queue for _, queue in batch)
            if batch and (
                len(batch) >= self._max_messages
                or batch_bytes + len(draft.body) > MAX_BATCH_BYTES
                or breaks_order
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
        if self._tracer is not None:
            cost_ms = int(time() * 1000) - began_ms
            for (draft, _), (_, sent_message, _) in zip(batch, results, strict=True):
                if sent_message is not None:
                    self._tracer.note_send(sent_message, draft, self._trace_type(draft), began_ms, cost_ms)
        if self._transactions is not None:
            results = self._end_transactions(batch, results, self._transactions)
        trace_error = self._tracer.write_noted() if self._tracer is not None else None
        yield [SentDraft(d, queue, r, trace_error) for (d, queue), r in zip(batch, results, strict=True)]

    def _trace_type(self, draft: MessageDraft) -> str:
        if self._transactions is not None:
            return HALF_MESSAGE
        return NORMAL_MESSAGE if DELAY_PROPERTIES.isdisjoint(draft.properties) else DELAYED_MESSAGE

    def _end_transactions(
        self,
        batch: Sequence[tuple[MessageDraft, SendQueue]],
        results: Sequence[ServerResult[SentMessage]],
        transactions: TransactionEnder,
    ) -> list[ServerResult[SentMessage]]:
        ended_results = list(results)
        half_messages = {index: result.result for index, result in enumerate(results) if result.result}
        ends = transactions.end_transactions([*half_messages.values()])
        for (index, half_message), end_result in zip(half_messages.items(), ends, strict=True):
            ended_results[index] = end_result
            if self._tracer is not None and end_result.error is None:
                self._tracer.note_transaction(half_message, batch[index][0], transactions.outcome)
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
