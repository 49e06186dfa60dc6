"""ROCKETMQ headers: every length wrong in every way."""

from struct import pack

import pytest

from namesrv_core.errors import ProtocolError
from namesrv_core.protocol.codes import HeaderType
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.header_binary import decode, encode

HEAD = pack(">hbhii", 101, 0, 479, 7, 0)
NO_REMARK = pack(">i", 0)
NO_EXT = pack(">i", 0)
FIELD = pack(">h", 3) + b"key" + pack(">i", 5) + b"value"


def text(value: bytes) -> bytes:
    return pack(">i", len(value)) + value


def ext(fields: bytes, size: int | None = None) -> bytes:
    return HEAD + NO_REMARK + pack(">i", len(fields) if size is None else size) + fields


def refused(header: bytes) -> bool:
    with pytest.raises(ProtocolError):
        decode(header, b"")
    return True


def test_the_smallest_header_has_21_bytes() -> None:
    command = decode(HEAD + NO_REMARK + NO_EXT, b"body")
    assert command == RemotingCommand(
        101, None, b"body", opaque=7, version=479, header_type=HeaderType.ROCKETMQ
    )


@pytest.mark.parametrize("size", range(21))
def test_a_header_cut_short_closes_the_connection(size: int) -> None:
    assert refused((HEAD + NO_REMARK + NO_EXT)[:size])


def test_remark_and_ext_fields_are_read() -> None:
    command = decode(HEAD + text(b"why") + text(FIELD + FIELD.replace(b"key", b"two")), b"")
    assert (command.remark, command.ext) == ("why", {"key": "value", "two": "value"})


@pytest.mark.parametrize("size", [0, -1, -(2**31)])
def test_ext_fields_of_no_or_negative_length_are_none(size: int) -> None:
    assert decode(ext(b"", size), b"").ext is None


def test_an_ext_length_one_too_small_still_takes_the_last_value_whole() -> None:
    assert decode(ext(FIELD, len(FIELD) - 1), b"").ext == {"key": "value"}


def test_a_text_longer_than_all_ext_fields_closes_the_connection() -> None:
    header = ext(FIELD, 8) + b"and more of the header"
    assert decode(header, b"").ext == {"key": "value"}
    assert refused(header.replace(pack(">i", 5) + b"value", pack(">i", 9) + b"value"))
    assert refused(header.replace(pack(">h", 3) + b"key", pack(">h", 9) + b"key"))


def test_an_ext_length_one_too_large_closes_the_connection() -> None:
    assert refused(ext(FIELD, len(FIELD) + 1))


def test_bytes_after_the_ext_fields_are_passed_over() -> None:
    assert decode(ext(FIELD, len(FIELD)) + b"more", b"").ext == {"key": "value"}
    assert decode(HEAD + NO_REMARK + NO_EXT + b"more", b"").ext is None


@pytest.mark.parametrize("size", [-1, -(2**31), 9, 2**31 - 1])
def test_a_remark_length_that_cannot_be_closes_the_connection(size: int) -> None:
    assert refused(HEAD + pack(">i", size) + NO_EXT)


@pytest.mark.parametrize("size", [-1, -(2**15), 100, 2**15 - 1])
def test_a_key_length_that_cannot_be_closes_the_connection(size: int) -> None:
    assert refused(ext(pack(">h", size) + FIELD[2:]))


@pytest.mark.parametrize("size", [-1, -(2**31), 6, 2**31 - 1])
def test_a_value_length_that_cannot_be_closes_the_connection(size: int) -> None:
    assert refused(ext(pack(">h", 3) + b"key" + pack(">i", size) + b"value"))


@pytest.mark.parametrize("cut", range(1, len(FIELD)))
def test_ext_fields_that_break_off_close_the_connection(cut: int) -> None:
    assert refused(ext(FIELD[:cut]))


def test_an_empty_value_is_null_and_an_empty_key_is_no_field() -> None:
    assert decode(ext(pack(">h", 3) + b"key" + text(b"")), b"").ext == {"key": None}
    assert decode(ext(pack(">h", 0) + text(b"value")), b"").ext == {}


def test_the_last_of_two_fields_with_one_key_counts() -> None:
    assert decode(ext(FIELD + FIELD.replace(b"value", b"other")), b"").ext == {"key": "other"}


def test_bad_utf_8_is_replaced() -> None:
    assert decode(ext(FIELD.replace(b"value", b"va\xffue")), b"").ext == {"key": "va\ufffdue"}
    assert decode(HEAD + text(b"\xff") + NO_EXT, b"").remark == "\ufffd"
    assert decode(HEAD + text(b"a\xed\xa0\x80b") + NO_EXT, b"").remark == "a\ufffdb"


@pytest.mark.parametrize("language", [14, 99, 127, -1, -128])
def test_any_language_byte_is_taken(language: int) -> None:
    header = pack(">hbhii", 101, language, 479, 7, 0) + NO_REMARK + NO_EXT
    assert decode(header, b"").language == ""


@pytest.mark.parametrize("number", [-1, -(2**15), 2**15 - 1])
def test_code_and_version_are_signed_shorts(number: int) -> None:
    command = decode(pack(">hbhii", number, 9, number, -2, -4) + NO_REMARK + NO_EXT, b"")
    assert (command.code, command.version, command.opaque, command.flag, command.language) == (
        number,
        number,
        -2,
        -4,
        "GO",
    )


def test_a_header_is_written_field_by_field() -> None:
    command = RemotingCommand(
        105, {"key": "value", "no": None}, opaque=7, flag=2, remark="why", language="GO", version=317
    )
    assert encode(command) == pack(">hbhii", 105, 9, 317, 7, 2) + text(b"why") + text(FIELD)


def test_a_language_without_a_number_is_written_as_other() -> None:
    assert encode(RemotingCommand(1, language="KLINGON"))[2] == 7


def test_a_lone_surrogate_is_written_as_a_question_mark() -> None:
    assert encode(RemotingCommand(1, {"k": "\ud800"})).endswith(b"\x00\x00\x00\x01?")
