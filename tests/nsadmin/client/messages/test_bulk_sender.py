"""Batches: how large they are, and which queues they go to."""

import zlib
from collections import Counter
from time import monotonic

from nsadmin import AdminClient
from nsadmin.client.messages.bulk_sender import BulkSender, MessageDraft, SentDraft
from tests.support.dead_letter_brokers import DeadLetterBroker


def batches(admin: AdminClient, drafts: list[MessageDraft | None]) -> list[list[SentDraft]]:
    sender = BulkSender(admin.message_sender, admin.message_sender.list_queues("T"))
    return list(sender.send_drafts(drafts))


def test_messages_take_turns_at_all_queues(admin: AdminClient, graves: DeadLetterBroker) -> None:
    sizes = [len(batch) for batch in batches(admin, [MessageDraft(b"%d" % n) for n in range(160)])]
    assert sizes == [64, 64, 32]
    counts = Counter((message.queue_id) for message in graves.stored("T"))
    assert counts == dict.fromkeys(range(8), 20)


def test_a_pause_of_the_input_sends_the_messages_so_far(admin: AdminClient, graves: DeadLetterBroker) -> None:
    draft = MessageDraft(b"x")
    sizes = [len(batch) for batch in batches(admin, [draft, draft, None, None, draft])]
    assert sizes == [2, 1]


def test_large_bodies_make_small_batches(admin: AdminClient, graves: DeadLetterBroker) -> None:
    draft = MessageDraft(b"x" * (3 << 20))
    assert [len(batch) for batch in batches(admin, [draft, draft])] == [1, 1]


def test_a_sharding_key_keeps_messages_in_one_queue_and_in_order(
    admin: AdminClient, graves: DeadLetterBroker
) -> None:
    drafts: list[MessageDraft | None] = [
        MessageDraft(b"%d" % number, sharding_key=f"key{number % 3}") for number in range(30)
    ]
    assert all(len({sent.send_queue for sent in batch}) == len(batch) for batch in batches(admin, drafts))
    for key in range(3):
        messages = [m for m in graves.stored("T") if m.properties["__SHARDINGKEY"] == f"key{key}"]
        assert len({message.queue_id for message in messages}) == 1
        assert [int(message.body) for message in messages] == list(range(key, 30, 3))


def test_a_draft_has_keys_tag_properties_and_an_id(admin: AdminClient, graves: DeadLetterBroker) -> None:
    draft = MessageDraft(b"one", "k1 k2", "A", {"mine": "1"})
    [[sent]] = batches(admin, [draft])
    [message] = graves.stored("T")
    assert sent.draft == draft
    assert sent.result.value().msg_id == message.msg_id
    assert (message.keys, message.tags, message.properties["mine"]) == (("k1", "k2"), "A", "1")


def test_only_bodies_that_become_smaller_are_compressed(admin: AdminClient, graves: DeadLetterBroker) -> None:
    sender = BulkSender(
        admin.message_sender, admin.message_sender.list_queues("T")[:1], compresses_bodies=True
    )
    list(sender.send_drafts([MessageDraft(b"x" * 1000), MessageDraft(b"y")]))
    assert [(asked.body, (asked.ext or {})["f"]) for asked in graves.sent] == [
        (zlib.compress(b"x" * 1000), "1"),
        (b"y", "0"),
    ]


def test_a_rate_makes_small_batches_and_waits(admin: AdminClient, graves: DeadLetterBroker) -> None:
    sender = BulkSender(admin.message_sender, admin.message_sender.list_queues("T"), 50)
    began_at = monotonic()
    assert [len(batch) for batch in sender.send_drafts([MessageDraft(b"x")] * 25)] == [10, 10, 5]
    assert monotonic() - began_at >= 0.35
