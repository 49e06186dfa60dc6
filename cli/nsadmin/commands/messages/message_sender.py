"""Owns sendMessage, which sends one message to test that a topic accepts messages."""

from time import perf_counter, time
from typing import Annotated

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from nsadmin.client.messages.message_sender import SendQueue, SentMessage
from nsadmin.client.messages.message_traces import TRACE_TOPIC
from nsadmin.client.results import error_text
from nsadmin.command_line.argument_values import parse_boolean
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.result_rows import outcome_cells
from nsadmin.commands.messages.message_rows import MessageTopicArgument
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.quantities import to_millis
from nsadmin.console.session import Session

SENT_COLUMNS = (
    "topic",
    "brokerName",
    "brokerAddr",
    "queueId",
    "msgId",
    "offsetMsgId",
    "queueOffset",
    "costMs",
    "result",
    "error",
)


@command(columns=SENT_COLUMNS, examples=("broker", "simulated brokers take no messages"))
def send_message(
    session: Session,
    topic: MessageTopicArgument,
    body: Annotated[
        str, Argument(metavar="BODY", help="Text of the message."), Flags("-p", "--body", may_be_empty=False)
    ],
    keys: Annotated[
        str | None, Option("-k", "--key", metavar="KEYS", help="Keys, separated by blanks.")
    ] = None,
    tags: Annotated[str | None, Option("-c", "--tags", metavar="TAG", help="Tag of the message.")] = None,
    broker_name: Annotated[
        str | None, Option("-b", "--broker", metavar="BROKER", help="Name of the broker to send to.")
    ] = None,
    queue_id: Annotated[
        int | None, Option("-i", "--qid", metavar="QUEUE", help="Queue to send to. Needs -b.", min=0)
    ] = None,
    trace_text: Annotated[
        str | None,
        Option(
            "-m", "--msgTraceEnable", metavar="true|false", help="Whether to write a trace. Default: false."
        ),
    ] = None,
    property_list: Annotated[
        list[str] | None, Option("--property", metavar="NAME=VALUE", help="A property. Repeatable.")
    ] = None,
) -> ResultRows:
    """Send one text message to a topic. Its consumers receive it.

    Without -b, nsadmin chooses a writable queue. The body is sent as UTF-8. nsadmin does not create a missing
    topic. queryMsgByUniqueKey and queryMsgById accept the two ids in the answer.

    Examples:
        # A message with a key and a tag
        nsadmin sendMessage payments 'a test' -k order-4711 -c settled --yes
        # Preview the queue
        nsadmin sendMessage payments 'a test' -b broker-a-0 -i 0 --dry-run
    """
    if queue_id is not None and broker_name is None:
        raise UsageError("-i needs -b BROKER: each broker has its own queues")
    message_properties = _parse_properties(property_list or [])
    with_trace = parse_boolean("-m", trace_text) is True
    send_queue = session.admin.message_sender.choose_queue(topic, broker_name, queue_id)
    session.confirm_change(
        f"Send a message to {topic}, queue {send_queue.queue_id} on {send_queue.broker_name}?"
    )
    if session.is_dry_run:
        return _sent_rows(send_queue, None, None, None, "dry-run")
    began_ms, started_seconds = int(time() * 1000), perf_counter()
    sent_message, send_error, trace_notes = None, None, []
    try:
        sent_message = session.admin.message_sender.send_message(
            send_queue, body.encode(), keys=keys, tags=tags, properties=message_properties
        )
    except RocketMQError as failure:
        send_error = failure
    cost_ms = int((perf_counter() - started_seconds) * 1000)
    sent_rows = _sent_rows(send_queue, sent_message, send_error, cost_ms)
    if sent_message is not None and with_trace:
        try:
            session.admin.message_sender.send_trace(
                sent_message,
                len(body.encode()),
                message_keys=keys or "",
                message_tags=tags or "",
                began_ms=began_ms,
                cost_ms=cost_ms,
            )
        except RocketMQError as failure:
            trace_notes = [
                f"the message was sent, but its trace was not written to {TRACE_TOPIC}: {error_text(failure)}"
            ]
            sent_rows = sent_rows._replace(errors=[None, failure])
    return sent_rows._replace(notes=trace_notes)


def _sent_rows(
    send_queue: SendQueue,
    sent_message: SentMessage | None,
    send_error: RocketMQError | None,
    cost_ms: int | None,
    done_word: str = "done",
) -> ResultRows:
    return ResultRows(
        SENT_COLUMNS, [sent_row(send_queue, sent_message, send_error, cost_ms, done_word)], [send_error]
    )


def sent_row(
    send_queue: SendQueue,
    sent_message: SentMessage | None,
    send_error: RocketMQError | None,
    cost_ms: int | None,
    done_word: str,
) -> ResultRow:
    """The row of one message that was sent, or would be sent in a dry run, with its result."""
    return {
        "topic": send_queue.topic,
        "brokerName": send_queue.broker_name,
        "brokerAddr": send_queue.broker_addr,
        "queueId": send_queue.queue_id,
        "msgId": sent_message.msg_id if sent_message else None,
        "offsetMsgId": sent_message.offset_msg_id if sent_message else None,
        "queueOffset": sent_message.queue_offset if sent_message else None,
        "costMs": to_millis(cost_ms),
        **outcome_cells(send_error, done_word),
    }


def _parse_properties(property_list: list[str]) -> dict[str, str]:
    message_properties = {}
    for property_text in property_list:
        property_name, equals_sign, property_value = property_text.partition("=")
        if (
            not (equals_sign and property_name and property_value)
            or "\x01" in property_text
            or "\x02" in property_text
        ):
            raise UsageError(f'invalid property "{property_text}" for --property: write NAME=VALUE')
        message_properties[property_name] = property_value
    return message_properties
