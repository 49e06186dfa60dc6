"""Ids of messages: both kinds, taken apart and put together."""

import pytest

from namesrv_core.protocol.message_ids import (
    OffsetId,
    UniqueKey,
    build_offset_id,
    build_unique_key,
    format_addr,
    parse_message_id,
)

LOOPBACK = bytes([127, 0, 0, 1])
FD00_2 = bytes.fromhex("fd00" + "00" * 13 + "02")


def test_an_offset_id_says_where_a_message_is() -> None:
    text = build_offset_id(LOOPBACK, 20911, 825)
    assert text == "7F000001000051AF0000000000000339"
    assert parse_message_id(text) == OffsetId("127.0.0.1:20911", 825)
    assert parse_message_id(text.lower()) == OffsetId("127.0.0.1:20911", 825)


def test_an_offset_id_with_an_ipv6_address_is_longer() -> None:
    text = build_offset_id(FD00_2, 10911, 2**40)
    assert len(text) == 56
    assert parse_message_id(text) == OffsetId("[fd00::2]:10911", 2**40)


def test_a_unique_key_says_who_made_a_message_and_when() -> None:
    """The sample of a Java client."""
    text = "FD0000000000000000000000000000027E1E4E0E2F2A67B4E15D0000"
    assert parse_message_id(text) == UniqueKey("fd00::2", 32286, 1_739_907_421, 0)
    assert build_unique_key(FD00_2, 32286, 0x4E0E2F2A, 1_739_907_421, 0) == text


def test_only_the_low_bits_of_a_pid_and_a_counter_count() -> None:
    text = build_unique_key(LOOPBACK, 0x12345, -1, 5, 0x10007)
    assert parse_message_id(text) == UniqueKey("127.0.0.1", 0x2345, 5, 7)


@pytest.mark.parametrize("text", ["", "order-4711", "7F00", "ZZ" * 16, "7F 0 0 1" * 4, "7F" * 20])
def test_other_texts_are_neither(text: str) -> None:
    assert parse_message_id(text) is None


def test_addresses_are_written_with_their_port() -> None:
    assert format_addr(LOOPBACK, 1) == "127.0.0.1:1"
    assert format_addr(FD00_2, 2) == "[fd00::2]:2"
