"""Answers whose body is computed in steps."""

from collections.abc import Generator

import pytest

from namesrv_core.handlers.stepped_reply import SteppedReply, answer_list
from namesrv_core.protocol.codes import HeaderType
from namesrv_core.protocol.command import RemotingCommand, build_reply
from tests.support.wire import Wire


def two_steps() -> Generator[None, None, bytes]:
    yield
    yield
    return b"body"


def run_steps(reply: SteppedReply) -> tuple[RemotingCommand, int]:
    """The completed answer, and how many steps it took."""
    steps, step_count = reply.complete_in_steps(), 0
    while True:
        try:
            next(steps)
            step_count += 1
        except StopIteration as ended:
            return ended.value, step_count


@pytest.mark.parametrize("ext", [None, {"a": "b"}])
def test_a_completed_answer_is_like_one_that_had_its_body_at_once(
    form: HeaderType, ext: dict[str, str] | None
) -> None:
    asked = RemotingCommand(206, opaque=77, header_type=form)
    answer, step_count = run_steps(SteppedReply(build_reply(asked, ext=ext), two_steps()))
    assert answer == build_reply(asked, ext=ext, body=b"body")
    assert step_count == 2


def test_a_large_list_takes_steps_once_and_a_small_one_none(form: HeaderType) -> None:
    state, asked = Wire(form).state, RemotingCommand(206, header_type=form)
    large = answer_list(state, build_reply(asked), "large", two_steps, True)
    assert isinstance(large, SteppedReply)
    assert run_steps(large)[0].body == b"body"
    for key, is_large in (("large", True), ("small", False)):
        answer = answer_list(state, build_reply(asked), key, two_steps, is_large)
        assert not isinstance(answer, SteppedReply)
        assert answer.body == b"body"
