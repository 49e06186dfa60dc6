"""The rule that decides by name whether a setting may hold a secret; files, screens and the audit use it."""

import re

_SECRET_PATTERN = re.compile(r"secret|passw|token|credential|accesskey", re.I)


def is_secret_name(setting_name: str) -> bool:
    """Return whether a setting with this name may hold a secret. Upper and lower case are equal.

    Args:
        setting_name: The name of a setting or KV key.
    """
    return _SECRET_PATTERN.search(setting_name) is not None
