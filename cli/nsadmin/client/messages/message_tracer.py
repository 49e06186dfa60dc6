"""MessageTracer: writes the traces of sent messages to the trace topic, as Java producers do."""

from time import time

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.stored_messages import KEYS_PROPERTY, UNIQUE_KEY_PROPERTY, split_keys
from nsadmin.client.messages.message_sender import (
    PRODUCER_GROUP,
    MessageSender,
    OutgoingMessage,
    SentMessage,
    make_unique_key,
)
from nsadmin.client.messages.message_traces import TRACE_TOPIC
from nsadmin.client.messages.trace_records import encode_send_record, encode_transaction_record

_MAX_KEY_CHARS = 16_000
"""The keys of a trace message. Brokers refuse properties of more than 32,767 bytes."""


class MessageTracer:
    """Collects the records of a batch, then writes them as few messages."""

    def __init__(self, message_sender: MessageSender) -> None:
        self._message_sender = message_sender
        self._send_queues, self._next_queue_index = message_sender.list_queues(TRACE_TOPIC), 0
        self._noted: list[tuple[str, str]] = []

    def note_send(
        self,
        sent_message: SentMessage,
        *,
        tags: str,
        keys: str,
        body_length: int,
        message_type: str,
        began_ms: int,
        cost_ms: int,
    ) -> None:
        """Note a message that the broker stored. Without a region, the broker wants no traces."""
        if sent_message.region_id is None:
            return
        trace_record = encode_send_record(
            group=PRODUCER_GROUP,
            topic=sent_message.send_queue.topic,
            msg_id=sent_message.msg_id,
            tags=tags,
            keys=keys,
            broker_addr=sent_message.send_queue.broker_addr,
            offset_msg_id=sent_message.offset_msg_id,
            region_id=sent_message.region_id,
            body_length=body_length,
            began_ms=began_ms,
            cost_ms=cost_ms,
            message_type=message_type,
        )
        self._noted.append((f"{sent_message.msg_id} {keys}".rstrip(" "), trace_record))

    def note_transaction(self, half_message: SentMessage, *, tags: str, keys: str, outcome: str) -> None:
        """Note the end of a transaction."""
        if half_message.region_id is None:
            return
        trace_record = encode_transaction_record(
            group=PRODUCER_GROUP,
            topic=half_message.send_queue.topic,
            msg_id=half_message.msg_id,
            tags=tags,
            keys=keys,
            broker_addr=half_message.send_queue.broker_addr,
            region_id=half_message.region_id,
            ended_ms=int(time() * 1000),
            outcome=outcome,
        )
        self._noted.append((f"{half_message.msg_id} {keys}".rstrip(" "), trace_record))

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
