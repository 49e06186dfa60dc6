"""Frames cut and joined in every way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesrv_core.errors import FrameOverLimit, ProtocolError
from namesrv_core.protocol import codec
from namesrv_core.protocol.frame import MAX_FRAME_BYTES, FrameReader, SplitPayload, build_frame

ONE = build_frame(0, b'{"code":1}', b"body")
PAYLOAD = ONE[4:]


def whole(payload: bytes) -> bytes:
    return bytes(payload) + payload.body if isinstance(payload, SplitPayload) else payload


def test_a_frame_begins_with_its_length_then_type_and_length_of_its_header() -> None:
    assert build_frame(1, b"abc", b"xy") == b"\x00\x00\x00\x09\x01\x00\x00\x03abcxy"


def test_a_whole_frame_gives_its_payload() -> None:
    assert FrameReader().feed_bytes(ONE) == [PAYLOAD]


@pytest.mark.parametrize("cut", range(len(ONE) + 1))
def test_a_frame_cut_anywhere_is_completed(cut: int) -> None:
    reader = FrameReader()
    before = reader.feed_bytes(ONE[:cut])
    assert before + reader.feed_bytes(ONE[cut:]) == [PAYLOAD]
    assert reader.buffered_bytes == 0


def test_a_frame_that_comes_byte_by_byte_is_given_with_its_last_byte() -> None:
    reader = FrameReader()
    assert [reader.feed_bytes(ONE[i : i + 1]) for i in range(len(ONE))] == [[]] * (len(ONE) - 1) + [[PAYLOAD]]


def test_many_frames_in_one_read_are_all_given() -> None:
    assert FrameReader().feed_bytes(ONE * 100) == [PAYLOAD] * 100


def test_an_unfinished_frame_is_kept_behind_finished_ones() -> None:
    reader = FrameReader()
    assert reader.feed_bytes(ONE + ONE[:5]) == [PAYLOAD]
    assert reader.buffered_bytes > 0
    assert reader.feed_bytes(ONE[5:] + ONE) == [PAYLOAD] * 2


@given(st.lists(st.binary(max_size=30), max_size=8), st.data())
def test_any_split_of_the_bytes_gives_the_same_payloads(bodies: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(build_frame(0, b"{}", body) for body in bodies)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=10)))
    reader = FrameReader()
    payloads = []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        payloads += reader.feed_bytes(stream[start:end])
    assert payloads == [b"\x00\x00\x00\x02{}" + body for body in bodies]


@pytest.mark.parametrize("piece", [7, 4096, 65_536, 100_000, 300_000])
def test_a_large_frame_in_pieces_is_given_between_its_neighbours(piece: int) -> None:
    large = build_frame(0, b"{}", bytes(range(256)) * 600)
    stream = ONE + large + ONE * 2 + large + ONE[:9]
    reader = FrameReader()
    payloads: list[bytes] = []
    for start in range(0, len(stream), piece):
        before = sum(4 + len(payload) for payload in payloads)
        assert reader.buffered_bytes == start - before
        payloads += reader.feed_bytes(stream[start : start + piece])
    assert list(map(whole, payloads)) == [PAYLOAD, large[4:], PAYLOAD, PAYLOAD, large[4:]]
    assert (reader.buffered_bytes, reader.missing_bytes) == (9, len(ONE) - 9)


@pytest.mark.parametrize("cut", [4, 6, 7, 8, 17, 18, 19, 99_000])
def test_the_body_of_a_large_frame_is_not_copied_where_its_header_comes_first(cut: int) -> None:
    header, body = b'{"code":1}', bytes(100_000)
    large = build_frame(0, header, body)
    reader = FrameReader()
    assert reader.feed_bytes(large[:cut]) == []
    assert (reader.buffered_bytes, reader.missing_bytes) == (cut, len(large) - cut)
    (payload,) = reader.feed_bytes(large[cut:])
    assert isinstance(payload, SplitPayload) == (cut >= len(large) - len(body))
    assert (whole(payload), len(payload)) == (large[4:], len(large) - 4)
    assert codec.decode_command(payload) == codec.decode_command(large[4:])


def test_a_header_that_is_longer_than_its_large_frame_is_refused_all_the_same() -> None:
    large = build_frame(0, b"{}", bytes(100_000))
    odd = large[:5] + b"\xff\xff\xff" + large[8:]
    reader = FrameReader()
    reader.feed_bytes(odd[:70_000])
    (payload,) = reader.feed_bytes(odd[70_000:])
    assert whole(payload) == odd[4:]
    with pytest.raises(ProtocolError, match="longer"):
        codec.decode_command(payload)


def test_a_large_frame_says_how_much_of_it_is_missing() -> None:
    reader = FrameReader()
    reader.feed_bytes(build_frame(0, b"{}", bytes(100_000))[:70_000])
    assert (reader.buffered_bytes, reader.missing_bytes) == (70_000, 30_010)


def test_room_is_made_for_a_large_frame_when_a_quarter_of_it_is_there() -> None:
    large = build_frame(0, b"{}", bytes(range(256)) * 4000)
    reader = FrameReader()
    held = []
    for start in range(0, len(large) - 100_000, 100_000):
        assert reader.feed_bytes(large[start : start + 100_000]) == []
        held.append(reader.memory_bytes)
    assert held[:3] == [100_000, 200_000, 300_000]
    assert set(held[3:]) == {len(large)}
    (payload,) = reader.feed_bytes(large[start + 100_000 :])
    assert (whole(payload), reader.memory_bytes) == (large[4:], 0)


def test_a_frame_of_exactly_the_limit_is_taken() -> None:
    frame = build_frame(0, b"{}", bytes(MAX_FRAME_BYTES - 10))
    assert len(frame) == 16777216
    assert FrameReader().feed_bytes(frame) == [frame[4:]]


def test_a_frame_of_one_byte_more_is_refused_by_its_length_alone() -> None:
    with pytest.raises(ProtocolError, match="a frame of 16777217 bytes"):
        FrameReader().feed_bytes(build_frame(0, b"{}", bytes(MAX_FRAME_BYTES - 9))[:4])


@pytest.mark.parametrize("length", [-1, -(2**31), 0, 3, 2**31 - 1])
def test_a_length_that_cannot_be_is_refused(length: int) -> None:
    with pytest.raises(ProtocolError):
        FrameReader().feed_bytes(length.to_bytes(4, "big", signed=True))


def test_what_stood_whole_before_a_bad_length_is_in_the_error() -> None:
    with pytest.raises(ProtocolError) as refused:
        FrameReader().feed_bytes(ONE + ONE + b"\xff\xff\xff\xff")
    assert refused.value.args[1] == [PAYLOAD, PAYLOAD]


def test_a_bad_length_that_comes_in_pieces_is_refused_when_it_is_whole() -> None:
    reader = FrameReader()
    assert reader.feed_bytes(b"\x00\x00\x00") == []
    with pytest.raises(ProtocolError):
        reader.feed_bytes(b"\x01")


def test_a_limit_that_is_lowered_ends_a_frame_that_has_begun() -> None:
    large = build_frame(0, b"{}", bytes(300_000))
    reader = FrameReader()
    assert reader.feed_bytes(large[:200_000]) == []
    reader.max_frame_bytes = 250_000
    with pytest.raises(FrameOverLimit, match="a frame of 300010 bytes, more than 250000"):
        reader.feed_bytes(large[200_000:])
