"""Delivers messages that queryMsgById or queryMsgByUniqueKey found to one client, or to their topic again."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from typer import Option

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.resource_names import DLQ_PREFIX
from nsadmin.client import NotApplied
from nsadmin.client.advised_command import quote_command
from nsadmin.client.messages.message_delivery import DeliveryOutcome, MessageDelivery, MessageReceiver
from nsadmin.client.messages.message_queries import LocatedMessage
from nsadmin.client.results import error_text
from nsadmin.commands.columns.brokers import BROKER_ADDR, BROKER_NAME
from nsadmin.commands.columns.changes import RESULT
from nsadmin.commands.columns.consumers import CLIENT_ID, GROUP
from nsadmin.commands.columns.messages import MSG_ID, OFFSET_MSG_ID
from nsadmin.commands.columns.servers import ERROR, outcome_word
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.commands.messages.message_sender import SENT_COLUMNS, Sending
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows, of_part
from nsadmin.console.output.quantities import to_millis
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session


class Delivery(NamedTuple):
    """The delivery of a message to a client, with the client's answer if there is one."""

    receiver: MessageReceiver
    outcome: DeliveryOutcome | None
    error: RocketMQError | None
    result: str


DELIVERY_COLUMNS: Columns[Delivery] = (
    *of_part(
        lambda d: d.receiver.located_message.message, (MSG_ID, OFFSET_MSG_ID.in_wide(), TOPIC.in_wide())
    ),
    *of_part(lambda d: d.receiver.located_message, (BROKER_NAME,)),
    *of_part(lambda d: d.receiver, (BROKER_ADDR.in_wide(), GROUP, CLIENT_ID)),
    *of_part(
        lambda d: d.outcome,
        (
            Column(
                "consumeResult",
                "CR_SUCCESS or CR_COMMIT if the client consumed the message, else the reason",
                lambda o: o.consume_result,
            ),
            Column("spentMs", "duration in the client, in ms", lambda o: to_millis(o.spent_ms)),
        ),
    ),
    RESULT,
    ERROR,
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
    session.require_yes(
        f"{command_name} -g -d", f"this would make {client_id} of {group} consume {_count_text(messages)} now"
    )
    message_delivery = session.admin.delivery
    receivers = [message_delivery.find_receiver(m, group or "", client_id or "") for m in messages]
    session.confirm_change(
        f"Make {client_id} of {group} consume {_count_text(messages)} now, even if it consumed them before?"
    )
    done = "dry-run" if session.is_dry_run else "done"
    deliveries = list[Delivery]()
    for receiver in receivers:
        outcome, error = (None, None) if session.is_dry_run else _push_message(message_delivery, receiver)
        deliveries.append(Delivery(receiver, outcome, error, outcome_word(error, done)))
    errors = [d.error for d in deliveries]
    return ResultRows.from_records(DELIVERY_COLUMNS, deliveries, errors, _error_notes(errors))


def _push_message(
    message_delivery: MessageDelivery, receiver: MessageReceiver
) -> tuple[DeliveryOutcome | None, RocketMQError | None]:
    """The client's answer, and the error if it did not consume the message."""
    try:
        outcome = message_delivery.deliver_message(receiver)
    except RocketMQError as error:
        return None, error
    if outcome.consume_result in SUCCESS_RESULTS:
        return outcome, None
    return outcome, NotApplied(f"the client did not consume it: {outcome.remark or outcome.consume_result}")


def resend_messages(session: Session, command_name: str, messages: Sequence[LocatedMessage]) -> ResultRows:
    """Send each message to its own queue, or to another queue of its topic; rows are those of sendMessage."""
    session.require_writable(f"{command_name} -s")
    _refuse_dead_letters(command_name, messages)
    topic = messages[0].message.topic
    session.require_yes(
        f"{command_name} -s", f"this would send {_count_text(messages)} again to every group of {topic}"
    )
    message_delivery = session.admin.delivery
    queues = [message_delivery.choose_resend_queue(m) for m in messages]
    session.confirm_change(f"Send {_count_text(messages)} again to every group of {topic}?")
    sendings = list[Sending]()
    for located_message, queue in zip(messages, queues, strict=True):
        sent, error = None, None
        if not session.is_dry_run:
            try:
                sent = message_delivery.resend_message(queue, located_message.message)
            except RocketMQError as failure:
                error = failure
        sendings.append(Sending(queue, sent, error, done="dry-run" if session.is_dry_run else "done"))
    errors = [s.error for s in sendings]
    return ResultRows.from_records(SENT_COLUMNS, sendings, errors, _error_notes(errors))


def _refuse_dead_letters(command_name: str, messages: Sequence[LocatedMessage]) -> None:
    """Raise UsageError for a dead letter: its own topic would get a copy that no consumer receives."""
    for located_message in messages:
        topic = located_message.message.topic
        if topic.startswith(DLQ_PREFIX):
            group = topic.removeprefix(DLQ_PREFIX)
            raise UsageError(
                f'{command_name}: -s true would only append a copy to the dead-letter topic "{topic}": '
                f"deliver dead letters to their group with `{quote_command('dlq', 'replay', group)}`"
            )


def _count_text(messages: Sequence[LocatedMessage]) -> str:
    return (
        f"the message {messages[0].message.msg_id}"
        if len(messages) == 1
        else count_noun(len(messages), "message")
    )


def _error_notes(errors: Sequence[RocketMQError | None]) -> list[str]:
    return [error_text(error) for error in dict.fromkeys(errors) if error is not None]
