"""Traces: what clients with tracing switched on wrote about a message into the trace topic."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.headers import integer
from nsadmin.client.messages import FOREVER, Located, Messages

TRACE_TOPIC = "RMQ_SYS_TRACE_TOPIC"
_FIELD, _RECORD = "\x01", "\x02"

# The fields of each kind of record, as TraceDataEncoder writes them; the last ones may be absent.
_FIELDS: Mapping[str, Sequence[str]] = {
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
_WITHOUT_OFFSET_ID = 13
"""Fields of a Pub record by clients that know no offset id yet, its type counted."""
MESSAGE_TYPES = ("Normal", "Trans_Msg_Half", "Trans_msg_Commit", "Delay_Msg", "Order_Msg")
_CONTEXTS = ("success", "time-out", "exception", "returned null", "failed")


class Trace(NamedTuple):
    """One thing that happened to a message; what a record does not tell is None.

    `kind` is Pub, SubBefore, SubAfter, EndTransaction or Recall. `time` is in ms by the client's clock,
    `cost` in ms. `client_host` is the address that the trace came from. `status` is "success" or "failed"; of
    SubAfter it is what came of consuming, for EndTransaction the state, and None where nothing has ended.
    """

    kind: str
    time: int | None
    msg_id: str
    group: str | None
    topic: str | None
    client_host: str
    cost: int | None
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
    """Traces in the order of their times, and the error of each broker, None where all went well."""

    traces: tuple[Trace, ...]
    brokers: tuple[tuple[str, RocketMQError | None], ...]


class Traces:
    """`admin.traces`."""

    def __init__(self, messages: Messages) -> None:
        self._messages = messages

    def of(
        self,
        msg_id: str,
        *,
        trace_topic: str = TRACE_TOPIC,
        max_num: int = 64,
        begin: int = 0,
        end: int = FOREVER,
    ) -> FoundTraces:
        """What was traced of a message; `max_num` trace messages a broker are looked at, at most."""
        found = self._messages.by_key(trace_topic, msg_id, max_num=max_num, begin=begin, end=end)
        traces = [trace for item in found.messages for trace in traces_in(item) if trace.msg_id == msg_id]
        starts = {(trace.request_id, trace.msg_id): trace for trace in traces if trace.kind == "SubBefore"}
        joined = [_joined(trace, starts) for trace in traces]
        # An end without a time of its own stands behind its beginning.
        joined.sort(key=lambda trace: (trace.time or 0, trace.kind == "SubAfter"))
        return FoundTraces(tuple(joined), tuple((item.addr, item.error) for item in found.brokers))


def traces_in(located: Located) -> Iterator[Trace]:
    """The records of a trace message; those of a kind that nobody knows are left out."""
    message = located.message
    for line in message.body.decode("utf-8", "replace").split(_RECORD):
        values = line.split(_FIELD)
        names = _FIELDS.get(values[0])
        if names is None:
            continue
        if values[0] == "Pub" and len(values) == _WITHOUT_OFFSET_ID:
            names = [name for name in names if name != "offset_msg_id"]
        table = {
            name: value for name, value in zip(names, values[1:], strict=False) if value not in ("", "null")
        }
        if "msg_id" in table:
            yield _trace(values[0], table, message.born_host)


def _trace(kind: str, table: Mapping[str, str], born_host: str) -> Trace:
    message_type = _number(table, "message_type")
    return Trace(
        kind,
        _number(table, "time"),
        table["msg_id"],
        table.get("group"),
        table.get("topic"),
        table.get("client_host", born_host),
        _number(table, "cost"),
        _status(kind, table),
        table.get("tags"),
        table.get("keys"),
        table.get("store_host"),
        table.get("offset_msg_id"),
        None if message_type is None else _at(MESSAGE_TYPES, message_type),
        table.get("request_id"),
        _number(table, "retry_times"),
        table.get("transaction_id"),
    )


def _status(kind: str, table: Mapping[str, str]) -> str | None:
    if kind == "EndTransaction":
        return table.get("state")
    context = _number(table, "context_code")
    if kind == "SubAfter" and context is not None:
        return _at(_CONTEXTS, context)
    success = table.get("success")
    return None if success is None else "success" if success == "true" else "failed"


def _joined(trace: Trace, starts: Mapping[tuple[str | None, str], Trace]) -> Trace:
    """The end of consuming with what only its beginning tells: when it was and which group it was."""
    start = starts.get((trace.request_id, trace.msg_id))
    if trace.kind != "SubAfter" or start is None:
        return trace
    return trace._replace(
        time=trace.time or start.time, group=trace.group or start.group, retry_times=start.retry_times
    )


def _number(table: Mapping[str, str], name: str) -> int | None:
    return integer(table.get(name, ""), 64)


def _at(names: Sequence[str], number: int) -> str:
    return names[number] if 0 <= number < len(names) else str(number)
