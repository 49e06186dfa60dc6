"""Suggests existing names of topics, brokers and so on for a typed name that a command did not find."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.commands.declared import parameters_of
from nsadmin.complete.sources import DETAILS, source_of
from nsadmin.complete.tab import plain
from nsadmin.complete.values import of_servers
from nsadmin.likeness import like, meant

_NOUNS = {
    "topics": "topic",
    "clusters": "cluster",
    "brokers": "broker",
    "groups": "consumer group",
    "producer-groups": "producer group",
    "kv-keys": "key",
    "broker-keys": "setting",
    "namesrv-keys": "setting",
}
_MOST = 3


def near_misses(
    function: Callable[..., Any], arguments: Mapping[str, Any], admin: AdminClient, *, ask_name_servers: bool
) -> list[str]:
    """A line for each typed name that servers do not know and that is similar to a known one.

    If the command uses no name server, only the broker that the line names is asked, for its settings.
    """
    declared = {item.name: item.declared for item in parameters_of(function)}
    by_metavar = {word.metavar: arguments.get(name) for name, word in declared.items()}
    lines = []
    for name, word in declared.items():
        source, typed = source_of(word.metavar or "", word.values), arguments.get(name)
        detail = by_metavar.get(DETAILS.get(source)) or ""
        may_ask = ask_name_servers or (source == "broker-keys" and detail)
        if source in _NOUNS and may_ask and isinstance(typed, str) and typed:
            near = _near(typed, _known(source, admin, detail))
            lines += [f"no {_NOUNS[source]} {typed!r}: {meant(near)}"] if near else []
    return lines


def _known(source: str, admin: AdminClient, detail: str) -> list[str]:
    """The names that servers know; empty if no server answers."""
    try:
        return plain(of_servers(source, admin, detail))
    except RocketMQError:
        return []


def _near(typed: str, known: Iterable[str]) -> list[str]:
    """Up to three names that are similar to the typed one or contain it; none if it is a known name."""
    by_lower = {name.lower(): name for name in known}
    if typed in by_lower.values():
        return []
    lower = typed.lower()
    if lower in by_lower:
        return [by_lower[lower]]
    # Comparing is slow, so only names of about the same length are compared.
    alike = [name for name in by_lower if abs(len(name) - len(lower)) <= max(2, len(lower) // 2)]
    found = like(lower, alike) or sorted(
        (name for name in by_lower if len(lower) > 2 and lower in name), key=len
    )
    return [by_lower[name] for name in found[:_MOST]]
