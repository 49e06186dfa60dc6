"""Owns queryMsgTraceById, which shows the traces that producers and consumers wrote about a message."""

from typing import Annotated

from nsadmin.client import NotFound
from nsadmin.client.messages import FOREVER
from nsadmin.client.results import error_text
from nsadmin.client.traces import TRACE_TOPIC
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.moments import HELP, moment
from nsadmin.commands.times import utc
from nsadmin.commands.units import millis
from nsadmin.diagnostics import UsageError
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = (
    "type",
    "group",
    "clientHost",
    "time",
    "costMs",
    "status",
    "topic",
    "msgId",
    "offsetMsgId",
    "tags",
    "keys",
    "storeHost",
    "messageType",
    "retryTimes",
    "requestId",
    "transactionId",
)
IN_TABLE = ("type", "group", "clientHost", "time", "costMs", "status", "retryTimes")


@shows(COLUMNS)
def query_msg_trace_by_id(
    session: Session,
    msg_id: Annotated[str, Word(("-i", "--msgId"), "MSGID", "The id that a producer has in its log.")],
    trace_topic: Annotated[
        str, Option("-t", "--traceTopic", metavar="TOPIC", help="Where the traces are.")
    ] = TRACE_TOPIC,
    begin: Annotated[
        str | None, Option("-b", "--beginTimestamp", metavar="TIME", help=f"Traces since: {HELP}")
    ] = None,
    end: Annotated[
        str | None, Option("-e", "--endTimestamp", metavar="TIME", help="Traces until, likewise.")
    ] = None,
    max_num: Annotated[
        int, Option("-c", "--maxNum", metavar="N", help="Look at so many trace messages of each broker.")
    ] = 64,
) -> Rows:
    """Show what clients traced of a message, in the order of its times.

    Pub is the sending, SubBefore and SubAfter the begin and the end of consuming, EndTransaction and Recall
    what they say. Only clients with tracing switched on write traces. Times are the clients' clocks, costMs
    is how long it took.

    Examples:
        # Who sent and who consumed a message
        nsadmin queryMsgTraceById 7F0000010B4B18B4AAC2910F8A1E0000
    """
    if max_num < 1:
        raise UsageError(f"queryMsgTraceById: -c {max_num} cannot be: give 1 or more")
    found = session.admin.traces.of(
        msg_id,
        trace_topic=trace_topic,
        max_num=max_num,
        begin=moment("queryMsgTraceById", "-b", begin, 0),
        end=moment("queryMsgTraceById", "-e", end, FOREVER),
    )
    notes = [f"broker {addr}: {error_text(error)}" for addr, error in found.brokers if error is not None]
    if not found.traces:
        missing = f"no trace of {msg_id} in {trace_topic}"
        if not notes:
            raise NotFound(missing)
        notes += [f"{missing}, as far as brokers answered"] if len(notes) < len(found.brokers) else []
    rows: list[Row] = [
        {
            "type": trace.kind,
            "group": trace.group,
            "clientHost": trace.client_host,
            "time": utc(trace.time),
            "costMs": millis(trace.cost),
            "status": trace.status,
            "topic": trace.topic,
            "msgId": trace.msg_id,
            "offsetMsgId": trace.offset_msg_id,
            "tags": trace.tags,
            "keys": trace.keys,
            "storeHost": trace.store_host,
            "messageType": trace.message_type,
            "retryTimes": trace.retry_times,
            "requestId": trace.request_id,
            "transactionId": trace.transaction_id,
        }
        for trace in found.traces
    ]
    return Rows(COLUMNS, rows, [error for _, error in found.brokers], notes, IN_TABLE)
