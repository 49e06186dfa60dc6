"""Owns `delayed list` and `delayed cancel`, about messages that brokers deliver later."""

from typing import Annotated

from typer import Argument

from namesrv_core.errors import RequestError, ResponseCode, RocketMQError
from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client import NotApplied, NotFound
from nsadmin.client.messages.delayed_messages import DelayedMessage
from nsadmin.client.results import error_text
from nsadmin.client.wall_clock import time
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.result_rows import outcome_cells
from nsadmin.commands.messages.message_rows import MessageTopicArgument, message_row
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.quantities import to_millis
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session

DELAYED_COLUMNS = (
    "msgId", "topic", "brokerName", "deliverTime", "remainingMs", "level", "cancelled", "keys", "tags",
    "storeTime", "offsetMsgId", "body", "bodyEncoding",
)  # fmt: skip
DELAYED_TABLE_COLUMNS = (
    "msgId", "brokerName", "deliverTime", "remainingMs", "level", "cancelled", "keys", "body",
)  # fmt: skip
CANCEL_COLUMNS = ("msgId", "topic", "brokerName", "brokerAddr", "deliverTime", "result", "error")


@command(columns=DELAYED_COLUMNS, examples=("elsewhere", "simulated brokers take no messages"))
def delayed_list(session: Session, topic: MessageTopicArgument) -> ResultRows:
    """List the messages of a topic that brokers deliver later, in the order of their delivery.

    A message has a delay level, or a time on brokers since 5.0. The list has also cancelled messages, because
    brokers keep them. Messages that wait for a retry of a consumer group belong to the retry topic
    %RETRY%GROUP.

    Examples:
        # The next deliveries
        nsadmin delayed list payments
    """
    now_ms = int(time() * 1000)
    pending_messages, errors = session.admin.delayed_messages.list_pending(topic, now_ms)
    rows = [_delayed_row(delayed_message, now_ms) for delayed_message in pending_messages]
    notes = [f"broker {broker_name}: {error_text(error)}" for broker_name, error in errors.items()]
    outcomes = [*([None] if rows or not errors else []), *errors.values()]
    return ResultRows(DELAYED_COLUMNS, rows, outcomes, notes, DELAYED_TABLE_COLUMNS)


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
        # A message that must not be delivered
        nsadmin delayed cancel payments 7F0000010B4B18B4AAC2910F8A1E0000 --yes
    """
    pending_messages, errors = session.admin.delayed_messages.list_pending(topic, int(time() * 1000))
    delayed_message = next(
        (item for item in pending_messages if item.located_message.message.msg_id == msg_id), None
    )
    if delayed_message is None:
        for error in errors.values():
            raise error
        raise NotFound(f'topic "{topic}" has no delayed message with the id "{msg_id}"')
    broker_name = delayed_message.located_message.broker_name
    broker_addr = next(
        queue_route.broker_addrs.get(MASTER_BROKER_ID, "")
        for queue_route in session.admin.topics.get_route(topic).queues
        if queue_route.broker_name == broker_name
    )
    deliver_text = format_utc(delayed_message.deliver_ms)
    session.require_yes("delayed cancel")
    session.confirm_change(f"Cancel message {msg_id} of {topic}, for delivery at {deliver_text}?")
    cancel_error = _cancel_message(session, delayed_message, broker_addr)
    row: ResultRow = {
        "msgId": msg_id,
        "topic": topic,
        "brokerName": broker_name,
        "brokerAddr": broker_addr,
        "deliverTime": deliver_text,
        **outcome_cells(cancel_error, "dry-run" if session.is_dry_run else "done"),
    }
    notes = [] if cancel_error is None else [error_text(cancel_error)]
    return ResultRows(CANCEL_COLUMNS, [row], [cancel_error], notes)


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
                f"broker {broker_addr} does not allow it: set recallMessageEnable to true "
                f"(it answered: {error_text(error)})"
            )
        return error
    except RocketMQError as error:
        return error
    return None


def _delayed_row(delayed_message: DelayedMessage, now_ms: int) -> ResultRow:
    cells: ResultRow = {
        **message_row(delayed_message.located_message),
        "topic": delayed_message.topic,
        "deliverTime": format_utc(delayed_message.deliver_ms),
        "remainingMs": to_millis(max(0, delayed_message.deliver_ms - now_ms)),
        "level": delayed_message.delay_level,
        "cancelled": delayed_message.is_cancelled,
    }
    return {column_name: cells[column_name] for column_name in DELAYED_COLUMNS}
