"""Streams of messages: which queues they use."""

import pytest

from nsadmin import AdminClient
from nsadmin.client import NotFound
from nsadmin.client.messages.bulk_sender import MessageDraft
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
