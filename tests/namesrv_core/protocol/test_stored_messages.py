"""Stored messages: a record of a real broker, and records put together by hand."""

import struct
import zlib
from base64 import b64decode
from typing import Any

import pytest

from namesrv_core.protocol import stored_messages
from namesrv_core.protocol.message_compression import MAX_INFLATED_BYTES, InflationError, inflate_body
from namesrv_core.protocol.stored_messages import (
    MAGIC_V1,
    MAGIC_V2,
    StoredMessage,
    decode_messages,
    encode_properties,
    parse_properties,
)
from tests.support.messages import encode_message

FROM_A_BROKER = b64decode(
    "AAABE9qjIKcJ01/IAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAaH8HMlefwAAAQAA4gQAAAGh/BzJin8AAAEAAFGvAAAAAAAA"
    "AAAAAAAAAAAADmhlbGxvIDAg5Lit5paHBlRvcGljQQCkTVNHX1JFR0lPTgFEZWZhdWx0UmVnaW9uAnVwAXYwAlVOSVFfS0VZAUZEMDAw"
    "MDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAyN0UxRTRFMEUyRjJBNjdCNEUxNUQwMDAwAkNMVVNURVIBRGVmYXVsdENsdXN0ZXICVEFH"
    "UwFUYWdBAktFWVMBa2V5MAJXQUlUAXRydWUCVFJBQ0VfT04BdHJ1ZQI="
)


def one(data: bytes) -> StoredMessage:
    [message], left_over = decode_messages(data)
    assert left_over == 0
    return message


def test_a_record_of_a_real_broker() -> None:
    message = one(FROM_A_BROKER)
    assert message == StoredMessage(
        topic="TopicA",
        queue_id=1,
        queue_offset=0,
        physical_offset=0,
        flag=0,
        sys_flag=0,
        born_timestamp=1795231107422,
        born_host="127.0.0.1:57860",
        store_timestamp=1795231107466,
        store_host="127.0.0.1:20911",
        reconsume_times=0,
        prepared_transaction_offset=0,
        body="hello 0 中文".encode(),
        body_error=None,
        crc_ok=True,
        properties={
            "MSG_REGION": "DefaultRegion",
            "up": "v0",
            "UNIQ_KEY": "FD0000000000000000000000000000027E1E4E0E2F2A67B4E15D0000",
            "CLUSTER": "DefaultCluster",
            "TAGS": "TagA",
            "KEYS": "key0",
            "WAIT": "true",
            "TRACE_ON": "true",
        },
        store_size=275,
        offset_msg_id="7F000001000051AF0000000000000000",
    )
    assert message.msg_id == message.properties["UNIQ_KEY"]
    assert (message.keys, message.tags) == (("key0",), "TagA")


def test_only_blanks_separate_keys_as_in_java() -> None:
    message = one(encode_message(table={"KEYS": " a\tb  c\nd e\u00a0f \u3000g"}))
    assert message.keys == ("a\tb", "c\nd", "e\u00a0f", "\u3000g")


def test_records_follow_each_other_and_what_is_cut_is_counted() -> None:
    messages, left_over = decode_messages(FROM_A_BROKER * 2 + FROM_A_BROKER[:100])
    assert (len(messages), left_over) == (2, 100)
    assert decode_messages(b"") == ((), 0)
    assert decode_messages(b"short") == ((), 5)


@pytest.mark.parametrize("at", [4, 91, 0], ids=["magic", "body length", "size"])
def test_a_record_that_is_broken_is_left_over(at: int) -> None:
    broken = bytearray(encode_message())
    broken[at : at + 4] = b"\x7f\xff\xff\xff"
    messages, left_over = decode_messages(encode_message() + broken)
    assert (len(messages), left_over) in [(1, len(broken)), (2, 0)]
    if at != 91:
        assert left_over == len(broken)


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_lengths_beyond_the_end_of_a_record_are_no_record(cut: int) -> None:
    short = encode_message()[:-cut]
    data = struct.pack(">i", len(short)) + short[4:]
    assert decode_messages(data).unread_bytes == len(data)


def test_the_second_form_takes_long_topics() -> None:
    topic = "%RETRY%" + "g" * 200
    message = one(encode_message(topic=topic, magic=MAGIC_V2))
    assert message.topic == topic
    assert one(encode_message(topic="T", magic=MAGIC_V1)).topic == "T"


def test_hosts_may_be_ipv6() -> None:
    message = one(encode_message(sys_flag=0x30, store_ip=bytes(15) + b"\x01", physical=7))
    assert (message.born_host, message.store_host) == ("[::1]:1", "[::1]:20911")
    assert message.offset_msg_id == "00" * 15 + "01" + "000051AF" + "0000000000000007"
    assert message.msg_id == message.offset_msg_id


@pytest.mark.parametrize(("crc", "ok"), [(None, True), (0, None), (7, False)])
def test_the_checksum_is_that_of_the_stored_body(crc: int | None, ok: bool | None) -> None:
    assert one(encode_message(body=zlib.compress(b"x"), sys_flag=1, crc=crc)).crc_ok is ok


def test_a_compressed_body_is_inflated() -> None:
    message = one(encode_message(body=zlib.compress(b"hello"), sys_flag=0x301))
    assert (message.body, message.body_error) == (b"hello", None)


def test_a_body_that_cannot_be_inflated_stays_as_it_is() -> None:
    message = one(encode_message(body=b"garbage", sys_flag=0x301))
    assert message.body == b"garbage"
    assert "corrupt" in (message.body_error or "")


def inner(body: bytes, table: dict[str, str], flag: int = 0) -> bytes:
    text = encode_properties(table).encode()
    rest = body + struct.pack(">h", len(text)) + text
    return struct.pack(">iiiii", 20 + len(rest), 0, 0, flag, len(body)) + rest


def test_the_messages_of_an_inner_batch_count_each_by_itself() -> None:
    batch = inner(b"one", {"KEYS": "a"}) + inner(b"two", {"UNIQ_KEY": "B"}, flag=9)
    first, second = decode_messages(encode_message(body=batch, sys_flag=0xC0, queue_offset=40)).messages
    assert (first.queue_offset, first.body, first.keys, first.flag) == (40, b"one", ("a",), 0)
    assert (second.queue_offset, second.body, second.msg_id, second.flag) == (41, b"two", "B", 9)
    assert first.offset_msg_id == second.offset_msg_id == first.msg_id


def test_one_bit_of_the_two_makes_no_batch() -> None:
    assert one(encode_message(body=b"plain", sys_flag=0x80)).body == b"plain"


def test_a_broken_batch_is_left_over() -> None:
    for body in (b"\0" * 20, inner(b"x", {})[:-1]):
        data = encode_message(body=body, sys_flag=0xC0)
        assert decode_messages(data) == ((), len(data))


def test_the_bodies_of_an_answer_inflate_to_a_limit_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    inflated: list[int] = []

    def inflate(body: bytes, sys_flag: int, max_bytes: int) -> bytes:
        inflated.append(len(plain := inflate_body(body, sys_flag, max_bytes)))
        return plain

    monkeypatch.setattr(stored_messages, "inflate_body", inflate)
    data = encode_message(body=zlib.compress(bytes(8 << 20)), sys_flag=1) * 40
    messages, left_over = decode_messages(data)
    assert (len(messages), left_over) == (40, 0)
    assert sum(inflated) <= MAX_INFLATED_BYTES + 16 * len(data)
    assert messages[0].body_error is None
    assert messages[-1].body_error == (
        "not inflated: the messages before it in this answer already inflate to the limit"
    )


def test_a_body_that_fails_counts_as_a_large_one() -> None:
    calls: list[bytes] = []

    def fail(body: bytes, sys_flag: int, max_bytes: int) -> bytes:
        calls.append(body)
        raise InflationError("corrupt at its end")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(stored_messages, "inflate_body", fail)
        messages = decode_messages(encode_message(body=b"bomb", sys_flag=1) * 50).messages
    assert len(messages) == 50
    assert len(calls) == 2


def test_an_inner_batch_inflates_to_a_bounded_number_of_messages() -> None:
    batch = zlib.compress(inner(b"", {}) * 100_000)
    data = encode_message(body=batch, sys_flag=0xC1)
    assert decode_messages(data) == ((), len(data))
    plain = encode_message(body=inner(b"", {}) * 100_000, sys_flag=0xC0)
    assert len(decode_messages(plain).messages) == 100_000


@pytest.mark.parametrize(
    ("raw", "table"),
    [
        (b"", {}),
        (b"a\x01b\x02c\x01d", {"a": "b", "c": "d"}),
        (b"a\x01b\x01c\x02", {"a": "b\x01c"}),
        (b"\x01x\x02y\x01\x02z\x02", {}),
    ],
)
def test_properties(raw: bytes, table: dict[str, str]) -> None:
    assert parse_properties(raw) == table


def test_properties_are_written_as_they_are_read() -> None:
    table: dict[str, Any] = {"KEYS": "a b", "TAGS": "中"}
    assert parse_properties(encode_properties({**table, "empty": ""}).encode()) == table
    with pytest.raises(ValueError, match="cannot contain"):
        encode_properties({"a": "b\x02c\x01d"})
