"""Commands: what is a request, an answer, a oneway."""

import pytest

from namesrv_core.protocol.codes import HeaderType
from namesrv_core.protocol.command import RemotingCommand, build_reply, build_request


@pytest.mark.parametrize(
    ("flag", "is_reply", "is_oneway"),
    [
        (0, False, False), (1, True, False), (2, False, True), (3, True, True), (4, False, False),
        (-4, False, False),
    ],
)  # fmt: skip
def test_the_flag_says_what_a_command_is(flag: int, is_reply: bool, is_oneway: bool) -> None:
    command = RemotingCommand(1, flag=flag)
    assert (command.is_reply, command.is_oneway) == (is_reply, is_oneway)


def test_an_answer_has_number_and_form_of_what_was_asked(form: HeaderType) -> None:
    asked = RemotingCommand(
        105, {"topic": "T"}, opaque=-5, flag=4, language="GO", version=317, header_type=form
    )
    assert build_reply(asked, 17, remark="no") == RemotingCommand(
        17, opaque=-5, flag=1, remark="no", language="JAVA", version=513, header_type=form
    )


def test_every_request_of_ours_has_another_number() -> None:
    assert len({build_request(1).opaque for _ in range(100)}) == 100


def test_a_request_of_ours_carries_ext_fields_even_if_empty() -> None:
    assert build_request(1).ext == {}


def test_a_oneway_request_wants_no_answer(form: HeaderType) -> None:
    assert build_request(905, is_oneway=True, header_type=form).is_oneway
    assert not build_request(905, header_type=form).is_oneway


@pytest.mark.parametrize("member", ["code", "ext", "body", "opaque", "flag", "remark", "language", "version"])
def test_commands_that_differ_in_one_member_are_not_equal(member: str) -> None:
    command, other = RemotingCommand(1), RemotingCommand(1)
    assert command == other
    setattr(other, member, "something else")
    assert command != other


def test_a_command_shows_its_kind_code_and_number_but_not_its_body() -> None:
    assert (
        repr(RemotingCommand(105, {"topic": "T"}, b"secret", opaque=9))
        == "<request 105 #9 ext={'topic': 'T'} body=6B>"
    )
    assert "hidden" not in repr(RemotingCommand(100, {"namespace": "n", "key": "k", "value": "hidden"}))
    assert repr(RemotingCommand(0, flag=1)).startswith("<reply 0")
    assert repr(RemotingCommand(0, flag=2)).startswith("<oneway 0")
