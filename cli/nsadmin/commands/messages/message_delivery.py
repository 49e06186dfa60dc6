"""Delivers messages that queryMsgById or queryMsgByUniqueKey found to one client, or to their topic again."""

from collections.abc import Sequence
from typing import Annotated

from typer import Option

from namesrv_core.errors import RocketMQError
from nsadmin.client import NotApplied
from nsadmin.client.messages.dead_letter_selection import DEAD_LETTER_PREFIX
from nsadmin.client.messages.message_delivery import MessageDelivery, MessageReceiver
from nsadmin.client.messages.message_queries import LocatedMessage
from nsadmin.client.results import error_text
from nsadmin.commands.columns.result_rows import outcome_cells
from nsadmin.commands.messages.message_sender import SENT_COLUMNS, sent_row
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.quantities import to_millis
from nsadmin.console.phrases import quote_command
from nsadmin.console.session import Session

DELIVERY_COLUMNS = (
    "msgId",
    "offsetMsgId",
    "topic",
    "brokerName",
    "brokerAddr",
    "group",
    "clientId",
    "consumeResult",
    "spentMs",
    "result",
    "error",
)
DELIVERY_TABLE_COLUMNS = (
    "msgId",
    "brokerName",
    "group",
    "clientId",
    "consumeResult",
    "spentMs",
    "result",
    "error",
)
SUCCESS_RESULTS = ("CR_SUCCESS", "CR_COMMIT")

PushGroupOption = Annotated[
    str | None,
    Option(
        "-g",
        "--consumerGroup",
        metavar="GROUP",
        help="With -d: deliver the message to this client of the group.",
    ),
]
PushClientOption = Annotated[
    str | None,
    Option("-d", "--clientId", metavar="CLIENT", help="With -g: a client id from consumerConnection."),
]


def has_push_receiver(group: str | None, client_id: str | None) -> bool:
    """Whether the line names a client that gets the messages; group and client belong together."""
    if (group is None) != (client_id is None):
        raise UsageError("incomplete client: pass both -g GROUP and -d CLIENT")
    return group is not None


def push_messages(
    session: Session,
    command_name: str,
    messages: Sequence[LocatedMessage],
    group: str | None,
    client_id: str | None,
) -> ResultRows:
    """Push each message to the client, one after another; a row shows how the client consumed it."""
    session.require_writable(f"{command_name} -g -d")
    session.require_yes(f"{command_name} -g -d")
    message_delivery = session.admin.delivery
    message_receivers = [
        message_delivery.find_receiver(located_message, group or "", client_id or "")
        for located_message in messages
    ]
    session.confirm_change(
        f"Make {client_id} of {group} consume {_count_text(messages)} now, even if it consumed them before?"
    )
    delivery_rows: list[ResultRow] = []
    delivery_errors: list[RocketMQError | None] = []
    for message_receiver in message_receivers:
        client_answer, delivery_error = (
            ({}, None) if session.is_dry_run else _push_message(message_delivery, message_receiver)
        )
        message = message_receiver.located_message.message
        delivery_errors.append(delivery_error)
        delivery_rows.append(
            {
                "msgId": message.msg_id,
                "offsetMsgId": message.offset_msg_id,
                "topic": message.topic,
                "brokerName": message_receiver.located_message.broker_name,
                "brokerAddr": message_receiver.broker_addr,
                "group": group,
                "clientId": client_id,
                **client_answer,
                **outcome_cells(delivery_error, "dry-run" if session.is_dry_run else "done"),
            }
        )
    return ResultRows(
        DELIVERY_COLUMNS,
        delivery_rows,
        delivery_errors,
        _error_notes(delivery_errors),
        DELIVERY_TABLE_COLUMNS,
    )


def _push_message(
    message_delivery: MessageDelivery, message_receiver: MessageReceiver
) -> tuple[ResultRow, RocketMQError | None]:
    """The cells of the client's answer, and the error if it did not consume the message."""
    try:
        delivery_outcome = message_delivery.deliver_message(message_receiver)
    except RocketMQError as delivery_error:
        return {}, delivery_error
    client_answer = {
        "consumeResult": delivery_outcome.consume_result,
        "spentMs": to_millis(delivery_outcome.spent_ms),
    }
    if delivery_outcome.consume_result in SUCCESS_RESULTS:
        return client_answer, None
    return client_answer, NotApplied(
        f"the client did not consume it: {delivery_outcome.remark or delivery_outcome.consume_result}"
    )


def resend_messages(session: Session, command_name: str, messages: Sequence[LocatedMessage]) -> ResultRows:
    """Send each message to its own queue, or to another queue of its topic; rows are those of sendMessage."""
    session.require_writable(f"{command_name} -s")
    _refuse_dead_letters(command_name, messages)
    session.require_yes(f"{command_name} -s")
    message_delivery = session.admin.delivery
    send_queues = [message_delivery.choose_resend_queue(located_message) for located_message in messages]
    session.confirm_change(
        f"Send {_count_text(messages)} again to every group of {messages[0].message.topic}?"
    )
    sent_rows: list[ResultRow] = []
    send_errors: list[RocketMQError | None] = []
    for located_message, send_queue in zip(messages, send_queues, strict=True):
        sent_message, send_error = None, None
        if not session.is_dry_run:
            try:
                sent_message = message_delivery.resend_message(send_queue, located_message.message)
            except RocketMQError as failure:
                send_error = failure
        send_errors.append(send_error)
        sent_rows.append(
            sent_row(send_queue, sent_message, send_error, None, "dry-run" if session.is_dry_run else "done")
        )
    return ResultRows(SENT_COLUMNS, sent_rows, send_errors, _error_notes(send_errors))


def _refuse_dead_letters(command_name: str, messages: Sequence[LocatedMessage]) -> None:
    """Raise UsageError for a dead letter: its own topic would get a copy that no consumer receives."""
    for located_message in messages:
        topic = located_message.message.topic
        if topic.startswith(DEAD_LETTER_PREFIX):
            group = topic.removeprefix(DEAD_LETTER_PREFIX)
            raise UsageError(
                f'{command_name}: -s true would only append a copy to the dead-letter topic "{topic}": '
                f"deliver dead letters to their group with `{quote_command('dlq', 'replay', group)}`"
            )


def _count_text(located_messages: Sequence[LocatedMessage]) -> str:
    return (
        f"the message {located_messages[0].message.msg_id}"
        if len(located_messages) == 1
        else f"{len(located_messages)} messages"
    )


def _error_notes(message_errors: Sequence[RocketMQError | None]) -> list[str]:
    return [error_text(error) for error in dict.fromkeys(message_errors) if error is not None]
