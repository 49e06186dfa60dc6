"""Retries of reads that got no answer."""

from collections.abc import Sequence

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import build_reply, build_request
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.connection.read_retries import Call, CallAnswer, send_with_retries

READ, CHANGE = build_request(RequestCode.GET_NAMESRV_CONFIG), build_request(RequestCode.PUT_KV_CONFIG)


def test_only_unanswered_reads_are_sent_again_after_growing_pauses() -> None:
    sent: list[list[str]] = []
    pauses: list[float] = []

    def send_calls(calls: Sequence[Call]) -> list[CallAnswer]:
        sent.append([server_addr for server_addr, _ in calls])
        return [
            build_reply(command) if a == "good" or len(sent) == 3 else CallError(a, "timeout", "no answer")
            for a, command in calls
        ]

    answers = send_with_retries(
        send_calls, [("good", READ), ("late", READ), ("change", CHANGE)], 5, pauses.append
    )
    assert sent == [["good", "late", "change"], ["late"], ["late"]]
    assert pauses == [0.1, 0.2]
    assert [isinstance(answer, CallError) for answer in answers] == [False, False, True]
