"""Owns `delayed list` and `delayed cancel`, about messages that brokers deliver later."""

from typing import Annotated, NamedTuple

from typer import Argument

from namesrv_core.errors import RequestError, ResponseCode, RocketMQError
from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client import NotApplied, NotFound
from nsadmin.client.messages.delayed_messages import DelayedMessage
from nsadmin.client.results import error_text
from nsadmin.client.wall_clock import time
from nsadmin.command_line.declarations import Each, Flags, command
from nsadmin.commands.columns.brokers import BROKER_ADDR, BROKER_NAME
from nsadmin.commands.columns.changes import RESULT
from nsadmin.commands.columns.messages import KEYS, MSG_ID, OFFSET_MSG_ID, STORE_TIME, TAGS
from nsadmin.commands.columns.servers import ERROR, failure_notes, outcome_word
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.commands.messages.message_rows import (
    BODY,
    BODY_ENCODING,
    MessageTopicArgument,
    ShownMessage,
    show_message,
)
from nsadmin.console.output import Column, Columns, ResultRows, of_part
from nsadmin.console.output.quantities import to_millis
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session


class PendingMessage(NamedTuple):
    """A message with its body, and the ms until its delivery."""

    delayed: DelayedMessage
    shown: ShownMessage
    remaining_ms: int


DELIVER_TIME: Column[DelayedMessage] = Column(
    "deliverTime", "when the broker delivers it (UTC)", lambda d: format_utc(d.deliver_ms)
)
DELAYED_COLUMNS: Columns[PendingMessage] = (
    *of_part(lambda p: p.shown.message, (MSG_ID,)),
    *of_part(lambda p: p.delayed, (TOPIC,)),
    *of_part(lambda p: p.shown, (BROKER_NAME,)),
    *of_part(lambda p: p.delayed, (DELIVER_TIME,)),
    Column("remainingMs", "ms until the delivery", lambda p: to_millis(p.remaining_ms)),
    *of_part(
        lambda p: p.delayed,
        (
            Column("level", "delay level; null for a timed message", lambda d: d.delay_level),
            Column(
                "cancelled",
                "whether the message was cancelled, so that the broker does not deliver it",
                lambda d: d.is_cancelled,
            ),
        ),
    ),
    *of_part(
        lambda p: p.shown.message, (KEYS, TAGS.in_wide(), STORE_TIME.in_wide(), OFFSET_MSG_ID.in_wide())
    ),
    *of_part(lambda p: p.shown, (BODY, BODY_ENCODING.in_wide())),
)


class Cancellation(NamedTuple):
    """The cancellation of a message on its broker."""

    delayed: DelayedMessage
    broker_addr: str
    error: RocketMQError | None
    result: str


CANCEL_COLUMNS: Columns[Cancellation] = (
    *of_part(lambda c: c.delayed.located_message.message, (MSG_ID,)),
    TOPIC,
    *of_part(lambda c: c.delayed.located_message, (BROKER_NAME,)),
    BROKER_ADDR,
    *of_part(lambda c: c.delayed, (DELIVER_TIME.means("when the broker would deliver it (UTC)"),)),
    RESULT.means("done, dry-run or failed"),
    ERROR,
)


@command(
    columns=DELAYED_COLUMNS,
    examples=("elsewhere", "simulated brokers take no messages"),
    nothing="no delayed messages",
)
def delayed_list(
    session: Session,
    topic: Annotated[
        str | None,
        Argument(metavar="TOPIC", help="A topic. Default: all, in the order of topics."),
        Flags("-t", "--topic"),
        Each("topic"),
    ] = None,
) -> ResultRows:
    """List the messages of one topic or all that brokers deliver later, in the order of their delivery.

    A message has a delay level, or a time on brokers since 5.0. The list has also cancelled messages, because
    brokers keep them. Messages that wait for a retry of a consumer group belong to the retry topic
    %RETRY%GROUP.

    Examples:
        # Scheduled messages of a topic that wait for their delivery, the next one first
        nsadmin delayed list payments
        # How many delayed messages wait in all topics, and which
        nsadmin delayed list
        # Messages of a group that wait for their next retry, the next one first
        nsadmin delayed list %RETRY%warehouse
    """
    now_ms = int(time() * 1000)
    delayed_messages, errors = session.admin.delayed_messages.list_pending(topic, now_ms)
    pending = [
        PendingMessage(d, show_message(d.located_message), max(0, d.deliver_ms - now_ms))
        for d in delayed_messages
    ]
    if pending:
        cancelled_count = sum(d.is_cancelled for d in delayed_messages)
        cancelled = f", {cancelled_count} of them cancelled" if cancelled_count else ""
        at_least = "at least " if errors else ""
        session.write_remark(f"{at_least}{count_noun(len(pending), 'delayed message')}{cancelled}")
    outcomes = [*([None] if pending or not errors else []), *errors.values()]
    columns = DELAYED_COLUMNS
    if topic is not None:
        columns = tuple(c.in_wide() if c.key == TOPIC.key else c for c in columns)
    return ResultRows.from_records(columns, pending, outcomes, failure_notes(errors.items()))


@command(columns=CANCEL_COLUMNS, examples=("elsewhere", "its id is that of a message that was sent"))
def delayed_cancel(
    session: Session,
    topic: MessageTopicArgument,
    msg_id: Annotated[
        str, Argument(metavar="MSGID", help="The id of `delayed list`."), Flags("-i", "--msgId")
    ],
) -> ResultRows:
    """Cancel a timed message before it is delivered.

    Brokers since 5.4 can do that, if recallMessageEnable is true. They cannot cancel a message that has a
    delay level. A cancelled message stays in `delayed list` until its time.

    Examples:
        # Withdraw a message before its delivery
        nsadmin delayed cancel payments 7F0000010B4B18B4AAC2910F8A1E0000 --yes
    """
    delayed_messages, errors = session.admin.delayed_messages.list_pending(topic, int(time() * 1000))
    delayed = next((d for d in delayed_messages if d.located_message.message.msg_id == msg_id), None)
    if delayed is None:
        for error in errors.values():
            raise error
        raise NotFound(f'topic "{topic}" has no delayed message with the id "{msg_id}"')
    broker_name = delayed.located_message.broker_name
    broker_addr = next(
        q.broker_addrs.get(MASTER_BROKER_ID, "")
        for q in session.admin.topics.get_route(topic).queues
        if q.broker_name == broker_name
    )
    session.confirm_change(
        f"Cancel message {msg_id} of {topic}, for delivery at {format_utc(delayed.deliver_ms)}?"
    )
    cancel_error = _cancel_message(session, delayed, broker_addr)
    result = outcome_word(cancel_error, "dry-run" if session.is_dry_run else "done")
    cancellation = Cancellation(delayed, broker_addr, cancel_error, result)
    notes = [] if cancel_error is None else [error_text(cancel_error)]
    return ResultRows.from_records(
        CANCEL_COLUMNS, [cancellation], [cancel_error], notes, common={TOPIC: topic}
    )


def _cancel_message(
    session: Session, delayed_message: DelayedMessage, broker_addr: str
) -> RocketMQError | None:
    delayed_messages = session.admin.delayed_messages
    try:
        if session.is_dry_run:
            delayed_messages.preview_cancel(delayed_message, broker_addr)
        else:
            delayed_messages.cancel_message(delayed_message, broker_addr)
    except RequestError as error:
        if error.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
            return NotApplied(f"broker {broker_addr} cannot cancel messages: brokers since 5.4 can")
        if error.code == ResponseCode.NO_PERMISSION:
            return NotApplied(
                f"broker {broker_addr} does not allow to cancel messages ({error_text(error)}): "
                "set its recallMessageEnable to true"
            )
        return error
    except RocketMQError as error:
        return error
    return None
