"""The request for messages of a queue."""

from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.messages.pull_requests import build_pull_request, decode_pulled_messages
from tests.support.messages import encode_message


def test_the_own_queues_of_a_broker_are_asked_for_by_name() -> None:
    usual = build_pull_request("T", 3, 7)
    own = build_pull_request("T", 3, 7, lo=False)
    assert (usual.code, own.ext) == (11, {**(usual.ext or {}), "lo": "false"})


def test_offsets_of_logical_queues_are_those_of_the_answer() -> None:
    body, ext = encode_message(b"x", "T", queue_offset=2), {"offsetDelta": "10000"}
    [message] = decode_pulled_messages(RemotingCommand(0, ext, body))
    assert message.queue_offset == 10_002
    assert decode_pulled_messages(RemotingCommand(19, ext, body)) == []
