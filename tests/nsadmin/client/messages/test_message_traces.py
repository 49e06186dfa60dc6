"""Traces: every kind of record, put together by message and by request."""

from namesrv_core.protocol.stored_messages import decode_messages
from nsadmin import AdminClient
from nsadmin.client.messages.message_queries import LocatedMessage
from nsadmin.client.messages.message_traces import MessageTrace, parse_traces
from tests.support.fake_servers import FakeNameServer
from tests.support.message_brokers import MessageBroker
from tests.support.messages import encode_message

PUB = (
    "Pub", "1000", "R", "pg", "T", "ID", "A", "k", "h:1", "5", "12", "4", "OFFSET", "true", "c:9"
)  # fmt: skip
BEFORE = ("SubBefore", "2000", "R", "cg", "REQ", "ID", "1", "k")


def lines(*records: tuple[str, ...]) -> bytes:
    return "".join("\x01".join(fields) + "\x02" for fields in records).encode()


def read(*records: tuple[str, ...]) -> list[MessageTrace]:
    [message] = decode_messages(encode_message(lines(*records))).messages
    return list(parse_traces(LocatedMessage("broker-a", message)))


def test_sending() -> None:
    [trace] = read(PUB)
    assert trace == MessageTrace(
        "Pub", 1000, "ID", "pg", "T", "c:9", 12, "success", "A", "k", "h:1", "OFFSET", "Order_Msg",
        None, None, None,
    )  # fmt: skip


def test_old_clients_know_no_offset_id_and_failures_have_none() -> None:
    [trace] = read((*PUB[:12], "false"))
    assert (trace.offset_msg_id, trace.status, trace.message_type) == (None, "failed", "Order_Msg")
    assert trace.client_host == "127.0.0.1:1"


def test_consuming() -> None:
    before, after = read(BEFORE, ("SubAfter", "REQ", "ID", "7", "false", "k", "4"))
    assert (before.time_ms, before.group, before.retry_times, before.status) == (2000, "cg", 1, None)
    assert (after.cost_ms, after.status, after.request_id) == (7, "failed", "REQ")
    [short] = read(("SubAfter", "REQ", "ID", "7", "true"))
    assert (short.status, short.time_ms) == ("success", None)
    [odd] = read(("SubAfter", "REQ", "ID", "7", "true", "k", "77", "3000", "cg"))
    assert (odd.status, odd.time_ms, odd.group) == ("77", 3000, "cg")


def test_transactions_and_recalls() -> None:
    end, recall = read(
        ("EndTransaction", "1", "R", "g", "T", "ID", "null", "", "h:1", "2", "TX", "COMMIT_MESSAGE", "false"),
        ("Recall", "2", "R", "g", "T", "ID", "true"),
    )
    assert (end.status, end.transaction_id, end.message_type) == ("COMMIT_MESSAGE", "TX", "Trans_msg_Commit")
    assert (end.tags, end.keys) == (None, None)
    assert (recall.kind, recall.status) == ("Recall", "success")


def test_what_nobody_knows_is_left_out() -> None:
    assert read(("New", "1"), ("",), ("Pub", "1"), ("Recall", "2", "R", "g", "T", "null", "true")) == []


def test_the_traces_of_one_message_in_the_order_of_their_times(message_broker: MessageBroker) -> None:
    other = ("SubBefore", "1500", "R", "cg", "REQ", "OTHER", "0", "k")
    message_broker.store_message(
        lines(("SubAfter", "REQ", "ID", "7", "true", "k", "0"), other), "Traces", KEYS="ID OTHER"
    )
    message_broker.store_message(lines(BEFORE), "Traces", KEYS="ID")
    message_broker.store_message(lines(PUB), "Traces", KEYS="ID k")
    with FakeNameServer({"C": {"broker-a": {0: message_broker.addr}}}) as server:
        server.routes = {"Traces": {"broker-a": 6}}
        with AdminClient(server.addr, timeout=5) as admin:
            traces = admin.traces.find_traces("ID", trace_topic="Traces", max_num=5)
    assert [trace.kind for trace in traces.traces] == ["Pub", "SubBefore", "SubAfter"]
    after = traces.traces[-1]
    assert (after.time_ms, after.group, after.retry_times, after.status) == (2000, "cg", 1, "success")
    assert traces.broker_errors == ((message_broker.addr, None),)
