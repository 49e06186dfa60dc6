"""Batches: how large they are, and which queues they go to."""

from collections import Counter
from time import monotonic

import pytest

from namesrv_core.errors import RequestError, TopicNotExist
from namesrv_core.protocol.stored_messages import decode_messages
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin import AdminClient
from nsadmin.client.messages.bulk_sender import (
    BulkSender,
    MessageDraft,
    MessageTracer,
    SentDraft,
    TransactionEnder,
)
from nsadmin.client.messages.message_queries import LocatedMessage
from nsadmin.client.messages.message_sender import SendQueue, SentMessage, encode_send_record
from nsadmin.client.messages.message_traces import MessageTrace, parse_traces
from tests.support.dead_letter_brokers import HALF, DeadLetterBroker
from tests.support.fake_servers import FakeNameServer, answer_nothing, closed_port
from tests.support.messages import encode_message


def batches(admin: AdminClient, drafts: list[MessageDraft | None]) -> list[list[SentDraft]]:
    sender = BulkSender(admin.message_sender, admin.message_sender.list_queues("T"))
    return list(sender.send_drafts(drafts))


def test_messages_take_turns_at_all_queues(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    sizes = [len(batch) for batch in batches(admin, [MessageDraft(b"%d" % n) for n in range(160)])]
    assert sizes == [64, 64, 32]
    counts = Counter((message.queue_id) for message in dlq.stored_messages("T"))
    assert counts == dict.fromkeys(range(8), 20)


def test_a_pause_of_the_input_sends_the_messages_so_far(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    draft = MessageDraft(b"x")
    sizes = [len(batch) for batch in batches(admin, [draft, draft, None, None, draft])]
    assert sizes == [2, 1]


def test_large_bodies_make_small_batches(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    draft = MessageDraft(b"x" * (3 << 20))
    assert [len(batch) for batch in batches(admin, [draft, draft])] == [1, 1]


def test_a_sharding_key_keeps_messages_in_one_queue_and_in_order(
    admin: AdminClient, dlq: DeadLetterBroker
) -> None:
    drafts: list[MessageDraft | None] = [
        MessageDraft(b"%d" % number, sharding_key=f"key{number % 3}") for number in range(30)
    ]
    assert all(len({sent.send_queue for sent in batch}) == len(batch) for batch in batches(admin, drafts))
    for key in range(3):
        messages = [m for m in dlq.stored_messages("T") if m.properties["__SHARDINGKEY"] == f"key{key}"]
        assert len({message.queue_id for message in messages}) == 1
        assert [int(message.body) for message in messages] == list(range(key, 30, 3))


def test_a_draft_has_keys_tag_properties_and_an_id(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    draft = MessageDraft(b"one", "k1 k2", "A", {"mine": "1"})
    [[sent]] = batches(admin, [draft])
    [message] = dlq.stored_messages("T")
    assert sent.draft == draft
    assert sent.result.value().msg_id == message.msg_id
    assert (message.keys, message.tags, message.properties["mine"]) == (("k1", "k2"), "A", "1")


@pytest.mark.parametrize(("compression", "flag"), [("zlib", 0x301), ("lz4", 0x101), ("zstd", 0x201)])
def test_only_bodies_that_become_smaller_are_compressed(
    admin: AdminClient, dlq: DeadLetterBroker, compression: str, flag: int
) -> None:
    sender = BulkSender(
        admin.message_sender, admin.message_sender.list_queues("T")[:1], compression=compression
    )
    list(sender.send_drafts([MessageDraft(b"x" * 1000), MessageDraft(b"y")]))
    assert [(asked.ext or {})["f"] for asked in dlq.sent] == [str(flag), "0"]
    assert len(dlq.sent[0].body) < 100
    assert [message.body for message in dlq.stored_messages("T")] == [b"x" * 1000, b"y"]


def send_in_transactions(
    admin: AdminClient, outcome: str, drafts: list[MessageDraft], tracer: MessageTracer | None = None
) -> list[SentDraft]:
    sender = BulkSender(
        admin.message_sender,
        admin.message_sender.list_queues("T"),
        transactions=TransactionEnder(admin._caller, outcome),
        tracer=tracer,
    )
    [batch] = sender.send_drafts(drafts)
    return batch


def test_a_committed_message_was_a_half_message_before(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    [sent] = send_in_transactions(admin, "commit", [MessageDraft(b"one", "k", "A")])
    assert [(asked.ext or {})["f"] for asked in dlq.sent] == ["4"]
    [message] = dlq.stored_messages("T")
    assert (message.body, message.keys, message.tags) == (b"one", ("k",), "A")
    stored = sent.result.value()
    assert (stored.msg_id, stored.offset_msg_id, stored.queue_offset) == (message.msg_id, None, None)


def test_a_message_that_is_rolled_back_gets_to_no_topic(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    batch = send_in_transactions(admin, "rollback", [MessageDraft(b"one"), MessageDraft(b"two")])
    assert ([s.result.error for s in batch], dlq.stored_messages("T")) == ([None, None], [])
    assert len(dlq.stored_messages(HALF)) == 2


def test_a_half_message_that_was_refused_has_no_end(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    dlq.refusals = [13]
    refused, sent = send_in_transactions(admin, "commit", [MessageDraft(b"one"), MessageDraft(b"two")])
    assert (refused.result.error is None, sent.result.error, len(dlq.ended)) == (False, None, 1)
    assert [message.body for message in dlq.stored_messages("T")] == [b"two"]


def test_traces_tell_the_kind_of_each_message(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    sender = BulkSender(
        admin.message_sender,
        admin.message_sender.list_queues("T"),
        tracer=MessageTracer(admin.message_sender),
    )
    drafts = [MessageDraft(b"12345", "k1 k2", "A"), MessageDraft(b"x", properties={"DELAY": "3"})]
    [[usual, delayed]] = sender.send_drafts(drafts)
    [transaction] = send_in_transactions(
        admin, "commit", [MessageDraft(b"y")], MessageTracer(admin.message_sender)
    )
    traces = [
        trace
        for message in dlq.stored_messages("RMQ_SYS_TRACE_TOPIC")
        for trace in parse_traces(LocatedMessage("broker-a", message))
    ]
    assert sorted((trace.msg_id, trace.kind, trace.message_type, trace.status) for trace in traces) == [
        (usual.result.value().msg_id, "Pub", "Normal", "success"),
        (delayed.result.value().msg_id, "Pub", "Delay_Msg", "success"),
        (transaction.result.value().msg_id, "EndTransaction", "Trans_msg_Commit", "COMMIT_MESSAGE"),
        (transaction.result.value().msg_id, "Pub", "Trans_Msg_Half", "success"),
    ]
    [trace] = [trace for trace in traces if trace.msg_id == usual.result.value().msg_id]
    assert (trace.keys, trace.tags, trace.topic, trace.store_host) == ("k1 k2", "A", "T", dlq.addr)
    keys = {key for m in dlq.stored_messages("RMQ_SYS_TRACE_TOPIC") for key in m.keys}
    assert keys >= {"k1", "k2", usual.result.value().msg_id, delayed.result.value().msg_id}


def test_a_rate_makes_small_batches_and_waits(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    sender = BulkSender(admin.message_sender, admin.message_sender.list_queues("T"), 50)
    began_at = monotonic()
    assert [len(batch) for batch in sender.send_drafts([MessageDraft(b"x")] * 25)] == [10, 10, 5]
    assert monotonic() - began_at >= 0.35


def half(broker_addr: str) -> SentMessage:
    return SentMessage(
        SendQueue("T", "broker-a", broker_addr, 0), "ID", "7F0000010000000100000000000003E8", 7
    )


@pytest.mark.parametrize(("outcome", "flag"), [("commit", "8"), ("rollback", "12")])
def test_a_broker_finds_the_half_message_by_both_offsets(
    admin: AdminClient, dlq: DeadLetterBroker, outcome: str, flag: str
) -> None:
    TransactionEnder(admin._caller, outcome).end_transactions([half(dlq.addr)])
    [ended_transaction] = dlq.ended
    ended_transaction.pop("bname", None)
    assert ended_transaction == {
        "topic": "T", "producerGroup": "TOOLS_PRODUCER", "tranStateTableOffset": "7",
        "commitLogOffset": "1000", "commitOrRollback": flag, "fromTransactionCheck": "false", "msgId": "ID",
        "transactionId": "ID",
    }  # fmt: skip


def test_a_refused_commit_leaves_a_message_that_no_consumer_gets(
    admin: AdminClient, dlq: DeadLetterBroker
) -> None:
    [result] = TransactionEnder(admin._caller, "commit").end_transactions([half(dlq.addr)])
    assert isinstance(result.error, RequestError)
    assert (result.error.code, str(result.error)) == (
        1,
        "SYSTEM_ERROR (1): the commit of ID failed, so no consumer gets it: "
        "Find prepared transaction message failed",
    )  # fmt: skip


@pytest.mark.parametrize("admin", [0.5], indirect=True)
def test_without_an_answer_the_outcome_is_unknown(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    dlq.handlers[37] = answer_nothing
    [unanswered] = TransactionEnder(admin._caller, "commit").end_transactions([half(dlq.addr)])
    gone = half(f"127.0.0.1:{closed_port()}")
    [unreachable] = TransactionEnder(admin._caller, "rollback").end_transactions([gone])
    assert isinstance(unanswered.error, CallError)
    assert unanswered.error.reason.startswith("the commit of ID may have failed: no answer")
    assert isinstance(unreachable.error, CallError)
    assert unreachable.error.reason.startswith("the rollback of ID failed, so no consumer gets it: ")


SENT = SentMessage(SendQueue("T", "broker-a", "127.0.0.1:1", 0), "ID", "OFFSET", 7)
TRACES = "RMQ_SYS_TRACE_TOPIC"


def note(tracer: MessageTracer, sent: SentMessage = SENT, keys: str = "k") -> None:
    tracer.note_send(sent, MessageDraft(b"abc", keys, "A"), "Normal", began_ms=5, cost_ms=6)


def test_the_traces_of_a_batch_are_one_message(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    tracer = MessageTracer(admin.message_sender)
    note(tracer)
    note(tracer, SENT._replace(msg_id="ID2"))
    assert tracer.write_noted() is None
    assert tracer.write_noted() is None
    [message] = dlq.stored_messages(TRACES)
    assert message.keys == ("ID", "k", "ID2")
    assert message.body.count(b"\x02") == 2
    assert message.body.startswith(
        b"Pub\x015\x01DefaultRegion\x01TOOLS_PRODUCER\x01T\x01ID\x01A\x01k\x01127.0.0.1:1\x013\x016\x010\x01"
        b"OFFSET\x01true\x02"
    )


def test_long_keys_make_more_messages_so_that_brokers_take_them(
    admin: AdminClient, dlq: DeadLetterBroker
) -> None:
    tracer = MessageTracer(admin.message_sender)
    for number in range(5):
        note(tracer, keys=f"{number}" * 7000)
    assert tracer.write_noted() is None
    assert sorted(m.body.count(b"\x02") for m in dlq.stored_messages(TRACES)) == [1, 2, 2]


def test_a_broker_that_wants_no_traces_gets_none(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    tracer = MessageTracer(admin.message_sender)
    note(tracer, SENT._replace(region_id=None))
    tracer.note_transaction(SENT._replace(region_id=None), MessageDraft(b""), "commit")
    assert (tracer.write_noted(), dlq.sent) == (None, [])


def test_a_trace_that_is_refused_is_an_error(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    tracer = MessageTracer(admin.message_sender)
    note(tracer)
    dlq.refusals = [13]
    assert str(tracer.write_noted()) == "MESSAGE_ILLEGAL (13): no"


def test_without_a_trace_topic_there_is_no_tracer(dlq: DeadLetterBroker) -> None:
    with (
        FakeNameServer({"C": {"broker-a": {0: dlq.addr}}}) as server,
        AdminClient(server.addr) as client,
        pytest.raises(TopicNotExist, match=TRACES),
    ):
        MessageTracer(client.message_sender)


def read(text: bytes) -> MessageTrace:
    [message] = decode_messages(encode_message(text)).messages
    [trace] = parse_traces(LocatedMessage("broker-a", message))
    return trace


def test_the_parser_reads_the_record_of_a_send() -> None:
    record = encode_send_record(
        SENT._replace(region_id="R"), tags="A", keys="k1 k2", body_length=3, began_ms=1, cost_ms=2,
        message_type="Delay_Msg",
    )  # fmt: skip
    trace = read(record.encode())
    assert trace == MessageTrace(
        "Pub", 1, "ID", "TOOLS_PRODUCER", "T", trace.client_host, 2, "success", "A", "k1 k2", "127.0.0.1:1",
        "OFFSET", "Delay_Msg", None, None, None,
    )  # fmt: skip


def test_the_parser_reads_the_end_of_a_transaction(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    tracer = MessageTracer(admin.message_sender)
    tracer.note_transaction(SENT, MessageDraft(b"", "k1 k2", "A"), "rollback")
    assert tracer.write_noted() is None
    [message] = dlq.stored_messages(TRACES)
    trace = read(message.body)
    assert trace == MessageTrace(
        "EndTransaction", trace.time_ms, "ID", "TOOLS_PRODUCER", "T", trace.client_host, None,
        "ROLLBACK_MESSAGE", "A", "k1 k2", "127.0.0.1:1", None, "Trans_msg_Commit", None, None, "ID",
    )  # fmt: skip
