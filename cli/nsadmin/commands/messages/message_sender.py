"""Owns sendMessage, which sends one message to test that a topic accepts messages."""

from time import perf_counter, time
from typing import Annotated, NamedTuple

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from nsadmin.client.messages.message_sender import SendQueue, SentMessage
from nsadmin.client.messages.message_traces import TRACE_TOPIC
from nsadmin.client.results import error_text
from nsadmin.command_line.argument_values import parse_boolean
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.brokers import BROKER_ADDR, BROKER_NAME
from nsadmin.commands.columns.changes import RESULT
from nsadmin.commands.columns.messages import COST, MSG_ID, OFFSET_MSG_ID, QUEUE_OFFSET
from nsadmin.commands.columns.servers import ERROR, outcome_word
from nsadmin.commands.columns.topics import QUEUE_ID, TOPIC
from nsadmin.commands.messages.message_rows import MessageTopicArgument
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Columns, ResultRows, of_part
from nsadmin.console.session import Session


class Sending(NamedTuple):
    """A message that was sent, or would be sent in a dry run."""

    queue: SendQueue
    sent: SentMessage | None
    error: RocketMQError | None
    cost_ms: int | None = None
    done: str = "done"

    @property
    def result(self) -> str:
        return outcome_word(self.error, self.done)


SENT_COLUMNS: Columns[Sending] = (
    *of_part(lambda s: s.queue, (TOPIC, BROKER_NAME, BROKER_ADDR, QUEUE_ID)),
    *of_part(lambda s: s.sent, (MSG_ID, OFFSET_MSG_ID, QUEUE_OFFSET)),
    COST,
    RESULT,
    ERROR,
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
        # Send a test message with a key and a tag
        nsadmin sendMessage payments 'a test' -k order-4711 -c settled --yes
        # Preview the queue
        nsadmin sendMessage payments 'a test' -b broker-a-0 -i 0 --dry-run
    """
    if queue_id is not None and broker_name is None:
        raise UsageError("-i needs -b BROKER: each broker has its own queues")
    properties = _parse_properties(property_list or [])
    with_trace = parse_boolean("-m", trace_text) is True
    sender = session.admin.message_sender
    queue = sender.choose_queue(topic, broker_name, queue_id)
    session.confirm_change(f"Send a message to {topic}, queue {queue.queue_id} on {queue.broker_name}?")
    if session.is_dry_run:
        return ResultRows.from_records(SENT_COLUMNS, [Sending(queue, None, None, done="dry-run")], [None])
    began_ms, started_seconds = int(time() * 1000), perf_counter()
    sent, error = None, None
    try:
        sent = sender.send_message(queue, body.encode(), keys=keys, tags=tags, properties=properties)
    except RocketMQError as failure:
        error = failure
    cost_ms = int((perf_counter() - started_seconds) * 1000)
    errors, notes = [error], []
    if sent is not None and with_trace:
        try:
            sender.send_trace(
                sent,
                len(body.encode()),
                message_keys=keys or "",
                message_tags=tags or "",
                began_ms=began_ms,
                cost_ms=cost_ms,
            )
        except RocketMQError as failure:
            notes = [
                f"the message was sent, but its trace was not written to {TRACE_TOPIC}: {error_text(failure)}"
            ]
            errors = [None, failure]
    return ResultRows.from_records(SENT_COLUMNS, [Sending(queue, sent, error, cost_ms)], errors, notes)


def _parse_properties(texts: list[str]) -> dict[str, str]:
    properties = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not (name and value) or "\x01" in text or "\x02" in text:
            raise UsageError(f'invalid property "{text}" for --property: write NAME=VALUE')
        properties[name] = value
    return properties
