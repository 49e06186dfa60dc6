"""Records of traces, as the parser reads them back."""

from namesrv_core.protocol.stored_messages import decode_messages
from nsadmin.client.messages.message_queries import LocatedMessage
from nsadmin.client.messages.message_traces import MessageTrace, parse_traces
from nsadmin.client.messages.trace_records import encode_send_record, encode_transaction_record
from tests.support.messages import encode_message

PLACE = {
    "group": "pg", "topic": "T", "msg_id": "ID", "tags": "A", "keys": "k1 k2", "broker_addr": "h:1",
    "region_id": "R",
}  # fmt: skip


def read(text: str) -> MessageTrace:
    [message] = decode_messages(encode_message(text.encode())).messages
    [trace] = parse_traces(LocatedMessage("broker-a", message))
    return trace


def test_a_send() -> None:
    trace = read(
        encode_send_record(
            **PLACE, offset_msg_id="OFFSET", body_length=3, began_ms=1, cost_ms=2, message_type="Delay_Msg"
        )
    )
    assert trace == MessageTrace(
        "Pub", 1, "ID", "pg", "T", trace.client_host, 2, "success", "A", "k1 k2", "h:1", "OFFSET",
        "Delay_Msg", None, None, None,
    )  # fmt: skip


def test_the_end_of_a_transaction() -> None:
    trace = read(encode_transaction_record(**PLACE, ended_ms=1, outcome="rollback"))
    assert trace == MessageTrace(
        "EndTransaction", 1, "ID", "pg", "T", trace.client_host, None, "ROLLBACK_MESSAGE", "A", "k1 k2",
        "h:1", None, "Trans_msg_Commit", None, None, "ID",
    )  # fmt: skip
