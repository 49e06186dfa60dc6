"""Messages as rows: bodies above all."""

import zlib

import pytest

from namesrv_core.protocol.stored_messages import decode_messages
from nsadmin.client import NotFound, RocketMQError, ServerResult
from nsadmin.client.messages.message_queries import FoundMessages, LocatedMessage
from nsadmin.commands.messages.message_rows import MESSAGE_COLUMNS, body_notes, show_findings, show_message
from nsadmin.console.output import read_row
from tests.support.messages import encode_message

DOWN = RocketMQError("down")


def located(body: bytes, sys_flag: int = 0, **table: str) -> LocatedMessage:
    [message] = decode_messages(encode_message(body, table=table, sys_flag=sys_flag)).messages
    return LocatedMessage("broker-a", message)


def body(item: LocatedMessage, encoding: str = "utf-8") -> tuple[object, object, object]:
    return show_message(item, encoding)[2:5]


def test_a_row_has_every_column() -> None:
    row = read_row(MESSAGE_COLUMNS, show_message(located(b"hello", KEYS="a b", TAGS="A")))
    assert tuple(row)[:2] == ("msgId", "offsetMsgId")
    assert len(row) == 23
    assert (row["keys"], row["tags"], row["storeTime"]) == (("a", "b"), "A", "2023-11-14T22:13:20.000Z")


@pytest.mark.parametrize("with_body", [True, False])
def test_a_row_keeps_no_body_beside_the_one_that_it_shows(with_body: bool) -> None:
    assert show_message(located(b"hello"), with_body=with_body).message.body == b""


def test_a_body_is_text_where_it_is_text() -> None:
    assert body(located("中文".encode())) == ("中文", "utf-8", None)
    assert body(located("中文".encode("gbk")), "gbk") == ("中文", "gbk", None)
    assert body(located(b"")) == ("", "utf-8", None)


def test_else_it_is_base64_and_says_so() -> None:
    assert body(located(b"\xff\xfe\0\1")) == ("//4AAQ==", "base64", None)
    assert body(located(b"plain", 0x301)) == (
        "cGxhaW4=",
        "base64",
        "corrupt zlib data (Error -3 while decompressing data: incorrect header check)",
    )
    assert body(located(zlib.compress(b"x"), 1)) == ("x", "utf-8", None)


def test_bodies_can_be_left_out() -> None:
    assert show_message(located(b"plain", 0x301), with_body=False)[2:5] == (None, None, None)


def test_nothing_found_is_an_error_only_where_all_answered() -> None:
    answered = ServerResult("h:1", 0, None)
    with pytest.raises(NotFound, match="no such thing"):
        show_findings(FoundMessages((), (answered,)), "no such thing")
    rows = show_findings(FoundMessages((), (answered, ServerResult("h:2", None, DOWN))), "no such thing")
    assert (rows.errors, rows.notes) == (
        [None, DOWN],
        ["broker h:2: down", "no such thing"],
    )
    rows = show_findings(FoundMessages((), (ServerResult("h:2", None, DOWN),)), "no such thing")
    assert (rows.errors, rows.notes) == ([DOWN], ["broker h:2: down"])


def test_reasons_why_bodies_are_not_inflated_are_told_once() -> None:
    items = [located(b"a", 0x501), located(b"b", 0x501), located(b"c")]
    name = items[0].message.msg_id
    assert body_notes(map(show_message, items)) == [
        f"body of {name} and 1 more: unknown compression type (5)"
    ]
