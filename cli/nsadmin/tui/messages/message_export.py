"""The export of messages as lines of JSON. Pure."""

import json
from collections.abc import Sequence

from nsadmin.client.messages.message_queries import LocatedMessage
from nsadmin.tui.messages.message_query import BrowsedMessage
from nsadmin.tui.messages.message_tools import MessageTools


def messages_to_jsonl(messages: Sequence[BrowsedMessage], tools: MessageTools) -> str:
    """A line of JSON for each message. `bodyError` states whether the screen cut the body."""
    return "".join(_format_message(message, tools) + "\n" for message in messages)


def _format_message(browsed_message: BrowsedMessage, tools: MessageTools) -> str:
    name, message, body_size, _ = browsed_message
    row = dict(tools.make_row(LocatedMessage(name, message)))
    if body_size > len(message.body):
        row["bodyError"] = f"cut: the first {len(message.body)} of {body_size} bytes"
    return json.dumps(row, ensure_ascii=False)
