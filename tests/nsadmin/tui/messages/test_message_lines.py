"""One message on lines: place, properties, and the body in the form that the operator chose."""

import json

from nsadmin.tui.messages.message_lines import ShownBody, body_as_text, list_message_lines, show_body
from nsadmin.tui.messages.message_query import BrowsedMessage
from nsadmin.tui.messages.message_tools import MessageTools
from tests.support.screens import NOON, make_browsed_message

TOOLS = MessageTools(decode_body=lambda body, names: (json.loads(body[1:]), None))


def lines(message: BrowsedMessage, body: ShownBody | None = None, width: int = 60) -> list[str]:
    shown_body = body or show_body(message, TOOLS, (), False)
    return ["".join(cell.text for cell in line) for line in list_message_lines(message, shown_body, width)]


def test_a_message_shows_its_place_its_properties_and_its_body(utc: None) -> None:
    message = make_browsed_message(
        b'{"id":7}', "orders", offset=42, at=NOON, KEYS="k1", TAGS="A", color="red"
    )
    assert lines(message) == [
        "  topic        orders",
        "  place        broker-a, queue 0, offset 42",
        f"  message id   {message.message.offset_msg_id}",
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
    assert lines(message)[-2:] == [
        "body  2 B, not text, so hexadecimal",
        "  00000000  ff 00" + " " * 45 + "..",
    ]
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
