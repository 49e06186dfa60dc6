"""What the screen needs of the message commands: their options, their decoders and their rows. Pure."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from nsadmin.client.messages.message_queries import LocatedMessage
from nsadmin.tui.messages.message_query import BrowsedMessage, MessageQuery, query_topic


class InvalidMessageQueryError(ValueError):
    """The words of a query are wrong. The text is one line with the reason."""


class MessageTools(NamedTuple):
    """The functions of the message commands, which the screen cannot import.

    `parse_query` parses a topic and the options of `nsadmin consume`; it raises InvalidMessageQueryError.
    `decode_body` returns a body as text or as a JSON value, and the reason if a decoder failed; it raises
    InvalidMessageQueryError for an unknown decoder. `make_row` returns a message as `nsadmin consume --output
    jsonl` prints it. `decoder_help` names the decoders.
    """

    parse_query: Callable[[Sequence[str]], MessageQuery] = lambda words: query_topic(words[0])
    decode_body: Callable[[bytes, Sequence[str]], tuple[Any, str | None]] = lambda body, decoder_names: (
        body.decode("utf-8", "replace"), None
    )  # fmt: skip
    make_row: Callable[[LocatedMessage], Mapping[str, Any]] = lambda located: located.message._asdict()
    decoder_help: str = ""


def messages_to_jsonl(messages: Sequence[BrowsedMessage], tools: MessageTools) -> str:
    """A line of JSON for each message. `bodyError` states whether the screen cut the body."""
    return "".join(_format_message(message, tools) + "\n" for message in messages)


def _format_message(browsed_message: BrowsedMessage, tools: MessageTools) -> str:
    name, message, body_size, _ = browsed_message
    row = dict(tools.make_row(LocatedMessage(name, message)))
    if body_size > len(message.body):
        row["bodyError"] = f"cut: the first {len(message.body)} of {body_size} bytes"
    return json.dumps(row, ensure_ascii=False)
