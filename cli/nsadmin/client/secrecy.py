"""The rule that decides by name whether a setting may hold a secret; files, screens and the audit use it."""

import re

_SECRET = re.compile(r"secret|passw|token|credential|accesskey", re.I)


def is_secret(key: str) -> bool:
    """Return whether a setting with this name may hold a secret. Upper and lower case are equal."""
    return _SECRET.search(key) is not None
