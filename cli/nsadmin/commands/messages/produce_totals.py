"""Counts the messages that `produce` sent, or would send, and builds its rows."""

from collections.abc import Iterator, Sequence
from time import monotonic
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client.messages.bulk_sender import MessageDraft, SentDraft
from nsadmin.commands.columns.brokers import BROKER_NAME
from nsadmin.commands.columns.changes import RESULT
from nsadmin.commands.columns.messages import FAILED
from nsadmin.commands.columns.servers import ERROR, outcome_word
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.commands.messages.message_sender import Sending
from nsadmin.console.output import ByteSize, Column, Columns, ResultRows


class BrokerTotals(NamedTuple):
    """The messages that were sent to a broker; of a dry run, the messages of the input.

    `duration` is in seconds from the start to the end, None for a dry run.
    """

    broker_name: str | None
    message_count: int = 0
    body_bytes: int = 0
    failed: int = 0
    error: RocketMQError | None = None
    duration: float | None = None

    @property
    def result(self) -> str:
        return outcome_word(self.error, "dry-run" if self.duration is None else "done")


TRANSACTION: Column[BrokerTotals] = Column(
    "transaction", "commit or rollback; null without a transaction", lambda t: None
)
PRODUCE_COLUMNS: Columns[BrokerTotals] = (
    TOPIC,
    BROKER_NAME,
    TRANSACTION,
    Column(
        "messageCount",
        "messages that the broker stored; in a dry run, messages of the input",
        lambda t: t.message_count,
    ),
    Column("bodyBytes", "size of the bodies, before compression, in bytes", lambda t: ByteSize(t.body_bytes)),
    FAILED,
    Column(
        "messagesPerSecond",
        "messages per second on this broker, from start to end",
        lambda t: None if t.duration is None else round(t.message_count / t.duration, 1),
    ),
    RESULT.means("done, dry-run or failed"),
    ERROR,
)


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

    def __init__(self) -> None:
        self._began_at = monotonic()
        self._totals: dict[str, BrokerTotals] = {}
        self.errors: dict[str, RocketMQError] = {}
        self.trace_error: RocketMQError | None = None
        self.sendings: list[Sending] = []

    @property
    def sent_count(self) -> int:
        return sum(totals.message_count for totals in self._totals.values())

    def add_batch(self, batch: list[SentDraft], shows_each: bool) -> None:
        for sent_draft in batch:
            broker_name, error = sent_draft.send_queue.broker_name, sent_draft.result.error
            totals = self._totals.get(broker_name, BrokerTotals(broker_name))
            if error is None:
                body_bytes = totals.body_bytes + len(sent_draft.draft.body)
                totals = totals._replace(message_count=totals.message_count + 1, body_bytes=body_bytes)
            else:
                self.errors.setdefault(broker_name, error)
                totals = totals._replace(failed=totals.failed + 1, error=self.errors[broker_name])
            self._totals[broker_name] = totals
            self.trace_error = self.trace_error or sent_draft.trace_error
            if shows_each:
                self.sendings.append(Sending(sent_draft.send_queue, sent_draft.result.result, error))

    def list_totals(self) -> list[BrokerTotals]:
        duration = max(monotonic() - self._began_at, 0.001)
        return [self._totals[name]._replace(duration=duration) for name in sorted(self._totals)]


def make_rows(
    options: ProduceOptions,
    totals: list[BrokerTotals],
    errors: Sequence[RocketMQError | None] = (),
    notes: Sequence[str] = (),
) -> ResultRows:
    """The rows of brokers; a table has no column about transactions without them."""
    columns = [c.in_wide() if c is TRANSACTION and not options.transaction else c for c in PRODUCE_COLUMNS]
    common = {TOPIC: options.topic, TRANSACTION: options.transaction}
    return ResultRows.from_records(columns, totals, errors, notes, common=common)


def count_drafts(options: ProduceOptions, drafts: Iterator[MessageDraft | None]) -> ResultRows:
    """Read the whole input, and count it."""
    message_count = body_bytes = 0
    for draft in drafts:
        if draft is not None:
            message_count, body_bytes = message_count + 1, body_bytes + len(draft.body)
    return make_rows(options, [BrokerTotals(options.broker_name, message_count, body_bytes)])
