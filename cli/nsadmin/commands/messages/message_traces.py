"""Owns queryMsgTraceById, which shows the traces that producers and consumers wrote about a message."""

from typing import Annotated

from typer import Argument, Option

from namesrv_core.errors import TopicNotExist
from nsadmin.client import NotFound
from nsadmin.client.messages.message_traces import TRACE_TOPIC, MessageTrace
from nsadmin.command_line.declarations import Flags, command
from nsadmin.command_line.time_arguments import TIME_HELP, parse_window
from nsadmin.commands.columns.consumers import GROUP
from nsadmin.commands.columns.messages import COST, KEYS, MSG_ID, OFFSET_MSG_ID, STORE_HOST, TAGS
from nsadmin.commands.columns.servers import failure_notes
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session

TRACE_COLUMNS: Columns[MessageTrace] = (
    Column("type", "Pub, SubBefore, SubAfter, EndTransaction or Recall", lambda t: t.kind),
    GROUP.means("producer or consumer group"),
    Column("clientHost", "address of the client that wrote the trace", lambda t: t.client_host),
    Column("time", "time of the event, by the client's clock (UTC)", lambda t: format_utc(t.time_ms)),
    COST,
    Column("status", "whether it succeeded", lambda t: t.status),
    TOPIC.in_wide(),
    MSG_ID.means("id that the producer assigned").in_wide(),
    OFFSET_MSG_ID.in_wide(),
    TAGS.in_wide(),
    KEYS.in_wide(),
    STORE_HOST.in_wide(),
    Column("messageType", "type of message: Normal, Trans_Half, Delay", lambda t: t.message_type, wide=True),
    Column("retryTimes", "how often it was consumed again", lambda t: t.retry_times),
    Column(
        "requestId",
        "id that the clients' trace assigns to one fetch of messages",
        lambda t: t.request_id,
        wide=True,
    ),
    Column("transactionId", "id of the transaction", lambda t: t.transaction_id, wide=True),
)


@command(columns=TRACE_COLUMNS, examples=("broker", "simulated clients trace nothing"))
def query_msg_trace_by_id(
    session: Session,
    msg_id: Annotated[
        str, Argument(metavar="MSGID", help="Message id from the producer's log."), Flags("-i", "--msgId")
    ],
    trace_topic: Annotated[
        str, Option("-t", "--traceTopic", metavar="TOPIC", help="Topic of the traces.")
    ] = TRACE_TOPIC,
    begin_text: Annotated[
        str | None, Option("-b", "--beginTimestamp", metavar="TIME", help=f"Only traces since: {TIME_HELP}")
    ] = None,
    end_text: Annotated[
        str | None, Option("-e", "--endTimestamp", metavar="TIME", help="Only traces until this time.")
    ] = None,
    max_count: Annotated[
        int,
        Option(
            "-c", "--maxNum", metavar="N", help="Maximum number of trace messages to read from each broker."
        ),
    ] = 64,
) -> ResultRows:
    """Show the traces that clients wrote about a message, sorted by time.

    Pub stands for sending, SubBefore and SubAfter for the begin and end of consumption. Other types are
    EndTransaction and Recall. Only clients with enabled tracing write traces. Times are from the clients'
    clocks. costMs is the duration.

    Examples:
        # Which clients sent and consumed a message
        nsadmin queryMsgTraceById 7F0000010B4B18B4AAC2910F8A1E0000
    """
    if max_count < 1:
        raise UsageError(f'invalid value "{max_count}" for -c: expected 1 or more')
    begin_ms, end_ms = parse_window(begin_text, end_text)
    try:
        found = session.admin.traces.find_traces(
            msg_id, trace_topic=trace_topic, max_num=max_count, begin_ms=begin_ms, end_ms=end_ms
        )
    except TopicNotExist:
        if trace_topic != TRACE_TOPIC:
            raise
        raise NotFound(
            f"no traces: no broker has the topic {trace_topic}. For traces of later messages, set "
            "traceTopicEnable=true in broker.conf, restart the broker, and enable tracing in the clients; if "
            "they use another trace topic, name it with -t"
        ) from None
    notes, errors = failure_notes(found.broker_errors), [error for _, error in found.broker_errors]
    if not found.traces:
        missing_text = f"no trace of {msg_id} in {trace_topic}"
        if not notes:
            raise NotFound(f"{missing_text}: only clients with enabled tracing write traces")
        if None in errors:
            notes.append(f"{missing_text} on the brokers that answered")
    return ResultRows.from_records(TRACE_COLUMNS, found.traces, errors, notes)
