"""Batches: the request on the wire, and its answers."""

import pytest

from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin import AdminClient
from nsadmin.client.messages.message_batches import StoredBatch
from nsadmin.client.messages.message_sender import OutgoingMessage, SendQueue
from tests.support.dead_letter_brokers import DeadLetterBroker


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
