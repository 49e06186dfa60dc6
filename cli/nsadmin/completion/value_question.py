"""Derives the servers to ask, the values to ask for and their cache name from the words before the cursor."""

import os
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

from nsadmin import contexts

CONNECTION_OPTIONS = {
    "-n": "namesrv_addr",
    "--namesrvAddr": "namesrv_addr",
    "--context": "context",
    "--bundle": "bundle",
    "--configFile": "config_file",
    "--endpoint": "endpoint",
    "--addressMap": "address_map",
    "--proxies": "proxies",
    "--kube": "kube",
    "--ssh": "ssh",
    "--credentials": "credentials",
    "--tlsCa": "tls_ca",
    "--tlsCert": "tls_cert",
    "--tlsKey": "tls_key",
    "--tlsServerName": "tls_server_name",
}
"""Shared options that choose the servers, and the names of their values in `nsadmin.settings`."""

CONNECTION_FLAGS = {"--tls": ("tls", True), "--no-tls": ("tls", False), "--insecure": ("insecure", True)}
"""Flags without a value: the name and the value that each sets."""

_REPEATABLE_NAMES = ("namesrv_addr", "address_map", "proxies")

_ENVIRONMENT_PREFIXES = ("NAMESRV_", "NSADMIN_", "ROCKETMQ_")
_SECRET_MARKS = ("KEY", "SECRET", "TOKEN", "PASSWORD")


def parse_connection_values(words_before: Sequence[str]) -> dict[str, list[str] | str | bool | None]:
    """Return the values of CONNECTION_OPTIONS and CONNECTION_FLAGS, for `settings.resolve_options`."""
    connection_values: dict[str, list[str] | str | bool | None] = {"namesrv_addr": [], "context": None}
    for word_index, word in enumerate(words_before):
        flag_name, is_joined, joined_value = word.partition("=")
        if flag_name in CONNECTION_OPTIONS:
            flag_values = [joined_value] if is_joined else list(words_before[word_index + 1 : word_index + 2])
            _add_values(connection_values, CONNECTION_OPTIONS[flag_name], flag_values)
        elif word in CONNECTION_FLAGS:
            value_name, flag_value = CONNECTION_FLAGS[word]
            connection_values[value_name] = flag_value
        elif word.startswith("-n") and len(word) > 2:
            _add_values(connection_values, "namesrv_addr", [word[2:]])
    return connection_values


def _add_values(
    connection_values: dict[str, list[str] | str | bool | None], value_name: str, flag_values: list[str]
) -> None:
    """Add the values of an option: repeatable options collect them, others keep the last one."""
    if value_name in _REPEATABLE_NAMES:
        values_before = connection_values.get(value_name)
        connection_values[value_name] = [
            *(values_before if isinstance(values_before, list) else ()),
            *flag_values,
        ]
    elif flag_values:
        connection_values[value_name] = flag_values[0]


class ValueQuestion(NamedTuple):
    """A request for the values of a source.

    `detail` is the value on the line that the source depends on: the namespace of keys, or the broker whose
    settings are completed.
    """

    value_source: str
    detail: str
    words_before: Sequence[str]

    def cache_name(self, environ: Mapping[str, str] = os.environ) -> str:
        """Return the name in the cache. It depends on everything that chooses the servers."""
        contexts_file = os.path.abspath(contexts.contexts_path(environ))
        environment_items = sorted(
            (variable_name, variable_value)
            for variable_name, variable_value in environ.items()
            if _is_relevant(variable_name)
        )
        question_parts = (
            parse_connection_values(self.words_before),
            environment_items,
            contexts_file,
            _file_state(contexts_file),
            self.detail,
        )
        question_digest = blake2b(repr(question_parts).encode(errors="replace"), digest_size=10).hexdigest()
        return f"{question_digest}.{self.value_source}"


def _is_relevant(variable_name: str) -> bool:
    return variable_name.startswith(_ENVIRONMENT_PREFIXES) and not any(
        secret_mark in variable_name for secret_mark in _SECRET_MARKS
    )


def _file_state(contexts_file: str) -> tuple[int, int] | None:
    try:
        file_status = os.stat(contexts_file)
    except OSError:
        return None
    return file_status.st_mtime_ns, file_status.st_size
