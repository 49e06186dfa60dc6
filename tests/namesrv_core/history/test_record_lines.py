"""A record is one line, whatever is in it."""

import json

import pytest

from namesrv_core.events import (
    BrokersPolled,
    KvPut,
    QueueData,
    TopicChange,
    TopicsChanged,
    group_topic_changes,
)
from namesrv_core.history.record_lines import encode_record_line, parse_record_line
from namesrv_core.history.records import (
    InvalidRecordError,
    OtherSchemaVersionError,
    RecordOrigin,
    event_of_record,
)

ORIGIN = RecordOrigin(1_700_000_000_123, "PUT_KV_CONFIG", "10.0.0.1:5")
QUEUE = QueueData("a", 8, 8, 6)


def test_a_line_says_what_when_where_why_and_who() -> None:
    assert encode_record_line(7, "s", ORIGIN, KvPut("n", "k", None, "v")) == (
        b'{"v":1,"seq":7,"time":1700000000123,"server":"s","type":"KvPut","cause":"PUT_KV_CONFIG",'
        b'"client":"10.0.0.1:5","namespace":"n","key":"k","value":"v"}\n'
    )


def test_what_happened_without_a_client_names_none() -> None:
    assert b"client" not in encode_record_line(
        7, "s", RecordOrigin(1, "no heartbeat"), KvPut("n", "k", None, "v")
    )


def test_who_saw_it_is_said_where_that_is_not_the_name_server_itself() -> None:
    origin = RecordOrigin(1, "collector", None, "collector")
    text = encode_record_line(1, "s", origin, KvPut("n", "k", None, "v"))
    assert json.loads(text)["source"] == "collector"
    assert parse_record_line(text).origin == origin


def test_ten_thousand_topics_of_a_broker_take_little_more_than_their_names() -> None:
    changes = group_topic_changes(TopicChange(f"topic-{number}", None, QUEUE) for number in range(10_000))
    assert len(encode_record_line(1, "s", ORIGIN, TopicsChanged("a", "registration", changes))) < 10_000 * 15


def test_a_text_that_utf_8_cannot_say_is_written_all_the_same() -> None:
    event = KvPut("n\ud800", "k", None, "é\n\x00")
    assert event_of_record(parse_record_line(encode_record_line(7, "s", ORIGIN, event))) == event
    assert "é".encode() in encode_record_line(1, "s", ORIGIN, KvPut("n", "k", None, "é"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "invalid JSON"),
        (b'{"v":1,"seq":1', "invalid JSON"),
        (b"\xff\xfe\x00", "invalid JSON"),
        (b"\x00" * 50, "invalid JSON"),
        (b"[]", "seq is missing"),
        (b'{"v":1}', "seq is missing"),
        (b'{"v":1,"seq":1,"time":5}', "cause is missing"),
    ],
)
def test_what_is_no_record_is_refused_in_words(text: bytes, said: str) -> None:
    with pytest.raises(InvalidRecordError, match=said):
        parse_record_line(text)


def test_a_record_of_another_schema_version_is_not_taken_for_garbage() -> None:
    with pytest.raises(OtherSchemaVersionError, match="schema version 2, but this nsadmin reads version 1"):
        parse_record_line(
            encode_record_line(1, "s", ORIGIN, KvPut("n", "k", None, "v")).replace(b'"v":1', b'"v":2')
        )


@pytest.mark.parametrize("number", [0, -1, 2**63 - 1, -(2**63), 2**64, 2**80])
def test_numbers_of_any_size_read_back(number: int) -> None:
    event = BrokersPolled(number, 0, 0, 0)
    assert event_of_record(parse_record_line(encode_record_line(1, "s", ORIGIN, event))) == event
