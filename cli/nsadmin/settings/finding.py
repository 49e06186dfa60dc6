"""How name servers are found, and what was overruled by it."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from nsadmin.client.connection.addresses import (
    ENVIRONMENT_VARIABLE,
    BadAddress,
    NameServerFinder,
    NameServerList,
    choose_name_servers,
    require_addrs,
)
from nsadmin.diagnostics import UsageError
from nsadmin.settings.chosen import NONE, Chosen

if TYPE_CHECKING:
    from pathlib import Path

_GIVEN = (("namesrv_addr", "-n"), ("config_file", "--configFile"), ("endpoint", "--endpoint"))


class Way(NamedTuple):
    """One way to find them: in words, and as a function."""

    words: str
    find: NameServerFinder


class Found(NamedTuple):
    """The way that won, and the others in words."""

    find: NameServerFinder
    overruled: tuple[str, ...]


def found(values: Mapping[str, Any], chosen: Chosen, timeout: float) -> Found:
    """What counts among what was given, the environment, the context and this machine.

    UsageError or BadAddress for what cannot be. No endpoint is asked here: the function that finds does it,
    within `timeout` seconds.
    """
    ways = [way for way in _by_rank(values, chosen, timeout) if way is not None]
    if not ways:
        return Found(lambda: choose_name_servers(environ={}), ())
    return Found(ways[0].find, tuple(way.words for way in ways[1:]))


def _by_rank(values: Mapping[str, Any], chosen: Chosen, timeout: float) -> tuple[Way | None, ...]:
    given, environment, context = _given(values, timeout), _environment(), _of_context(chosen, timeout)
    return (given, context, environment) if chosen.by_name else (given, environment, context)


def _given(values: Mapping[str, Any], timeout: float) -> Way | None:
    present = [(values[name], flag) for name, flag in _GIVEN if values.get(name) not in (None, [])]
    if not present:
        return None
    if len(present) > 1:
        raise UsageError(f"{' and '.join(flag for _, flag in present)} exclude each other: leave one out")
    [(value, flag)] = present
    if flag == "-n":
        addrs = choose_name_servers(value)
        return Way(flag, lambda: addrs._replace(origin=flag))
    return _file(NONE.path(value), timeout) if flag == "--configFile" else _endpoint(value, timeout)


def _environment() -> Way | None:
    text = os.environ.get(ENVIRONMENT_VARIABLE, "").strip()
    if not text:
        return None

    def find() -> NameServerList:
        try:
            return NameServerList(require_addrs(text), "environment", ENVIRONMENT_VARIABLE)
        except BadAddress as error:
            raise BadAddress(f"{ENVIRONMENT_VARIABLE}: {error}") from None

    return Way(f"{ENVIRONMENT_VARIABLE} {text}", find)


def _of_context(chosen: Chosen, timeout: float) -> Way | None:
    context, name = chosen.context, chosen.name or ""
    if context.namesrv_addr is not None:
        text = context.namesrv_addr
        way = Way(text, lambda: NameServerList(require_addrs(text), "context", name))
    elif context.config_file is not None:
        way = _file(chosen.path(context.config_file), timeout)
    elif context.endpoint is not None:
        way = _endpoint(context.endpoint, timeout)
    else:
        return None

    def find() -> NameServerList:
        try:
            return way.find()
        except BadAddress as error:
            raise BadAddress(f"context {name}: {error}") from None

    return Way(f"context {name} ({way.words})", find)


def _file(file: "Path", timeout: float) -> Way:
    def find() -> NameServerList:
        from nsadmin.client.connection.discovery import from_file

        return from_file(file, cache_folder=cache_folder(), timeout_seconds=timeout)

    return Way(f"file {file}", find)


def _endpoint(url: str, timeout: float) -> Way:
    def find() -> NameServerList:
        from nsadmin.client.connection.discovery import from_endpoint

        return from_endpoint(url, cache_folder=cache_folder(), timeout_seconds=timeout)

    return Way(f"endpoint {url}", find)


def cache_folder() -> "Path":
    """Where what endpoints said is kept: nsadmin in XDG_CACHE_HOME, else in ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return NONE.path(base) / "nsadmin"
