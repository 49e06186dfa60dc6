"""The rules that recognize secrets by their names; files, screens and the audit use them."""

import re

HIDDEN_TEXT = "***"
_SECRET_WORDS = r"secret|passw|passphrase|pwd|token|credential|access[-_.]?key|api[-_.]?key|private[-_.]?key"
_SECRET_PATTERN = re.compile(_SECRET_WORDS, re.I)
# A name, possibly in quotes, with the separator of an argument, a properties file or JSON, but no HOST:PORT.
_ASSIGNMENT_PATTERN = re.compile(
    rf"(?:{_SECRET_WORDS})[\w.-]{{0,64}}[\"']?[ \t]{{0,8}}(?:=|:(?!\d{{1,5}}\b))[ \t]{{0,8}}(?=\S)", re.I
)


def is_secret_name(setting_name: str) -> bool:
    """Return whether a setting with this name may hold a secret. Upper and lower case are equal.

    Args:
        setting_name: The name of a setting or KV key.
    """
    return _SECRET_PATTERN.search(setting_name) is not None


def hide_assigned_secrets(text: str) -> str:
    """Hide everything after the first `name=value` or `name: value` with a name that may hold a secret.

    A secret may contain any character, so its end is unknown.

    Args:
        text: An argument, or lines of a properties file.
    """
    assignment = _ASSIGNMENT_PATTERN.search(text)
    return text if assignment is None else text[: assignment.end()] + HIDDEN_TEXT
