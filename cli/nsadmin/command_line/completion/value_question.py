"""What TAB asks for: the values of a source, from the servers that the line chooses."""

import os
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

from nsadmin.console import contexts

_ENVIRONMENT_PREFIXES = ("NAMESRV_", "NSADMIN_", "ROCKETMQ_")
_SECRET_MARKS = ("KEY", "SECRET", "TOKEN", "PASSWORD")


class ValueQuestion(NamedTuple):
    """A request for the values of a source.

    `detail` is the value on the line that the source depends on: the namespace of keys, or the broker whose
    settings are completed. `option_values` are the connection options of the line, by parameter.
    """

    value_source: str
    detail: str
    option_values: Mapping[str, Any]

    def cache_name(self, environ: Mapping[str, str] = os.environ) -> str:
        """Return the name in the cache. It depends on everything that chooses the servers."""
        contexts_file = os.path.abspath(contexts.contexts_path(environ))
        environment_items = sorted((name, value) for name, value in environ.items() if _is_relevant(name))
        given_values = sorted((name, value) for name, value in self.option_values.items() if value)
        parts = (given_values, environment_items, contexts_file, _file_state(contexts_file), self.detail)
        digest = blake2b(repr(parts).encode(errors="replace"), digest_size=10).hexdigest()
        return f"{digest}.{self.value_source}"


def _is_relevant(variable_name: str) -> bool:
    return variable_name.startswith(_ENVIRONMENT_PREFIXES) and not any(
        mark in variable_name for mark in _SECRET_MARKS
    )


def _file_state(contexts_file: str) -> tuple[int, int] | None:
    try:
        file_status = os.stat(contexts_file)
    except OSError:
        return None
    return file_status.st_mtime_ns, file_status.st_size
