"""One message on lines: place, properties, and the body in the form that the operator chose."""

import json

import pytest

from nsadmin.tui.messages import message_lines
from nsadmin.tui.messages.message_lines import ShownBody, body_as_text, list_message_lines, show_body
from nsadmin.tui.messages.message_query import BrowsedMessage, MessageTools
from tests.support.screens import NOON, join_cells, make_browsed_message

TOOLS = MessageTools(decode_body=lambda body, names: (json.loads(body[1:]), None))


def lines(message: BrowsedMessage, body: ShownBody | None = None, width: int = 60) -> list[str]:
    shown_body = body or show_body(message, TOOLS, (), False)
    return [join_cells(line) for line in list_message_lines(message, shown_body, width)]


def test_a_message_shows_its_place_its_properties_and_its_body(utc: None) -> None:
    row = make_browsed_message(b'{"id":7}', "orders", offset=42, at=NOON, KEYS="k1", TAGS="A", color="red")
    assert lines(row) == [
        "  topic        orders",
        "  place        broker-a, queue 0, offset 42",
        f"  message id   {row.message.offset_msg_id}",
        "  key          k1",
        "  tag          A",
        "  stored       12-31 12:00:00.000 at 127.0.0.1:20911",
        "  born         12-31 11:59:59.995 at 127.0.0.1:1",
        "",
        "properties",
        "  KEYS         k1",
        "  TAGS         A",
        "  color        red",
        "",
        "body  8 B, text",
        "  {",
        '    "id": 7',
        "  }",
    ]


def test_a_dead_letter_shows_its_origin() -> None:
    shown_lines = lines(make_browsed_message(topic="%DLQ%g", RETRY_TOPIC="orders", ORIGIN_MESSAGE_ID="7F"))
    assert "  origin       orders 7F" in shown_lines
    assert "  tries        0 deliveries" in shown_lines
    assert "  replays      0" in shown_lines


def test_hexadecimal_numbers_replace_what_is_not_text() -> None:
    message = make_browsed_message(b"\xff\x00")
    found = lines(message)[-2:]
    assert found == ["body  2 B, not text, so hexadecimal", "  00000000  ff 00" + " " * 45 + ".."]
    assert show_body(make_browsed_message(b"text"), TOOLS, (), True).hex_bytes == b"text"
    assert body_as_text(show_body(make_browsed_message(b"\xff"), TOOLS, (), False)).startswith("00000000  ff")


def test_decoders_are_applied_and_their_failure_is_a_line() -> None:
    message = make_browsed_message(b"\0[1]")
    assert show_body(message, TOOLS, ("avro",), False) == ShownBody("[\n  1\n]", "avro")
    failed = ShownBody("AP8=", "avro", "not avro: no magic")
    assert "  not avro: no magic" in lines(message, failed)


def test_a_cut_body_says_so() -> None:
    message = make_browsed_message(b"x" * 10)._replace(body_size=2048)
    assert "body  the first 10 B of 2.0 KiB, text" in lines(message)


def test_control_characters_of_properties_are_harmless_and_long_values_are_wrapped() -> None:
    shown_lines = lines(make_browsed_message(evil="\x1b[2J" + "x" * 60), width=40)
    assert all(line.isprintable() for line in shown_lines)
    assert "  evil         \\x1b[2Jxxxxxxxxxxxxxxxxxx" in shown_lines
    assert max(map(len, shown_lines)) <= 40


@pytest.mark.parametrize(
    ("body", "preview"),
    [
        (b"", ""),
        (b'{\n  "id": 7\n}', '{ "id": 7 }'),
        (b"a\x1b[2Jb", "a\\x1b[2Jb"),
        ("ü\u202eabc".encode(), "ü\\u202eabc"),
        (b"\xff\xfe\x00", "0x ff fe 00"),
        (b"a\0b", "0x 61 00 62"),
        ("ä".encode() * 300, "ä" * 200),
        (b"x" + "ä".encode() * 300, "x" + "ä" * 199),
    ],
)
def test_a_preview_is_one_harmless_line(body: bytes, preview: str) -> None:
    assert message_lines.preview_body(body) == preview


def test_json_is_put_on_several_lines() -> None:
    assert message_lines.decode_automatically(b'{"id":[1,{"a":"\xc3\xa4"}]}') == (
        '{\n  "id": [\n    1,\n    {\n      "a": "ä"\n    }\n  ]\n}'
    )


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"{no json", "{no json"),
        (b"[" * 100_000, "[" * 100_000),
        (b"plain", "plain"),
        (b"\xff", None),
        (b"a\0b", None),
    ],
)
def test_what_is_no_json_is_shown_as_it_is(body: bytes, text: str | None) -> None:
    assert message_lines.decode_automatically(body) == text


def test_hexadecimal_lines_have_offsets_and_characters() -> None:
    assert list(message_lines.list_hex_lines(b"0123456789abcdef\x00\x1bZ")) == [
        "00000000  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  0123456789abcdef",
        "00000010  00 1b 5a                                          ..Z",
    ]


def test_lines_are_wrapped_by_their_width_on_the_terminal() -> None:
    assert list(message_lines.wrap_text("abcdef\n\tx", 4)) == ["abcd", "ef", "    ", "x"]
    assert list(message_lines.wrap_text("日本語x", 4)) == ["日本", "語x"]
    assert list(message_lines.wrap_text("e\u0301" * 3, 2)) == ["e\u0301" * 2, "e\u0301"]
    assert list(message_lines.wrap_text("", 10)) == [""]


def test_control_characters_are_escaped_before_wrapping() -> None:
    assert list(message_lines.wrap_text("\x1b\x07", 4)) == ["\\x1b", "\\x07"]


def test_a_very_long_text_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_lines, "MAX_SHOWN_CHARACTERS", 10)
    assert list(message_lines.wrap_text("x" * 25, 5)) == ["xxxxx", "xxxxx", "… 15 characters more"]
