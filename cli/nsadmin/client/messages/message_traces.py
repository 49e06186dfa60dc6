"""`admin.traces`: the records about a message that clients with tracing wrote to the trace topic."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.headers import parse_java_integer
from nsadmin.client.messages.message_queries import END_OF_TIME_MS, LocatedMessage, MessageAdmin

TRACE_TOPIC = "RMQ_SYS_TRACE_TOPIC"
FIELD_SEPARATOR, RECORD_SEPARATOR = "\x01", "\x02"

# The fields of each kind of record (TraceDataEncoder upstream). The last ones may be absent.
_FIELDS_BY_KIND: Mapping[str, Sequence[str]] = {
    "Pub": (
        "time", "region", "group", "topic", "msg_id", "tags", "keys", "store_host", "body_length",
        "cost", "message_type", "offset_msg_id", "success", "client_host",
    ),
    "SubBefore": ("time", "region", "group", "request_id", "msg_id", "retry_times", "keys"),
    "SubAfter": (
        "request_id", "msg_id", "cost", "success", "keys", "context_code", "time", "group",
    ),
    "EndTransaction": (
        "time", "region", "group", "topic", "msg_id", "tags", "keys", "store_host", "message_type",
        "transaction_id", "state", "from_check",
    ),
    "Recall": ("time", "region", "group", "topic", "msg_id", "success"),
}  # fmt: skip
_FIELD_COUNT_WITHOUT_OFFSET_ID = 13
"""The number of fields, with the kind, of a Pub record of old clients, which omit the offset id."""
MESSAGE_TYPES = ("Normal", "Trans_Msg_Half", "Trans_msg_Commit", "Delay_Msg", "Order_Msg")
_CONTEXT_NAMES = ("success", "time-out", "exception", "returned null", "failed")


class MessageTrace(NamedTuple):
    """One event of a message. A value is None if the record does not contain it.

    Attributes:
        kind: "Pub", "SubBefore", "SubAfter", "EndTransaction" or "Recall".
        time_ms: The time by the client's clock, in ms since 1970.
        msg_id: The message.
        group: The producer or consumer group.
        topic: The topic.
        client_host: The address of the client that wrote the trace.
        cost_ms: The duration in ms.
        status: "success" or "failed"; the outcome of the consumption for SubAfter, the state for
            EndTransaction. None if nothing has ended.
        tags: The tag.
        keys: The keys.
        store_host: The broker that stored the message.
        offset_msg_id: The id that names its place in the commit log.
        message_type: One of MESSAGE_TYPES.
        request_id: The id that joins SubBefore and SubAfter.
        retry_times: The number of retries of the consumption.
        transaction_id: The transaction.
    """

    kind: str
    time_ms: int | None
    msg_id: str
    group: str | None
    topic: str | None
    client_host: str
    cost_ms: int | None
    status: str | None
    tags: str | None
    keys: str | None
    store_host: str | None
    offset_msg_id: str | None
    message_type: str | None
    request_id: str | None
    retry_times: int | None
    transaction_id: str | None


class FoundTraces(NamedTuple):
    """The traces of a message.

    Attributes:
        traces: The traces in the order of their times.
        broker_errors: Pairs of (broker address, error); the error is None after a success.
    """

    traces: tuple[MessageTrace, ...]
    broker_errors: tuple[tuple[str, RocketMQError | None], ...]


class MessageTraces:
    """`admin.traces`: the traces of messages."""

    def __init__(self, messages: MessageAdmin) -> None:
        self._messages = messages

    def find_traces(
        self,
        msg_id: str,
        *,
        trace_topic: str = TRACE_TOPIC,
        max_num: int = 64,
        begin_ms: int = 0,
        end_ms: int = END_OF_TIME_MS,
    ) -> FoundTraces:
        """Find the traces of a message in the trace topic (QUERY_MESSAGE, 12).

        Args:
            msg_id: The unique key of the message.
            trace_topic: The trace topic.
            max_num: The maximum number of trace messages per broker.
            begin_ms: The earliest store time of trace messages, in ms since 1970.
            end_ms: The latest store time, in ms since 1970.

        Raises:
            TopicNotExist: The trace topic has no route.
        """
        found_messages = self._messages.find_by_key(
            trace_topic, msg_id, max_num=max_num, begin_ms=begin_ms, end_ms=end_ms
        )
        parsed_traces = [t for m in found_messages.messages for t in parse_traces(m) if t.msg_id == msg_id]
        starts_by_request = {
            (trace.request_id, trace.msg_id): trace for trace in parsed_traces if trace.kind == "SubBefore"
        }
        traces = [_join_start(message_trace, starts_by_request) for message_trace in parsed_traces]
        # A SubAfter without its own time sorts after its SubBefore.
        traces.sort(key=lambda message_trace: (message_trace.time_ms or 0, message_trace.kind == "SubAfter"))
        return FoundTraces(
            tuple(traces), tuple((message.addr, message.error) for message in found_messages.broker_results)
        )


def parse_traces(located_message: LocatedMessage) -> Iterator[MessageTrace]:
    """Yield the records of a trace message, without records of an unknown kind."""
    message = located_message.message
    for record_text in message.body.decode("utf-8", "replace").split(RECORD_SEPARATOR):
        field_values = record_text.split(FIELD_SEPARATOR)
        field_names = _FIELDS_BY_KIND.get(field_values[0])
        if field_names is None:
            continue
        if field_values[0] == "Pub" and len(field_values) == _FIELD_COUNT_WITHOUT_OFFSET_ID:
            field_names = [field_name for field_name in field_names if field_name != "offset_msg_id"]
        trace_fields = {
            name: v for name, v in zip(field_names, field_values[1:], strict=False) if v not in ("", "null")
        }
        if "msg_id" in trace_fields:
            yield _make_trace(field_values[0], trace_fields, message.born_host)


def _make_trace(record_kind: str, trace_fields: Mapping[str, str], born_host: str) -> MessageTrace:
    message_type = _parse_number(trace_fields, "message_type")
    return MessageTrace(
        record_kind,
        _parse_number(trace_fields, "time"),
        trace_fields["msg_id"],
        trace_fields.get("group"),
        trace_fields.get("topic"),
        trace_fields.get("client_host", born_host),
        _parse_number(trace_fields, "cost"),
        _parse_status(record_kind, trace_fields),
        trace_fields.get("tags"),
        trace_fields.get("keys"),
        trace_fields.get("store_host"),
        trace_fields.get("offset_msg_id"),
        None if message_type is None else _name_at(MESSAGE_TYPES, message_type),
        trace_fields.get("request_id"),
        _parse_number(trace_fields, "retry_times"),
        trace_fields.get("transaction_id"),
    )


def _parse_status(record_kind: str, trace_fields: Mapping[str, str]) -> str | None:
    if record_kind == "EndTransaction":
        return trace_fields.get("state")
    context_code = _parse_number(trace_fields, "context_code")
    if record_kind == "SubAfter" and context_code is not None:
        return _name_at(_CONTEXT_NAMES, context_code)
    success_text = trace_fields.get("success")
    return None if success_text is None else "success" if success_text == "true" else "failed"


def _join_start(
    message_trace: MessageTrace, starts_by_request: Mapping[tuple[str | None, str], MessageTrace]
) -> MessageTrace:
    """Add the time, group and retries of a SubBefore to its SubAfter, which may omit them."""
    start_trace = starts_by_request.get((message_trace.request_id, message_trace.msg_id))
    if message_trace.kind != "SubAfter" or start_trace is None:
        return message_trace
    return message_trace._replace(
        time_ms=message_trace.time_ms or start_trace.time_ms,
        group=message_trace.group or start_trace.group,
        retry_times=start_trace.retry_times,
    )


def _parse_number(trace_fields: Mapping[str, str], field_name: str) -> int | None:
    return parse_java_integer(trace_fields.get(field_name, ""), 64)


def _name_at(known_names: Sequence[str], name_index: int) -> str:
    return known_names[name_index] if 0 <= name_index < len(known_names) else str(name_index)
