"""Compressed REGISTER_BROKER bodies: whole, odd and broken."""

import random
import zlib
from collections.abc import Generator
from itertools import pairwise
from struct import pack

import pytest

from namesrv_core.errors import OverLimit
from namesrv_core.protocol import fastjson, registration_codec
from namesrv_core.protocol.compressed_registration import decode_compressed_steps, inflate_in_steps
from namesrv_core.protocol.json_bodies import DataVersion
from namesrv_core.protocol.registration_codec import (
    BrokerRegistration,
    RegisteredTopicConfig,
    decode_registration,
)
from namesrv_core.protocol.size_limits import DecodeLimits
from tests.namesrv_core.protocol.test_registration_codec import (
    MAPPING,
    READ_MAPPING,
    VERSION,
    WHOLE,
    read,
    refused,
)
from tests.support.wire import topic_config


def compressed(*topics: str, filters: bytes = b"[]", mappings: bytes | None = pack(">i", 0)) -> bytes:
    parts = [
        part(fastjson.encode_json(VERSION)),
        pack(">i", len(topics)),
        *(part(topic.encode()) for topic in topics),
    ]
    return zlib.compress(b"".join([*parts, part(filters), mappings or b""]))


def part(content: bytes) -> bytes:
    return pack(">i", len(content)) + content


def test_a_compressed_body_is_read() -> None:
    mapping = pack(">i", 1) + part(fastjson.encode_json(MAPPING))
    body = compressed(
        "T 8 7 6 SINGLE_TAG", 'U 1 2 4 MULTI_TAG {"a":"b"}', filters=b'["1:2"]', mappings=mapping
    )
    assert read(body, compressed=True) == BrokerRegistration(
        DataVersion(3, 0, 9),
        {"T": RegisteredTopicConfig("T", 8, 7, 6, 0), "U": RegisteredTopicConfig("U", 1, 2, 4, 0)},
        {"T": READ_MAPPING},
        ["1:2"],
    )


def test_before_5_0_0_a_compressed_body_ends_without_mappings() -> None:
    body = compressed("T 8 7 6 SINGLE_TAG", mappings=None)
    assert read(body, version=412, compressed=True).topic_configs == {
        "T": RegisteredTopicConfig("T", 8, 7, 6)
    }
    assert refused(body, version=413, compressed=True)


@pytest.mark.parametrize(
    ("filters", "seen"),
    [
        (b"null", None),
        (b" null ", None),
        (b"", None),
        (b"[]", []),
        (b'""', []),
        (b"x", []),
        (b" ", []),
        (b"5", []),
        (b"true", []),
        (b'["a"', []),
        (b'["a",null]', ["a", None]),
        (b'"a,b"', ["a,b"]),
        (b"{}", ["{}"]),
        (b'{"a":1}', ['{"a":1}']),
        (b'["\xff\xed\xa0\x80"]', ["\ufffd\ufffd"]),
    ],
)
def test_a_compressed_filter_list_is_read_as_5_5_0_reads_it(
    filters: bytes, seen: list[str | None] | None
) -> None:
    assert read(compressed(filters=filters), compressed=True).filter_servers == seen


@pytest.mark.parametrize("version", [b"", b"null", b'""'])
def test_a_compressed_data_version_may_be_null(version: bytes) -> None:
    body = zlib.compress(part(version) + pack(">i", 0) + part(b"[]") + pack(">i", 0))
    assert read(body, compressed=True) == BrokerRegistration(None, {}, {}, [])


def test_a_surrogate_in_a_compressed_topic_is_one_replaced_character() -> None:
    body = zlib.compress(
        part(b"{}") + pack(">i", 1) + part(b"T\xed\xa0\x80 8 7 6 SINGLE_TAG") + part(b"[]") + pack(">i", 0)
    )
    assert list(read(body, compressed=True).topic_configs or ()) == ["T\ufffd"]


@pytest.mark.parametrize(
    "topic",
    [
        "T 8 7 6", "T", "", "T 8 7 6 ODD_TAG", "T 8 7 x SINGLE_TAG", "T 8 7 2147483648 SINGLE_TAG",
        "T 8 7 6  SINGLE_TAG",
    ],
)  # fmt: skip
def test_a_compressed_topic_that_is_none_is_refused(topic: str) -> None:
    assert refused(compressed(topic), compressed=True)


@pytest.mark.parametrize("cut", range(1, 60, 3))
def test_a_compressed_body_cut_short_is_refused(cut: int) -> None:
    assert refused(compressed("T 8 7 6 SINGLE_TAG")[:cut], compressed=True)


@pytest.mark.parametrize(
    "content", [b"", b"\x00\x00\x00", pack(">i", -1), part(b"{}") + pack(">i", 1), part(b"[]") + bytes(12)]
)
def test_compressed_parts_that_break_off_are_refused(content: bytes) -> None:
    assert refused(zlib.compress(content), compressed=True)


def test_a_plain_body_that_says_it_is_compressed_is_refused() -> None:
    assert refused(WHOLE, compressed=True)


@pytest.mark.parametrize("mapping", [b"null", b"", b"{}", b'{"bname":"a","topic":null}'])
def test_a_compressed_mapping_that_is_null_or_has_no_topic_is_refused(mapping: bytes) -> None:
    assert refused(compressed(mappings=pack(">i", 1) + part(mapping)), compressed=True)


def test_a_compressed_body_that_would_fill_the_memory_is_refused() -> None:
    bomb = zlib.compress(bytes(65 * 1024 * 1024))
    with pytest.raises(OverLimit, match="when inflated"):
        decode_registration(bomb, version=513, compressed=True, now=0, within=DecodeLimits())


def test_a_compressed_body_that_is_cut_is_refused() -> None:
    body = registration_codec.encode_compressed_registration(DataVersion(), {})
    with pytest.raises(ValueError, match="cut"):
        decode_registration(body[:-5], version=513, compressed=True, now=0)


def test_a_body_that_is_compressed_and_does_not_say_so_is_read() -> None:
    body = registration_codec.encode_compressed_registration(DataVersion(3, 0, 9), {})
    assert decode_registration(body, version=513, compressed=False, now=0).data_version == DataVersion(
        3, 0, 9
    )


def test_a_compressed_topic_with_a_text_of_megabytes_is_refused() -> None:
    body = compressed("T 8 7 6 SINGLE_TAG " + "x" * (5 << 20))
    with pytest.raises(OverLimit, match="maxOddRegistrationBytes"):
        decode_registration(body, version=513, compressed=True, now=0, within=DecodeLimits())


def test_a_compressed_topic_with_a_long_name_is_refused_before_it_is_decoded() -> None:
    body = zlib.compress(part(b"{}") + pack(">i", 1) + part(b"\xff" * 511 + b" 8 7 6 SINGLE_TAG") + bytes(8))
    with pytest.raises(OverLimit, match="a topic name of 511 bytes"):
        decode_registration(body, version=513, compressed=True, now=0, within=DecodeLimits())


def test_nobody_reads_what_is_behind_the_numbers_of_a_compressed_topic() -> None:
    topics = part(b"T 8 7 6 SINGLE_TAG " + b"\xff" * 5000 + b" and more")
    body = zlib.compress(part(b"{}") + pack(">i", 1) + topics + part(b"[]") + bytes(4))
    assert read(body, compressed=True).topic_configs == {"T": RegisteredTopicConfig("T", 8, 7, 6)}


def test_the_steps_of_a_compressed_body_tell_what_they_hold() -> None:
    configs = {f"topic-{number}": topic_config(f"topic-{number}") for number in range(2000)}
    body = registration_codec.encode_compressed_registration(DataVersion(1, 0, 1), configs)
    size = len(zlib.decompress(body))
    held = list(decode_compressed_steps(body, 513, 0, DecodeLimits()))
    held_counts = [number for number in held if number is not None]
    assert held_counts == sorted(held_counts)
    assert held_counts[-1] > size + 2000 * 300


STEP = 1 << 16


def inflated(steps: Generator[int, None, bytes]) -> tuple[list[int], bytes]:
    """What each step announced, and the result."""
    announced: list[int] = []
    try:
        while True:
            announced.append(next(steps))
    except StopIteration as ended:
        result: bytes = ended.value
        return announced, result


@pytest.mark.parametrize("size", [0, 1, STEP - 1, STEP, STEP + 1, 3 * STEP, 1 << 23])
@pytest.mark.parametrize("is_random", [False, True])
def test_a_body_is_inflated_in_steps_of_a_bounded_size(size: int, is_random: bool) -> None:
    content = random.Random(size).randbytes(size) if is_random else bytes(size)
    announced, result = inflated(inflate_in_steps(zlib.compress(content), 1 << 30))
    assert result == content
    assert announced[0] == STEP
    assert all(0 <= after - before <= STEP for before, after in pairwise(announced))
    assert len(content) <= announced[-1] <= len(content) + STEP


def test_what_comes_behind_the_end_is_not_read() -> None:
    assert inflated(inflate_in_steps(zlib.compress(b"all") + b"more", 3))[1] == b"all"


@pytest.mark.parametrize("size", [STEP - 1, STEP, 3 * STEP])
def test_no_more_is_inflated_than_the_limit_allows(size: int) -> None:
    body = zlib.compress(bytes(size))
    assert len(inflated(inflate_in_steps(body, size))[1]) == size
    announced: list[int] = []
    steps = inflate_in_steps(zlib.compress(bytes(1 << 23)), size)
    with pytest.raises(OverLimit):
        announced.extend(steps)
    assert announced[-1] == size + 1


@pytest.mark.parametrize("size", [10, STEP, 1 << 20])
def test_a_cut_body_is_no_body(size: int) -> None:
    body = zlib.compress(random.Random(size).randbytes(size))
    for kept in (0, 1, len(body) // 2, len(body) - 1):
        with pytest.raises(ValueError, match="cut"):
            inflated(inflate_in_steps(body[:kept], 1 << 30))
    with pytest.raises(ValueError, match="cut"):
        inflated(inflate_in_steps(zlib.compress(bytes(size))[:-1], 1 << 30))
