"""Bodies of answers, in the odd forms that servers send."""

import pytest

from namesrv_core.protocol.command import Command
from nsadmin.client.bodies import broker_addrs, json_object, text_table, texts, topic_names


def test_integer_keys_without_quotes_are_read() -> None:
    assert json_object(Command(0, body=b'{"a":{0:"x"}}')) == {"a": {"0": "x"}}


@pytest.mark.parametrize("empty", [b"", b"null"])
def test_no_body_has_no_members(empty: bytes) -> None:
    assert json_object(Command(0, body=empty)) == {}


@pytest.mark.parametrize("odd", [b"[]", b"3", b"{", b"\xff"])
def test_what_is_no_object_is_an_error(odd: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        json_object(Command(0, body=odd))


def test_broker_ids_are_numbers_in_order_and_those_without_address_are_left_out() -> None:
    assert broker_addrs({"10": "c", "2": "b", "0": None, "1": ""}) == {2: "b", 10: "c"}
    assert broker_addrs(None) == {}


def test_lists_of_texts_may_be_null_or_have_nulls() -> None:
    assert texts(None) == []
    assert texts(["a", None]) == ["a"]


def test_topics_come_in_order_and_once() -> None:
    assert topic_names(Command(0, body=b'{"topicList":["b","a","b"]}')) == ("a", "b")


def test_a_table_leaves_null_out_and_makes_texts_of_numbers() -> None:
    assert text_table(Command(0, body=b'{"table":{"b":1,"a":"x","c":null}}')) == {"a": "x", "b": "1"}
