"""MessageRules: the messages that a transfer copies, as typed and as its record keeps them. Pure."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from nsadmin.client.messages.message_filter import MessageFilter

SavedRules = Mapping[str, tuple[str, ...]]
"""Flag to values; flags without a value are omitted."""


class MessageRules(NamedTuple):
    """The messages to copy. A message must meet every condition.

    Attributes:
        tags: Only messages with one of these tags; brokers filter.
        sql_text: Only messages that this SQL92 expression matches; brokers filter.
        keys: Only messages with one of these keys.
        properties: Only messages with all these properties.
        body_text: Only messages whose body matches this regular expression.
    """

    tags: tuple[str, ...] = ()
    sql_text: str | None = None
    keys: tuple[str, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    body_text: str | None = None

    @property
    def expression(self) -> str:
        """The expression for brokers."""
        return self.sql_text or " || ".join(self.tags) or "*"

    @property
    def expression_type(self) -> str:
        return "SQL92" if self.sql_text else "TAG"

    @property
    def message_filter(self) -> MessageFilter:
        """The conditions that the client checks. Tags are among them: brokers compare hashes of tags."""
        return MessageFilter(
            frozenset(self.tags),
            frozenset(self.keys),
            dict(self.properties),
            None if self.body_text is None else re.compile(self.body_text),
        )

    def save(self) -> SavedRules:
        """Return the rules for a record."""
        saved_rules = {
            "--tag": tuple(sorted(self.tags)),
            "--sql": (self.sql_text,) if self.sql_text else (),
            "--key": tuple(sorted(self.keys)),
            "--property": tuple(f"{name}={value}" for name, value in sorted(self.properties)),
            "--body": (self.body_text,) if self.body_text else (),
        }
        return {flag: values for flag, values in saved_rules.items() if values}


EVERY_MESSAGE = MessageRules()


def load_rules(saved_rules: SavedRules) -> MessageRules:
    """Return the rules of a record."""
    property_pairs = [text.partition("=") for text in saved_rules.get("--property", ())]
    return MessageRules(
        saved_rules.get("--tag", ()),
        next(iter(saved_rules.get("--sql", ())), None),
        saved_rules.get("--key", ()),
        tuple((name, value) for name, _, value in property_pairs),
        next(iter(saved_rules.get("--body", ())), None),
    )


def describe_rules(saved_rules: SavedRules) -> str:
    """Return the rules as options, such as "--tag A --key k"; "none" without any."""
    return " ".join(f"{flag} {value}" for flag, values in saved_rules.items() for value in values) or "none"
