"""Which settings may hold a secret, by their names: one rule for files, screens and the audit."""

import re

_SECRET = re.compile(r"secret|passw|token|credential|accesskey", re.I)


def is_secret(key: str) -> bool:
    """Whether what has this name may be a secret."""
    return _SECRET.search(key) is not None
