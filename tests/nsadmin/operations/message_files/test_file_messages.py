"""Rows of files as messages."""

from datetime import datetime
from typing import Any

import pytest

from nsadmin.operations.message_files.file_messages import parse_file_message


def test_a_row_that_was_written_by_hand_needs_a_topic_and_a_body() -> None:
    item = parse_file_message(3, {"topic": "T", "body": {"a": "ä"}, "keys": ["a", "b"], "tags": "X"})
    assert (item.row_number, item.broker_name, item.queue_id) == (3, None, None)
    assert (item.message.topic, item.message.body) == ("T", '{"a": "ä"}'.encode())
    assert item.message.properties == {"KEYS": "a b", "TAGS": "X"}
    assert (item.message.store_timestamp, item.message.born_timestamp) == (0, 0)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2023-11-14T22:13:20.123Z", 1_700_000_000_123),
        ("2023-11-14T23:13:20.123+01:00", 1_700_000_000_123),
        (datetime(2023, 11, 14, 22, 13, 20, 123_000), 1_700_000_000_123),
        ("9223372036854775807", 9_223_372_036_854_775_807),
        (None, 0),
    ],
)
def test_times_are_read_in_every_form(value: object, expected: int) -> None:
    assert parse_file_message(0, {"topic": "T", "body": "x", "storeTime": value}).message.store_timestamp == (
        expected
    )


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"body": "x"}, "it has no topic"),
        ({"topic": 7, "body": "x"}, "it has no topic"),
        ({"topic": "T"}, "the body is empty"),
        ({"topic": "T", "body": "%", "bodyEncoding": "base64"}, "base64|Non-base64|padding"),
        ({"topic": "T", "body": "x", "properties": [1]}, "properties is not an object"),
        ({"topic": "T", "body": "x", "storeTime": "noon"}, "Invalid isoformat"),
    ],
)
def test_an_invalid_row_says_why(row: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        parse_file_message(0, row)
