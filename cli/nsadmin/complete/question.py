"""Question: what to ask for and where, by the words before the cursor; and what its answer is kept as."""

import os
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

from nsadmin import contexts

CONNECTING = {
    "-n": "namesrv_addr",
    "--namesrvAddr": "namesrv_addr",
    "--context": "context",
    "--configFile": "config_file",
    "--endpoint": "endpoint",
    "--addressMap": "address_map",
    "--credentials": "credentials",
    "--tlsCa": "tls_ca",
    "--tlsCert": "tls_cert",
    "--tlsKey": "tls_key",
    "--tlsServerName": "tls_server_name",
}
"""Shared options that say which servers are meant, and what `settings` calls their values."""

ALONE = {"--tls": ("tls", True), "--no-tls": ("tls", False), "--insecure": ("insecure", True)}
"""Those without a value behind them: what they set."""

_MANY = ("namesrv_addr", "address_map")

_ENVIRONMENT = ("NAMESRV_", "NSADMIN_", "ROCKETMQ_")
_SECRET = ("KEY", "SECRET", "TOKEN", "PASSWORD")


def connection(words: Sequence[str]) -> dict[str, list[str] | str | bool | None]:
    """The values of the options in CONNECTING and ALONE, as `settings.resolve` takes them."""
    found: dict[str, list[str] | str | bool | None] = {"namesrv_addr": [], "context": None}
    for at, word in enumerate(words):
        flag, is_joined, value = word.partition("=")
        if flag in CONNECTING:
            values = [value] if is_joined else list(words[at + 1 : at + 2])
            _put(found, CONNECTING[flag], values)
        elif word in ALONE:
            name, on = ALONE[word]
            found[name] = on
        elif word.startswith("-n") and len(word) > 2:
            _put(found, "namesrv_addr", [word[2:]])
    return found


def _put(found: dict[str, list[str] | str | bool | None], name: str, values: list[str]) -> None:
    """Add what may be repeated; of the rest the last one counts."""
    if name in _MANY:
        before = found.get(name)
        found[name] = [*(before if isinstance(before, list) else ()), *values]
    elif values:
        found[name] = values[0]


class Question(NamedTuple):
    """Values of a source, for what the words before the cursor say.

    `detail` is what they say about it: the namespace whose keys, the address of the broker whose settings.
    """

    source: str
    detail: str
    before: Sequence[str]

    def name(self, environ: Mapping[str, str] = os.environ) -> str:
        """The same for the same servers: what names them goes into it, and the file of contexts as it is."""
        file = os.path.abspath(contexts.path(environ))
        variables = sorted((name, value) for name, value in environ.items() if _counts(name))
        parts = (connection(self.before), variables, file, _state(file), self.detail)
        digest = blake2b(repr(parts).encode(errors="replace"), digest_size=10).hexdigest()
        return f"{digest}.{self.source}"


def _counts(variable: str) -> bool:
    return variable.startswith(_ENVIRONMENT) and not any(part in variable for part in _SECRET)


def _state(file: str) -> tuple[int, int] | None:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
