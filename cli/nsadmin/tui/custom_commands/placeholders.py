"""The placeholders of plugins: values of the row and of the context, without a shell. Pure."""

import re
from collections.abc import Mapping, Sequence

from nsadmin.tui.actions.row_actions import RowSubject

_SUBJECT_FIELDS = {
    "topic": "topic", "group": "group", "broker": "broker_name", "addr": "broker_addr", "cluster": "cluster",
    "namespace": "namespace", "key": "key", "value": "value",
}  # fmt: skip
"""The fields of the row by the names of their placeholders."""
PLACEHOLDER_NAMES = (*_SUBJECT_FIELDS, "context", "namesrv")
_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([A-Za-z]+)\}")
_ESCAPES = {"{{": "{", "}}": "}"}


class MissingValueError(Exception):
    """A placeholder cannot be replaced. The text says why."""


def list_placeholders(words: Sequence[str]) -> list[str]:
    """The names in curly brackets. Doubled brackets stand for themselves."""
    return [match[1] for word in words for match in _PLACEHOLDER.finditer(word) if match[1]]


def collect_values(subject: RowSubject, context_label: str, addrs: Sequence[str]) -> dict[str, str]:
    values = {name: getattr(subject, field) for name, field in _SUBJECT_FIELDS.items()}
    known_values = {name: value for name, value in values.items() if value is not None}
    return {**known_values, "context": context_label, "namesrv": ";".join(addrs)}


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
