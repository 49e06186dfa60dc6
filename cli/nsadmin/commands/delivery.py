"""Delivers messages that queryMsgById or queryMsgByUniqueKey found to one client, or to their topic again."""

from collections.abc import Sequence
from typing import Annotated

from namesrv_core.errors import RocketMQError
from nsadmin.client import NotApplied
from nsadmin.client.delivery import Delivery, Receiver
from nsadmin.client.messages import Located
from nsadmin.client.results import error_text
from nsadmin.commands.declared import Option
from nsadmin.commands.results import outcome
from nsadmin.commands.sending import COLUMNS as SENT_COLUMNS
from nsadmin.commands.sending import sent_row
from nsadmin.commands.units import millis
from nsadmin.diagnostics import UsageError
from nsadmin.output import Row, Rows
from nsadmin.session import Session

HANDED_COLUMNS = (
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
HANDED_IN_TABLE = ("msgId", "brokerName", "group", "clientId", "consumeResult", "spentMs", "result", "error")
TAKEN = ("CR_SUCCESS", "CR_COMMIT")

PushGroup = Annotated[
    str | None,
    Option("-g", "--consumerGroup", metavar="GROUP", help="With -d: hand it to this client of the group."),
]
PushClient = Annotated[
    str | None, Option("-d", "--clientId", metavar="CLIENT", help="With -g: an id of consumerConnection.")
]


def is_wanted(command: str, group: str | None, client_id: str | None) -> bool:
    """Whether the line names a client that gets the messages; group and client belong together."""
    if (group is None) != (client_id is None):
        raise UsageError(f"{command}: -g GROUP and -d CLIENT belong together: type both")
    return group is not None


def hand_over(
    session: Session, command: str, items: Sequence[Located], group: str | None, client_id: str | None
) -> Rows:
    """Push each message to the client, one after another; a row shows how the client consumed it."""
    session.require_writable(f"{command} -g -d")
    session.require_yes(f"{command} -g -d")
    delivery = session.admin.delivery
    receivers = [delivery.receiver(item, group or "", client_id or "") for item in items]
    session.confirm(f"Have {client_id} of {group} consume {_count(items)}, now and whatever it did before?")
    rows: list[Row] = []
    errors: list[RocketMQError | None] = []
    for receiver in receivers:
        said, error = ({}, None) if session.dry_run else _handed(delivery, receiver)
        message = receiver.item.message
        errors.append(error)
        rows.append(
            {
                "msgId": message.msg_id,
                "offsetMsgId": message.offset_msg_id,
                "topic": message.topic,
                "brokerName": receiver.item.broker_name,
                "brokerAddr": receiver.broker_addr,
                "group": group,
                "clientId": client_id,
                **said,
                **outcome(error, "dry-run" if session.dry_run else "done"),
            }
        )
    return Rows(HANDED_COLUMNS, rows, errors, _notes(errors), HANDED_IN_TABLE)


def _handed(delivery: Delivery, receiver: Receiver) -> tuple[Row, RocketMQError | None]:
    """The cells of the client's answer, and the error if it did not consume the message."""
    try:
        handed = delivery.hand(receiver)
    except RocketMQError as error:
        return {}, error
    said = {"consumeResult": handed.consume_result, "spentMs": millis(handed.spent)}
    if handed.consume_result in TAKEN:
        return said, None
    return said, NotApplied(f"the client did not take it: {handed.remark or handed.consume_result}")


def send_again(session: Session, command: str, items: Sequence[Located]) -> Rows:
    """Send each message to its own queue, or to another queue of its topic; rows are those of sendMessage."""
    session.require_writable(f"{command} -s")
    session.require_yes(f"{command} -s")
    delivery = session.admin.delivery
    places = [delivery.place_again(item) for item in items]
    session.confirm(f"Send {_count(items)} once more to every group of {items[0].message.topic}?")
    rows: list[Row] = []
    errors: list[RocketMQError | None] = []
    for item, place in zip(items, places, strict=True):
        sent, error = None, None
        if not session.dry_run:
            try:
                sent = delivery.send_again(place, item.message)
            except RocketMQError as failure:
                error = failure
        errors.append(error)
        rows.append(sent_row(place, sent, error, None, "dry-run" if session.dry_run else "done"))
    return Rows(SENT_COLUMNS, rows, errors, _notes(errors))


def _count(items: Sequence[Located]) -> str:
    return f"the message {items[0].message.msg_id}" if len(items) == 1 else f"{len(items)} messages"


def _notes(errors: Sequence[RocketMQError | None]) -> list[str]:
    return [error_text(error) for error in dict.fromkeys(errors) if error is not None]
