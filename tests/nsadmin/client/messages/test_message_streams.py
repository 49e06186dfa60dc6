"""Streams of messages: which queues they use."""

import pytest

from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin import AdminClient
from nsadmin.client import NotFound
from nsadmin.client.messages.bulk_sender import MessageDraft
from nsadmin.client.messages.message_sender import OutgoingMessage, SendQueue
from nsadmin.client.messages.message_streams import StoredBatch
from tests.support.dead_letter_brokers import DeadLetterBroker


def test_a_stream_can_be_limited_to_a_queue(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    drafts = [MessageDraft(b"%d" % number) for number in range(5)]
    [batch] = admin.message_streams.send_drafts("T", drafts, broker_name="broker-a", queue_id=3)
    assert {sent.send_queue.queue_id for sent in batch} == {3}
    follower = admin.message_streams.open_follower("T", queue_id=3)
    [page] = follower.poll_queues()
    assert [message.body for message in page.messages] == [b"0", b"1", b"2", b"3", b"4"]
    assert admin.message_streams.open_follower("T", queue_id=4).poll_queues() == []


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ({"queue_id": 8}, "T has no writable queue 8 on any broker"),
        ({"broker_name": "broker-x"}, "T has no writable queue on broker-x"),
    ],
)
def test_a_queue_that_is_not_there(admin: AdminClient, place: dict[str, int | str], text: str) -> None:
    with pytest.raises(NotFound, match=text):
        list(admin.message_streams.send_drafts("T", [MessageDraft(b"x")], **place))  # type: ignore[arg-type]


def draft(dlq: DeadLetterBroker, body: bytes, **properties: str) -> OutgoingMessage:
    return OutgoingMessage(SendQueue("T", "broker-a", dlq.addr, 1), body, properties, flag=7, born_ms=99)


def test_a_batch_is_one_request_with_the_properties_of_each_message(
    admin: AdminClient, dlq: DeadLetterBroker
) -> None:
    asked: list[RemotingCommand] = []

    def store(command: RemotingCommand) -> RemotingCommand:
        asked.append(command)
        return build_reply(command, ext={"queueOffset": "40"})

    dlq.handlers[320] = store
    batch = [draft(dlq, b"ab", KEYS="k"), draft(dlq, b"c")]
    [result] = admin.message_streams.send_batches([batch])
    assert result.value() == StoredBatch(40, True)
    [command] = asked
    ext = command.ext or {}
    assert [ext[name] for name in "begim"] == ["T", "1", "99", "", "true"]
    # The bytes were read from a request of the Java client's MessageDecoder#encodeMessage.
    assert command.body.hex() == (
        "0000001f" "00000000" "00000000" "00000007" "00000002" "6162" "0007" "4b455953016b02"
        "00000017" "00000000" "00000000" "00000007" "00000001" "63" "0000"
    )  # fmt: skip


def test_a_batch_of_one_is_a_usual_message(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    [result] = admin.message_streams.send_batches([[draft(dlq, b"alone", KEYS="k")]])
    assert result.value() == StoredBatch(0, True)
    [message] = dlq.stored_messages("T")
    assert (message.body, message.properties["KEYS"]) == (b"alone", "k")


@pytest.mark.parametrize(("code", "stored"), [(10, StoredBatch(5, False)), (13, None)])
def test_a_late_flush_is_stored_and_a_refusal_is_not(
    admin: AdminClient, dlq: DeadLetterBroker, code: int, stored: StoredBatch | None
) -> None:
    dlq.handlers[320] = lambda command: build_reply(command, code, ext={"queueOffset": "5"})
    [result] = admin.message_streams.send_batches([[draft(dlq, b"a"), draft(dlq, b"b")]])
    assert result.result == stored


@pytest.mark.parametrize("count", [1, 2])
def test_properties_that_no_record_can_hold_are_refused(
    admin: AdminClient, dlq: DeadLetterBroker, count: int
) -> None:
    with pytest.raises(ValueError, match="longer than 32767 bytes"):
        admin.message_streams.send_batches([[draft(dlq, b"a", large="x" * 32_767)] * count])
    assert dlq.sent == []
