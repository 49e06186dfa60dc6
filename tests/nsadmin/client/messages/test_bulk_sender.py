"""Batches: how large they are, and which queues they go to."""

from collections import Counter
from time import monotonic

import pytest

from nsadmin import AdminClient
from nsadmin.client.messages.bulk_sender import BulkSender, MessageDraft, SendTransactions, SentDraft
from nsadmin.client.messages.message_queries import LocatedMessage
from nsadmin.client.messages.message_tracer import MessageTracer
from nsadmin.client.messages.message_traces import parse_traces
from nsadmin.client.messages.transactions import TransactionEnder
from tests.support.dead_letter_brokers import HALF, DeadLetterBroker


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
        transactions=SendTransactions(TransactionEnder(admin._caller), outcome),
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
