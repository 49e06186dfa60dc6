"""MessageFilter: the conditions for messages that the client checks, because brokers cannot. Pure."""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from namesrv_core.protocol.stored_messages import StoredMessage
from nsadmin.client.messages.message_queries import END_OF_TIME_MS


class MessageFilter(NamedTuple):
    """The messages to keep. A message must meet every condition.

    Attributes:
        tags: Only messages with one of these tags; empty for all.
        keys: Only messages with one of these keys; empty for all.
        properties: Only messages with all these properties.
        body_pattern: Only messages whose body, read as UTF-8, matches somewhere; None for all.
        body_fields: Only messages whose body is a JSON object with these values, by path: {"order.id": "7"}.
        begin_ms: The earliest store time in ms since 1970.
        end_ms: The latest store time in ms since 1970.
    """

    tags: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    properties: Mapping[str, str] = {}
    body_pattern: re.Pattern[str] | None = None
    body_fields: Mapping[str, str] = {}
    begin_ms: int = 0
    end_ms: int = END_OF_TIME_MS

    @property
    def examines_body(self) -> bool:
        """Whether a condition concerns the body."""
        return self.body_pattern is not None or bool(self.body_fields)

    def is_match(self, message: StoredMessage, decoded_body: Any = None) -> bool:
        """Return whether a message meets every condition."""
        if not self.begin_ms <= message.store_timestamp <= self.end_ms:
            return False
        if self.tags and message.tags not in self.tags:
            return False
        if self.keys and self.keys.isdisjoint(message.keys):
            return False
        if any(message.properties.get(name) != value for name, value in self.properties.items()):
            return False
        if self.body_pattern and not self.body_pattern.search(_find_body_text(message, decoded_body)):
            return False
        return not self.body_fields or self._has_fields(
            message.body if decoded_body is None else decoded_body
        )

    def _has_fields(self, body: Any) -> bool:
        try:
            json_body = json.loads(body) if isinstance(body, (bytes, str)) else body
        except (ValueError, RecursionError):
            return False
        return all(_find_text(json_body, path) == value for path, value in self.body_fields.items())


EVERY_MESSAGE = MessageFilter()


def _find_body_text(message: StoredMessage, decoded_body: Any) -> str:
    if decoded_body is None:
        return message.body.decode("utf-8", "replace")
    return decoded_body if isinstance(decoded_body, str) else json.dumps(decoded_body, ensure_ascii=False)


def _find_text(json_value: Any, path: str) -> str | None:
    """Return the value at a path such as `order.lines.0.id` as text; None if there is no such value."""
    for name in path.split("."):
        if isinstance(json_value, dict):
            json_value = json_value.get(name)
        elif isinstance(json_value, list) and name.isdecimal() and int(name) < len(json_value):
            json_value = json_value[int(name)]
        else:
            return None
    if json_value is None or isinstance(json_value, str):
        return json_value
    return json.dumps(json_value, ensure_ascii=False)
