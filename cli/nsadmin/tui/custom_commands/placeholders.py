"""The placeholders of plugins: values of the row and of the context, without a shell. Pure."""

import re
from collections.abc import Mapping, Sequence

from nsadmin.tui.actions.row_actions import RowSubject

PLACEHOLDER_MEANINGS: Mapping[str, str] = {
    "topic": "the topic of the row",
    "group": "the consumer group of the row",
    "broker": "the name of the broker of the row",
    "addr": "the address of the broker of the row",
    "cluster": "the cluster of the row, or the only cluster",
    "namespace": "the KV namespace of the row",
    "key": "the KV key or the setting of the row",
    "value": "the value of the row",
    "context": "the name of the context",
    "namesrv": "the addresses of the name servers, separated by semicolons",
}
_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([A-Za-z]+)\}")
_ESCAPES = {"{{": "{", "}}": "}"}


class MissingValueError(Exception):
    """A placeholder cannot be replaced. The text says why."""


def list_placeholders(words: Sequence[str]) -> list[str]:
    """The names in curly brackets. Doubled brackets stand for themselves."""
    return [match[1] for word in words for match in _PLACEHOLDER.finditer(word) if match[1]]


def collect_values(subject: RowSubject, context_label: str, addrs: Sequence[str]) -> dict[str, str]:
    values: dict[str, str | None] = {
        "topic": subject.topic,
        "group": subject.group,
        "broker": subject.broker_name,
        "addr": subject.broker_addr,
        "cluster": subject.cluster,
        "namespace": subject.namespace,
        "key": subject.key,
        "value": subject.value,
        "context": context_label,
        "namesrv": ";".join(addrs),
    }
    return {name: value for name, value in values.items() if value is not None}


def fill_words(words: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """Replace the placeholders. Each word stays one argument.

    Raises MissingValueError, also for a value that the program would take for an option.
    """
    return [_fill_word(word, values) for word in words]


def _fill_word(word: str, values: Mapping[str, str]) -> str:
    def replace_match(match: re.Match[str]) -> str:
        if match[0] in _ESCAPES:
            return _ESCAPES[match[0]]
        if match[1] not in values:
            raise MissingValueError(f"this row has no {match[1]}")
        return values[match[1]]

    filled_word = _PLACEHOLDER.sub(replace_match, word)
    first_match = _PLACEHOLDER.match(word)
    if first_match is not None and first_match[1] and filled_word.startswith("-"):
        raise MissingValueError(f'the {first_match[1]} "{filled_word}" looks like an option')
    if "\0" in filled_word:
        raise MissingValueError("a value contains a NUL character")
    return filled_word
