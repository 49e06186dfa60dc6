"""Messages as lines of JSON, as `nsadmin consume --output jsonl` prints them."""

import json

from nsadmin.commands.programs.message_tools import create_message_tools
from nsadmin.tui.messages.message_export import messages_to_jsonl
from tests.support.screens import make_browsed_message


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
