"""Retries of reads that got no answer."""

from collections.abc import Callable, Sequence

from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.connection.change_codes import CHANGE_CODES

Call = tuple[str, RemotingCommand]
"""The address of a server, and a request to it."""
CallAnswer = RemotingCommand | CallError

_RETRIABLE_KINDS = ("unconnected", "timeout", "closed")
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.1, 1.0


def send_with_retries(
    send_calls: Callable[[Sequence[Call]], list[CallAnswer]],
    calls: Sequence[Call],
    retry_count: int,
    pause: Callable[[float], None],
) -> list[CallAnswer]:
    """Send requests, and send reads without an answer again."""
    answers = send_calls(calls)
    for attempt in range(retry_count):
        retry_indexes = [index for index, (_, c) in enumerate(calls) if _can_retry(c, answers[index])]
        if not retry_indexes:
            break
        pause(min(_FIRST_PAUSE_SECONDS * 2**attempt, _LONGEST_PAUSE_SECONDS))
        retry_answers = send_calls([calls[call_index] for call_index in retry_indexes])
        for call_index, answer in zip(retry_indexes, retry_answers, strict=True):
            answers[call_index] = answer
    return answers


def _can_retry(command: RemotingCommand, answer: CallAnswer) -> bool:
    return (
        isinstance(answer, CallError) and answer.kind in _RETRIABLE_KINDS and command.code not in CHANGE_CODES
    )
