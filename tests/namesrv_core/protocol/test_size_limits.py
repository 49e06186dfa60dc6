"""Limits of frames and headers: what is one too many is refused, what is not is untouched."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesrv_core.errors import FrameOverLimit
from namesrv_core.protocol import codec
from namesrv_core.protocol.codes import HeaderType
from namesrv_core.protocol.command import RemotingCommand, build_request
from namesrv_core.protocol.connection import ProtocolConnection
from namesrv_core.protocol.size_limits import NO_LIMITS, DecodeLimits, is_nested_deeper


def depth(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(depth, inner), default=0)


JSON = st.recursive(
    st.none() | st.integers(0, 9) | st.text('[]{}"\\a', max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("[]{}a", max_size=4), inner, max_size=3)
    ),
    max_leaves=20,
)


@given(JSON, st.integers(0, 8))
def test_the_depth_is_that_of_the_value_whatever_its_texts_hold(value: object, limit: int) -> None:
    assert is_nested_deeper(json.dumps(value).encode(), limit) == (depth(value) > limit)


@given(st.binary(max_size=60), st.integers(0, 3))
def test_any_bytes_have_a_depth(text: bytes, limit: int) -> None:
    assert is_nested_deeper(text, limit) in (True, False)


@pytest.mark.parametrize(
    ("text", "deeper"), [(b"[" * 101, True), (b"[" * 100, False), (b"]" * 200 + b"[" * 100, False)]
)
def test_brackets_without_their_others_have_a_depth_too(text: bytes, deeper: bool) -> None:
    assert is_nested_deeper(text, 100) is deeper


def refused(limits: DecodeLimits, data: bytes) -> str | None:
    """The limit that a frame is over, None where it is read."""
    connection = ProtocolConnection(limits)
    commands = connection.feed_bytes(data)
    assert bool(commands) is (connection.error is None)
    return connection.error.limit_key if isinstance(connection.error, FrameOverLimit) else None


def test_a_header_of_just_as_many_bytes_is_read(form: HeaderType) -> None:
    data = codec.encode_command(RemotingCommand(101, {"key": "k" * 100}, opaque=1, header_type=form))
    size = int.from_bytes(data[5:8], "big")
    assert refused(NO_LIMITS._replace(header_bytes=size), data) is None
    assert refused(NO_LIMITS._replace(header_bytes=size - 1), data) == "maxHeaderBytes"


def test_ext_fields_are_counted(form: HeaderType) -> None:
    data = codec.encode_command(RemotingCommand(101, {f"k{n}": "v" for n in range(9)}, header_type=form))
    assert refused(NO_LIMITS._replace(ext_fields=9), data) is None
    assert refused(NO_LIMITS._replace(ext_fields=8), data) == "maxExtFields"


def test_a_frame_that_is_announced_as_too_large_is_refused_before_it_comes() -> None:
    data = codec.encode_command(build_request(101, body=bytes(100)))
    assert refused(DecodeLimits(frame_bytes=len(data)), data) is None
    assert refused(DecodeLimits(frame_bytes=len(data) - 1), data[:4]) == "maxFrameBytes"
    assert refused(DecodeLimits(), b"GET / HTTP/1.1\r\n") is None


@pytest.mark.parametrize(("levels", "limit"), [(99, None), (100, "maxJsonDepth"), (200_000, "maxJsonDepth")])
def test_a_header_may_be_a_hundred_levels_deep(levels: int, limit: str | None) -> None:
    header = b'{"code":101,"x":' + b"[" * levels + b"]" * levels + b"}"
    data = (4 + len(header)).to_bytes(4, "big") + len(header).to_bytes(4, "big") + header
    assert refused(DecodeLimits(header_bytes=1 << 24), data) == limit
