"""Owns queryMsgTraceById, which shows the traces that producers and consumers wrote about a message."""

from typing import Annotated

from typer import Argument, Option

from nsadmin.client import NotFound
from nsadmin.client.messages.message_queries import END_OF_TIME_MS
from nsadmin.client.messages.message_traces import TRACE_TOPIC
from nsadmin.client.results import error_text
from nsadmin.command_line.declarations import Flags, command
from nsadmin.command_line.time_arguments import TIME_HELP, parse_time_option
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.quantities import to_millis
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session

TRACE_COLUMNS = (
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
TRACE_TABLE_COLUMNS = ("type", "group", "clientHost", "time", "costMs", "status", "retryTimes")


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
    found_traces = session.admin.traces.find_traces(
        msg_id,
        trace_topic=trace_topic,
        max_num=max_count,
        begin_ms=parse_time_option("-b", begin_text, 0),
        end_ms=parse_time_option("-e", end_text, END_OF_TIME_MS),
    )
    failure_notes = [
        f"broker {broker_addr}: {error_text(broker_error)}"
        for broker_addr, broker_error in found_traces.broker_errors
        if broker_error is not None
    ]
    if not found_traces.traces:
        missing_text = f"no trace of {msg_id} in {trace_topic}"
        if not failure_notes:
            raise NotFound(missing_text)
        failure_notes += (
            [f"{missing_text} on the brokers that answered"]
            if len(failure_notes) < len(found_traces.broker_errors)
            else []
        )
    trace_rows: list[ResultRow] = [
        {
            "type": message_trace.kind,
            "group": message_trace.group,
            "clientHost": message_trace.client_host,
            "time": format_utc(message_trace.time_ms),
            "costMs": to_millis(message_trace.cost_ms),
            "status": message_trace.status,
            "topic": message_trace.topic,
            "msgId": message_trace.msg_id,
            "offsetMsgId": message_trace.offset_msg_id,
            "tags": message_trace.tags,
            "keys": message_trace.keys,
            "storeHost": message_trace.store_host,
            "messageType": message_trace.message_type,
            "retryTimes": message_trace.retry_times,
            "requestId": message_trace.request_id,
            "transactionId": message_trace.transaction_id,
        }
        for message_trace in found_traces.traces
    ]
    return ResultRows(
        TRACE_COLUMNS,
        trace_rows,
        [broker_error for _, broker_error in found_traces.broker_errors],
        failure_notes,
        TRACE_TABLE_COLUMNS,
    )
