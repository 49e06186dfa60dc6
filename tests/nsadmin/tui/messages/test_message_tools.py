"""The functions of the message commands: without them, the screen still shows messages."""

import json

from nsadmin.client.messages.message_queries import LocatedMessage
from nsadmin.commands.programs.message_tools import create_message_tools
from nsadmin.tui.messages.message_query import MessageTools, messages_to_jsonl, query_topic
from tests.support.screens import make_browsed_message


def test_without_the_commands_a_topic_is_followed_and_bodies_are_text() -> None:
    tools = MessageTools()
    assert tools.parse_query(["orders"]) == query_topic("orders")
    assert tools.decode_body(b"a\xff", ["json"]) == ("a\ufffd", None)
    found = tools.make_row(LocatedMessage("broker-a", make_browsed_message(offset=7).message))["queue_offset"]
    assert found == 7


def test_a_message_is_a_line_with_all_columns() -> None:
    text = messages_to_jsonl(
        [make_browsed_message(b"one\n", offset=7, KEYS="k"), make_browsed_message(b"\xff")],
        create_message_tools(),
    )
    first, second = (json.loads(line) for line in text.splitlines())
    assert (first["body"], first["bodyEncoding"], first["keys"], first["queueOffset"]) == (
        "one\n", "utf-8", ["k"], 7,
    )  # fmt: skip
    assert (first["brokerName"], first["bodyError"]) == ("broker-a", None)
    assert (second["body"], second["bodyEncoding"]) == ("/w==", "base64")


def test_a_cut_body_says_so() -> None:
    text = messages_to_jsonl([make_browsed_message(b"xx")._replace(body_size=300)], create_message_tools())
    assert json.loads(text)["bodyError"] == "cut: the first 2 of 300 bytes"
