"""Copies of messages: what they keep, and the order in which they are sent."""

from namesrv_core.protocol.stored_messages import StoredMessage, decode_messages
from nsadmin import AdminClient
from nsadmin.client.messages.message_copies import build_copy, compress_again, send_in_order
from nsadmin.client.messages.message_sender import OutgoingMessage, SendQueue
from tests.support.dead_letter_brokers import DeadLetterBroker
from tests.support.messages import encode_message


def stored(body: bytes = b"x", sys_flag: int = 0, **table: str) -> StoredMessage:
    [message] = decode_messages(encode_message(body, "T", table=table, sys_flag=sys_flag, stored=5)).messages
    return message


def test_a_copy_is_a_usual_message_with_the_properties_of_its_producer() -> None:
    message = stored(UNIQ_KEY="ID", KEYS="k", DELAY="3", TIMER_OUT_MS="1", TRAN_MSG="true", mine="1")
    copy = build_copy(message, SendQueue("T", "broker-a", "a:1", 0), {"more": "2"})
    assert copy.properties == {"UNIQ_KEY": "ID", "KEYS": "k", "mine": "1", "WAIT": "true", "more": "2"}
    assert (copy.born_ms, copy.flag) == (message.born_timestamp, message.flag)


def test_a_body_that_cannot_be_inflated_is_sent_as_it_is_stored() -> None:
    broken = stored(b"no lz4", sys_flag=0x101 | 0x8)
    assert broken.body_error is not None
    assert compress_again(broken) == (b"no lz4", 0x101)
    assert compress_again(stored(b"plain", sys_flag=0x8)) == (b"plain", 0)


def send(admin: AdminClient, store: DeadLetterBroker, *places: tuple[int, bytes]) -> list[str]:
    queues = {queue.queue_id: queue for queue in admin.message_sender.list_queues("T")}
    results = send_in_order(
        admin.message_sender,
        [OutgoingMessage(queues[queue_id], body, {"UNIQ_KEY": "K"}) for queue_id, body in places],
    )
    return ["unsent" if result is None else "failed" if result.error else "sent" for result in results]


def test_each_queue_gets_its_messages_one_after_the_other(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    assert send(admin, dlq, *((n % 3, b"%d" % n) for n in range(30))) == ["sent"] * 30
    for queue_id in range(3):
        bodies = [int(m.body) for m in dlq.stored_messages("T") if m.queue_id == queue_id]
        assert bodies == list(range(queue_id, 30, 3))


def test_after_a_failure_only_the_other_queues_get_messages(
    admin: AdminClient, dlq: DeadLetterBroker
) -> None:
    def refuse_first_queue() -> None:
        if (dlq.sent[-1].ext or {})["e"] == "0":
            dlq.refusals.append(1)

    dlq.on_send = refuse_first_queue
    assert send(admin, dlq, (0, b"a"), (0, b"b"), (1, b"c"), (1, b"d")) == [
        "failed", "unsent", "sent", "sent",
    ]  # fmt: skip
    dlq.on_send = lambda: None
    dlq.refusals = [10]
    assert send(admin, dlq, (0, b"late flush"), (0, b"next")) == ["failed", "sent"]
