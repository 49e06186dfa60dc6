"""Owns sendMessage, which sends one message to test that a topic accepts messages."""

from time import perf_counter, time
from typing import Annotated

from namesrv_core.errors import RocketMQError
from nsadmin.client.results import error_text
from nsadmin.client.sending import Place, Sent
from nsadmin.client.traces import TRACE_TOPIC
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.message_rows import Topic
from nsadmin.commands.results import outcome
from nsadmin.commands.units import millis
from nsadmin.commands.values import flag
from nsadmin.diagnostics import UsageError
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = (
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


@shows(COLUMNS)
def send_message(
    session: Session,
    topic: Topic,
    body: Annotated[str, Word(("-p", "--body"), "BODY", "Text of the message.", may_be_empty=False)],
    keys: Annotated[
        str | None, Option("-k", "--key", metavar="KEYS", help="Its keys, separated by blanks.")
    ] = None,
    tags: Annotated[str | None, Option("-c", "--tags", metavar="TAG", help="Its tag.")] = None,
    broker: Annotated[
        str | None, Option("-b", "--broker", metavar="BROKER", help="Name of the broker to send to.")
    ] = None,
    queue: Annotated[
        int | None, Option("-i", "--qid", metavar="QUEUE", minimum=0, help="Queue to send to; needs -b.")
    ] = None,
    traced: Annotated[
        str | None,
        Option("-m", "--msgTraceEnable", metavar="true|false", help="Whether a trace is written; false."),
    ] = None,
    properties: Annotated[
        list[str] | None, Option("--property", metavar="NAME=VALUE", help="A property. Repeatable.")
    ] = None,
) -> Rows:
    """Send one text message to a topic: consumers of it will get it.

    Without -b any queue that can be written to is taken. The body is sent as it is, in UTF-8. A topic that
    is not there is not created. The two ids in the answer are those of queryMsgByUniqueKey and queryMsgById.

    Examples:
        # A message with a key and a tag
        nsadmin sendMessage payments 'a test' -k order-4711 -c settled --yes
        # Where it would go
        nsadmin sendMessage payments 'a test' -b broker-a-0 -i 0 --dry-run
    """
    if queue is not None and broker is None:
        raise UsageError("sendMessage: -i needs -b, as each broker has queues of its own")
    table = _properties(properties or [])
    with_trace = flag("sendMessage", "-m", traced) is True
    place = session.admin.sending.place(topic, broker, queue)
    session.confirm(f"Send a message to {topic}, queue {place.queue_id} on {place.broker_name}?")
    if session.dry_run:
        return _rows(place, None, None, None, "dry-run")
    began, started = int(time() * 1000), perf_counter()
    sent, error, notes = None, None, []
    try:
        sent = session.admin.sending.send(place, body.encode(), keys=keys, tags=tags, properties=table)
    except RocketMQError as failure:
        error = failure
    cost = int((perf_counter() - started) * 1000)
    rows = _rows(place, sent, error, cost)
    if sent is not None and with_trace:
        try:
            session.admin.sending.trace(
                sent, len(body.encode()), keys=keys or "", tags=tags or "", began=began, cost=cost
            )
        except RocketMQError as failure:
            notes = [f"the message was sent, but no trace of it to {TRACE_TOPIC}: {error_text(failure)}"]
            rows = rows._replace(errors=[None, failure])
    return rows._replace(notes=notes)


def _rows(
    place: Place, sent: Sent | None, error: RocketMQError | None, cost: int | None, done: str = "done"
) -> Rows:
    return Rows(COLUMNS, [sent_row(place, sent, error, cost, done)], [error])


def sent_row(
    place: Place, sent: Sent | None, error: RocketMQError | None, cost: int | None, done: str
) -> Row:
    """The row of one message that was sent, or would be sent in a dry run, with its result."""
    return {
        "topic": place.topic,
        "brokerName": place.broker_name,
        "brokerAddr": place.broker_addr,
        "queueId": place.queue_id,
        "msgId": sent.msg_id if sent else None,
        "offsetMsgId": sent.offset_msg_id if sent else None,
        "queueOffset": sent.queue_offset if sent else None,
        "costMs": millis(cost),
        **outcome(error, done),
    }


def _properties(items: list[str]) -> dict[str, str]:
    table = {}
    for item in items:
        name, found, value = item.partition("=")
        if not (found and name and value) or "\x01" in item or "\x02" in item:
            raise UsageError(f"sendMessage: --property {item} cannot be: give NAME=VALUE")
        table[name] = value
    return table
