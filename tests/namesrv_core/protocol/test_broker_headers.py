"""Ext fields of what brokers are asked, as records."""

import typing
from typing import Any

import pytest

from namesrv_core.protocol import broker_headers
from namesrv_core.protocol.broker_headers import CreateTopic, LogicalTopic, PullMessage, QueryMessage
from namesrv_core.protocol.headers import read_header, write_header

KINDS: list[Any] = [kind for kind in vars(broker_headers).values() if hasattr(kind, "_fields")]
OTHERS = {bool: True, int: 7}
"""A value that is no field's default, by the field's type; a text otherwise."""


def test_a_topic_is_made_with_the_fields_that_java_sends() -> None:
    assert write_header(CreateTopic("T", "TBW102", 4, 4, 6, "SINGLE_TAG", 0, True, "+a=b")) == {
        "topic": "T",
        "defaultTopic": "TBW102",
        "readQueueNums": "4",
        "writeQueueNums": "4",
        "perm": "6",
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": "0",
        "order": "true",
        "attributes": "+a=b",
    }


def test_names_that_are_spelled_as_no_other() -> None:
    assert write_header(LogicalTopic("T")) == {"topic": "T", "lo": "true"}
    assert write_header(QueryMessage("T", "k", unique_key_query=True))["_UNIQUE_KEY_QUERY"] == "true"


def test_a_tool_pulls_without_leaving_a_trace() -> None:
    sent = write_header(PullMessage(topic="T"))
    assert (sent["sysFlag"], sent["suspendTimeoutMillis"], sent["commitOffset"]) == ("4", "0", "0")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_record_reads_back_as_it_was_written(kind: Any) -> None:
    hints = [set(typing.get_args(hint)) or {hint} for hint in typing.get_type_hints(kind).values()]
    header = kind(*(OTHERS.get((hint - {type(None)}).pop(), "a text") for hint in hints))
    assert header != kind()
    assert read_header(kind, write_header(header)) == header


def test_an_unreadable_int_is_its_default() -> None:
    assert read_header(CreateTopic, {"perm": "x"}).perm == 6
