"""Owns the choice of the source of name servers."""

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
from nsadmin.exit_codes import UsageError
from nsadmin.settings.context_choice import NO_CONTEXT, ChosenContext

if TYPE_CHECKING:
    from pathlib import Path

_DISCOVERY_OPTIONS = (("namesrv_addr", "-n"), ("config_file", "--configFile"), ("endpoint", "--endpoint"))


class DiscoveryWay(NamedTuple):
    """One source of name servers: its description, and the function that finds them."""

    way_words: str
    find_name_servers: NameServerFinder


class DiscoveryChoice(NamedTuple):
    """The chosen source, and the descriptions of the others."""

    find_name_servers: NameServerFinder
    overruled_ways: tuple[str, ...]


def choose_discovery(
    option_values: Mapping[str, Any], chosen_context: ChosenContext, timeout_seconds: float
) -> DiscoveryChoice:
    """Choose among the command line, the environment, the context and the default.

    Raises UsageError or BadAddress for an invalid source. The result's function asks an endpoint, within
    `timeout_seconds`. This function sends no request.
    """
    usable_ways = [
        discovery_way
        for discovery_way in _ways_by_rank(option_values, chosen_context, timeout_seconds)
        if discovery_way is not None
    ]
    if not usable_ways:
        return DiscoveryChoice(lambda: choose_name_servers(environ={}), ())
    return DiscoveryChoice(
        usable_ways[0].find_name_servers, tuple(discovery_way.way_words for discovery_way in usable_ways[1:])
    )


def _ways_by_rank(
    option_values: Mapping[str, Any], chosen_context: ChosenContext, timeout_seconds: float
) -> tuple[DiscoveryWay | None, ...]:
    given_way, environment_way, context_way = (
        _given_way(option_values, timeout_seconds),
        _environment_way(),
        _context_way(chosen_context, timeout_seconds),
    )
    return (
        (given_way, context_way, environment_way)
        if chosen_context.is_named
        else (given_way, environment_way, context_way)
    )


def _given_way(option_values: Mapping[str, Any], timeout_seconds: float) -> DiscoveryWay | None:
    present_options = [
        (option_values[option_name], option_flag)
        for option_name, option_flag in _DISCOVERY_OPTIONS
        if option_values.get(option_name) not in (None, [])
    ]
    if not present_options:
        return None
    if len(present_options) > 1:
        raise UsageError(
            f"{' and '.join((option_flag for _, option_flag in present_options))} exclude each "
            "other: pass only one of them"
        )
    [(option_value, option_flag)] = present_options
    if option_flag == "-n":
        given_addrs = choose_name_servers(option_value)
        return DiscoveryWay(option_flag, lambda: given_addrs._replace(origin=option_flag))
    return (
        _file_way(NO_CONTEXT.resolve_path(option_value), timeout_seconds)
        if option_flag == "--configFile"
        else _endpoint_way(option_value, timeout_seconds)
    )


def _environment_way() -> DiscoveryWay | None:
    variable_text = os.environ.get(ENVIRONMENT_VARIABLE, "").strip()
    if not variable_text:
        return None

    def find_in_environment() -> NameServerList:
        try:
            return NameServerList(require_addrs(variable_text), "environment", ENVIRONMENT_VARIABLE)
        except BadAddress as error:
            raise BadAddress(f"{ENVIRONMENT_VARIABLE}: {error}") from None

    return DiscoveryWay(f"{ENVIRONMENT_VARIABLE} {variable_text}", find_in_environment)


def _context_way(chosen_context: ChosenContext, timeout_seconds: float) -> DiscoveryWay | None:
    context, context_name = chosen_context.context, chosen_context.name or ""
    if context.namesrv_addr is not None:
        namesrv_text = context.namesrv_addr
        discovery_way = DiscoveryWay(
            namesrv_text, lambda: NameServerList(require_addrs(namesrv_text), "context", context_name)
        )
    elif context.config_file is not None:
        discovery_way = _file_way(chosen_context.resolve_path(context.config_file), timeout_seconds)
    elif context.endpoint is not None:
        discovery_way = _endpoint_way(context.endpoint, timeout_seconds)
    else:
        return None

    def find_in_context() -> NameServerList:
        try:
            return discovery_way.find_name_servers()
        except BadAddress as error:
            raise BadAddress(f"context {context_name}: {error}") from None

    return DiscoveryWay(f"context {context_name} ({discovery_way.way_words})", find_in_context)


def _file_way(properties_file: "Path", timeout_seconds: float) -> DiscoveryWay:
    def find_in_file() -> NameServerList:
        from nsadmin.client.connection.discovery import from_file

        return from_file(properties_file, cache_folder=cache_folder(), timeout_seconds=timeout_seconds)

    return DiscoveryWay(f"file {properties_file}", find_in_file)


def _endpoint_way(endpoint_url: str, timeout_seconds: float) -> DiscoveryWay:
    def ask_endpoint() -> NameServerList:
        from nsadmin.client.connection.discovery import from_endpoint

        return from_endpoint(endpoint_url, cache_folder=cache_folder(), timeout_seconds=timeout_seconds)

    return DiscoveryWay(f"endpoint {endpoint_url}", ask_endpoint)


def cache_folder() -> "Path":
    """Return the folder for cached answers of endpoints: nsadmin in XDG_CACHE_HOME, else in ~/.cache."""
    cache_home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return NO_CONTEXT.resolve_path(cache_home) / "nsadmin"
