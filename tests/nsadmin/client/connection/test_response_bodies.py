"""Bodies of answers, in the odd forms that servers send."""

import json

import pytest

from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.connection.json_object import JsonObject
from nsadmin.client.connection.response_bodies import (
    decode_answer,
    parse_broker_addrs,
    parse_json_object,
    parse_text_table,
    parse_topic_names,
)
from nsadmin.client.results import ServerResult


def test_integer_keys_without_quotes_are_read() -> None:
    assert parse_json_object(RemotingCommand(0, body=b'{"a":{0:"x"}}')).members == {"a": {"0": "x"}}


@pytest.mark.parametrize("empty", [b"", b"null"])
def test_no_body_has_no_members(empty: bytes) -> None:
    assert parse_json_object(RemotingCommand(0, body=empty)).members == {}


@pytest.mark.parametrize("odd", [b"[]", b"3", b"{", b"\xff"])
def test_what_is_no_object_is_an_error(odd: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        parse_json_object(RemotingCommand(0, body=odd))


def test_broker_ids_are_numbers_in_order_and_an_empty_address_is_seen() -> None:
    addrs = JsonObject({"10": "c", "2": "b", "0": None, "1": ""})
    assert list(parse_broker_addrs(addrs).items()) == [(1, ":"), (2, "b"), (10, "c")]
    assert parse_broker_addrs(JsonObject(None)) == {}


def test_topics_come_in_order_and_once() -> None:
    assert parse_topic_names(RemotingCommand(0, body=b'{"topicList":["b","a","b"]}')) == ("a", "b")


def test_a_table_leaves_null_out_and_makes_texts_of_numbers() -> None:
    assert parse_text_table(RemotingCommand(0, body=b'{"table":{"b":1,"a":"x","c":null}}')) == {
        "a": "x",
        "b": "1",
    }


@pytest.mark.parametrize("text", ['{"a": [1e400]}', '{"a": []}', '{"a": 5}', "[]", "[" * 100_000])
def test_values_of_other_types_make_an_answer_unreadable(text: str) -> None:
    answer = ServerResult("a:1", RemotingCommand(0, {"ages": text}, b""), None)
    decoded = decode_answer(answer, lambda r: int(json.loads(str((r.ext or {})["ages"]))["a"][0]))
    assert isinstance(decoded.error, CallError)
    assert (decoded.error.kind, decoded.result) == ("unreadable", None)
