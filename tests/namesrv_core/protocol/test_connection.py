"""A conversation, fed bytes in any pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesrv_core.errors import ProtocolError
from namesrv_core.protocol import codec
from namesrv_core.protocol.codes import HeaderType
from namesrv_core.protocol.command import RemotingCommand, build_reply, build_request
from namesrv_core.protocol.connection import ProtocolConnection
from namesrv_core.protocol.size_limits import DecodeLimits

GARBAGE = [b"\xff\xff\xff\xff", b"\x00\x00\x00\x06\x00\x00\x00\x02[]", b"GET / HTTP/1.1\r\n\r\n"]


def command(number: int, form: HeaderType = HeaderType.JSON) -> RemotingCommand:
    return RemotingCommand(105, {"topic": f"T{number}"}, b"x" * number, opaque=number, header_type=form)


def test_a_command_cut_anywhere_comes_out_once(form: HeaderType) -> None:
    data = codec.encode_command(command(3, form))
    for cut in range(len(data) + 1):
        connection = ProtocolConnection()
        assert connection.feed_bytes(data[:cut]) + connection.feed_bytes(data[cut:]) == [command(3, form)]


@given(st.lists(st.tuples(st.integers(0, 40), st.sampled_from(HeaderType)), max_size=6), st.data())
def test_any_split_of_the_bytes_gives_the_same_commands(
    sent: list[tuple[int, HeaderType]], data: st.DataObject
) -> None:
    commands = [command(number, form) for number, form in sent]
    stream = b"".join(map(codec.encode_command, commands))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    connection = ProtocolConnection()
    received = []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        received += connection.feed_bytes(stream[start:end])
    assert received == commands
    assert connection.error is None


def test_commands_of_both_forms_may_share_a_connection() -> None:
    commands = [command(1), command(2, HeaderType.ROCKETMQ), command(3)]
    assert ProtocolConnection().feed_bytes(b"".join(map(codec.encode_command, commands))) == commands


@pytest.mark.parametrize("garbage", GARBAGE)
def test_a_command_before_garbage_is_still_given(form: HeaderType, garbage: bytes) -> None:
    connection = ProtocolConnection()
    assert connection.feed_bytes(codec.encode_command(command(1, form)) + garbage) == [command(1, form)]
    assert isinstance(connection.error, ProtocolError)


@pytest.mark.parametrize("garbage", GARBAGE)
def test_after_garbage_nothing_more_is_understood(form: HeaderType, garbage: bytes) -> None:
    connection = ProtocolConnection()
    connection.feed_bytes(garbage)
    assert connection.feed_bytes(codec.encode_command(command(1, form))) == []


def test_a_command_behind_garbage_in_the_same_read_is_not_given() -> None:
    connection = ProtocolConnection()
    assert connection.feed_bytes(
        codec.encode_command(command(1)) + GARBAGE[1] + codec.encode_command(command(2))
    ) == [command(1)]


@given(st.binary(max_size=300))
def test_whatever_bytes_come_it_answers_with_commands_or_an_error(data: bytes) -> None:
    connection = ProtocolConnection()
    connection.feed_bytes(data)
    connection.feed_bytes(data)


@given(st.binary(max_size=120), st.sampled_from(HeaderType))
def test_whatever_header_comes_it_answers_with_a_command_or_an_error(header: bytes, form: HeaderType) -> None:
    connection = ProtocolConnection()
    frame = (4 + len(header)).to_bytes(4, "big") + (form << 24 | len(header)).to_bytes(4, "big") + header
    assert len(connection.feed_bytes(frame)) == (connection.error is None)


def test_an_answer_is_matched_to_its_request_once(form: HeaderType) -> None:
    near, far = ProtocolConnection(), ProtocolConnection()
    asked = build_request(105, {"topic": "T"}, header_type=form)
    (request,) = far.feed_bytes(near.encode_request(asked))
    (answer,) = near.feed_bytes(codec.encode_command(build_reply(request, ext={"a": "b"})))
    assert near.pending_request_count == 1
    assert near.take_request(answer) is asked
    assert near.take_request(answer) is None
    assert near.pending_request_count == 0


def test_an_answer_that_nobody_waits_for_matches_nothing() -> None:
    near = ProtocolConnection()
    near.encode_request(build_request(105))
    assert near.take_request(RemotingCommand(0, opaque=-7, flag=1)) is None


def test_a_request_with_the_number_of_one_of_ours_is_no_answer_to_it() -> None:
    near = ProtocolConnection()
    asked = build_request(105)
    near.encode_request(asked)
    assert near.take_request(RemotingCommand(905, opaque=asked.opaque)) is None
    assert near.pending_request_count == 1


def test_nobody_waits_for_an_answer_to_a_oneway_request() -> None:
    near = ProtocolConnection()
    near.encode_request(build_request(322, is_oneway=True))
    assert near.pending_request_count == 0


def test_answers_may_come_in_another_order() -> None:
    near = ProtocolConnection()
    first, second = build_request(100), build_request(101)
    near.encode_request(first)
    near.encode_request(second)
    assert near.take_request(build_reply(second)) is second
    assert near.take_request(build_reply(first)) is first


def test_an_answer_to_a_request_that_was_forgotten_answers_nothing() -> None:
    connection, asked = ProtocolConnection(), build_request(105)
    connection.encode_request(asked)
    connection.forget_request(asked)
    assert connection.pending_request_count == 0
    assert connection.take_request(build_reply(asked)) is None


def test_the_largest_frame_it_takes_may_be_chosen() -> None:
    frame = codec.encode_command(RemotingCommand(7, body=bytes(100)))
    assert len(ProtocolConnection(DecodeLimits(len(frame))).feed_bytes(frame)) == 1
    refusing = ProtocolConnection(DecodeLimits(len(frame) - 1))
    assert refusing.feed_bytes(frame) == []
    assert refusing.error is not None
