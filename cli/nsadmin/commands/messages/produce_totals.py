"""Counts the messages that `produce` sent, or would send, and builds its rows."""

from collections.abc import Iterator
from time import monotonic
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client.messages.bulk_sender import MessageDraft, SentDraft
from nsadmin.commands.columns.result_rows import outcome_cells
from nsadmin.commands.messages.message_sender import sent_row
from nsadmin.console.output import ByteSize, ResultRow, ResultRows

PRODUCE_COLUMNS = (
    "topic", "brokerName", "transaction", "messageCount", "bodyBytes", "failed", "messagesPerSecond",
    "result", "error",
)  # fmt: skip


class ProduceOptions(NamedTuple):
    """The options of one command that concern its sends."""

    topic: str
    broker_name: str | None
    queue_id: int | None
    rate: float | None
    compression: str | None
    transaction: str | None
    writes_traces: bool


class SendTotals:
    """Counts the messages that were sent to each broker."""

    def __init__(self, options: ProduceOptions) -> None:
        self._topic, self._transaction, self._began_at = options.topic, options.transaction, monotonic()
        self._counts: dict[str, tuple[int, int, int]] = {}
        self.errors: dict[str, RocketMQError] = {}
        self.trace_error: RocketMQError | None = None
        self.sent_rows: list[ResultRow] = []
        self.sent_count = 0

    def add_batch(self, batch: list[SentDraft], shows_each: bool) -> None:
        for sent_draft in batch:
            broker_name, error = sent_draft.send_queue.broker_name, sent_draft.result.error
            sent_count, sent_bytes, failed_count = self._counts.get(broker_name, (0, 0, 0))
            if error is None:
                self.sent_count += 1
                sent_count, sent_bytes = sent_count + 1, sent_bytes + len(sent_draft.draft.body)
            else:
                failed_count += 1
                self.errors.setdefault(broker_name, error)
            self._counts[broker_name] = (sent_count, sent_bytes, failed_count)
            self.trace_error = self.trace_error or sent_draft.trace_error
            if shows_each:
                self.sent_rows.append(
                    sent_row(sent_draft.send_queue, sent_draft.result.result, error, None, "done")
                )

    def list_rows(self) -> list[ResultRow]:
        elapsed_seconds = max(monotonic() - self._began_at, 0.001)
        return [
            {
                "topic": self._topic,
                "brokerName": broker_name,
                "transaction": self._transaction,
                "messageCount": sent_count,
                "bodyBytes": ByteSize(sent_bytes),
                "failed": failed_count,
                "messagesPerSecond": round(sent_count / elapsed_seconds, 1),
                **outcome_cells(self.errors.get(broker_name)),
            }
            for broker_name, (sent_count, sent_bytes, failed_count) in sorted(self._counts.items())
        ]


def list_table_columns(options: ProduceOptions) -> tuple[str, ...]:
    """The columns of a table; without transactions, none about them."""
    return tuple(name for name in PRODUCE_COLUMNS if name != "transaction" or options.transaction)


def count_drafts(options: ProduceOptions, drafts: Iterator[MessageDraft | None]) -> ResultRows:
    """Read the whole input, and count it."""
    message_count = body_bytes = 0
    for draft in drafts:
        if draft is not None:
            message_count, body_bytes = message_count + 1, body_bytes + len(draft.body)
    preview_row: ResultRow = {
        "topic": options.topic,
        "brokerName": options.broker_name,
        "transaction": options.transaction,
        "messageCount": message_count,
        "bodyBytes": ByteSize(body_bytes),
        "failed": 0,
        "messagesPerSecond": None,
        **outcome_cells(None, "dry-run"),
    }
    return ResultRows(PRODUCE_COLUMNS, [preview_row], (), (), list_table_columns(options))
