"""Traces of sends: how many messages they make, and when there are none."""

import pytest

from namesrv_core.errors import TopicNotExist
from nsadmin import AdminClient
from nsadmin.client.messages.message_sender import SendQueue, SentMessage
from nsadmin.client.messages.message_tracer import MessageTracer
from tests.support.dead_letter_brokers import DeadLetterBroker
from tests.support.fake_servers import FakeNameServer

SENT = SentMessage(SendQueue("T", "broker-a", "127.0.0.1:1", 0), "ID", "OFFSET", 7)
TRACES = "RMQ_SYS_TRACE_TOPIC"


def note(tracer: MessageTracer, sent: SentMessage = SENT, keys: str = "k") -> None:
    tracer.note_send(sent, tags="A", keys=keys, body_length=3, message_type="Normal", began_ms=5, cost_ms=6)


def test_the_traces_of_a_batch_are_one_message(
    admin: AdminClient, dead_letter_broker: DeadLetterBroker
) -> None:
    tracer = MessageTracer(admin.message_sender)
    note(tracer)
    note(tracer, SENT._replace(msg_id="ID2"))
    assert tracer.write_noted() is None
    assert tracer.write_noted() is None
    [message] = dead_letter_broker.stored_messages(TRACES)
    assert message.keys == ("ID", "k", "ID2")
    assert message.body.count(b"\x02") == 2
    assert message.body.startswith(
        b"Pub\x015\x01DefaultRegion\x01TOOLS_PRODUCER\x01T\x01ID\x01A\x01k\x01127.0.0.1:1\x013\x016\x010\x01"
        b"OFFSET\x01true\x02"
    )


def test_long_keys_make_more_messages_so_that_brokers_take_them(
    admin: AdminClient, dead_letter_broker: DeadLetterBroker
) -> None:
    tracer = MessageTracer(admin.message_sender)
    for number in range(5):
        note(tracer, keys=f"{number}" * 7000)
    assert tracer.write_noted() is None
    assert sorted(message.body.count(b"\x02") for message in dead_letter_broker.stored_messages(TRACES)) == [
        1,
        2,
        2,
    ]


def test_a_broker_that_wants_no_traces_gets_none(
    admin: AdminClient, dead_letter_broker: DeadLetterBroker
) -> None:
    tracer = MessageTracer(admin.message_sender)
    note(tracer, SENT._replace(region_id=None))
    tracer.note_transaction(SENT._replace(region_id=None), tags="", keys="", outcome="commit")
    assert (tracer.write_noted(), dead_letter_broker.sent) == (None, [])


def test_a_trace_that_is_refused_is_an_error(
    admin: AdminClient, dead_letter_broker: DeadLetterBroker
) -> None:
    tracer = MessageTracer(admin.message_sender)
    note(tracer)
    dead_letter_broker.refusals = [13]
    assert str(tracer.write_noted()) == "MESSAGE_ILLEGAL (13): no"


def test_without_a_trace_topic_there_is_no_tracer(dead_letter_broker: DeadLetterBroker) -> None:
    with (
        FakeNameServer({"C": {"broker-a": {0: dead_letter_broker.addr}}}) as server,
        AdminClient(server.addr) as client,
        pytest.raises(TopicNotExist, match=TRACES),
    ):
        MessageTracer(client.message_sender)
