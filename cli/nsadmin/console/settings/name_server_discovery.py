"""Owns the choice of the source of name servers."""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from nsadmin.client.connection.addresses import (
    ENVIRONMENT_VARIABLE,
    BadAddress,
    NameServerFinder,
    NameServerList,
    choose_name_servers,
    require_addrs,
)
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.settings.context_choice import NO_CONTEXT, ChosenContext
from nsadmin.console.settings.tunnel_choice import ChosenTunnel, choose_tunnel

if TYPE_CHECKING:
    from pathlib import Path

DISCOVERY_OPTIONS = (("namesrv_addr", "-n"), ("config_file", "--configFile"), ("endpoint", "--endpoint"))


class DiscoverySource(NamedTuple):
    """One source of name servers: its description, and the function that finds them."""

    source_words: str
    find_name_servers: NameServerFinder


class DiscoveryChoice(NamedTuple):
    """The chosen source, and the descriptions of the others."""

    find_name_servers: NameServerFinder
    overruled_sources: tuple[str, ...]


def choose_discovery(
    values: Mapping[str, Any], chosen: ChosenContext, timeout_seconds: float
) -> DiscoveryChoice:
    """Choose among the command line, the environment, the context and the default.

    A Kubernetes namespace without a list of name servers means those in the namespace. Raises UsageError or
    BadAddress for an invalid source. The result's function asks an endpoint, within `timeout_seconds`, or
    Kubernetes. This function sends no request.
    """
    chosen_tunnel = choose_tunnel(values, chosen)
    usable_sources = [
        source
        for source in _sources_by_rank(values, chosen, _EndpointReader(timeout_seconds, chosen_tunnel))
        if source is not None
    ]
    if not usable_sources:
        return DiscoveryChoice(lambda: choose_name_servers(environ={}), ())
    return DiscoveryChoice(
        usable_sources[0].find_name_servers, tuple(source.source_words for source in usable_sources[1:])
    )


class _EndpointReader(NamedTuple):
    """How endpoints are asked: within a time limit, and through the chosen tunnel."""

    timeout_seconds: float
    chosen_tunnel: ChosenTunnel | None

    def find(self, find_name_servers: Callable[..., NameServerList]) -> NameServerList:
        """Call a function of `client.connection.discovery` with these settings."""
        settings: dict[str, Any] = {"cache_folder": cache_folder(), "timeout_seconds": self.timeout_seconds}
        if self.chosen_tunnel is None:
            return find_name_servers(**settings)
        from nsadmin.client.connection.tunnels.tunnel_leases import use_tunnel

        with use_tunnel(self.chosen_tunnel.target) as find_addrs:
            return find_name_servers(**settings, find_addrs=find_addrs)


def _sources_by_rank(
    values: Mapping[str, Any], chosen: ChosenContext, reader: _EndpointReader
) -> tuple[DiscoverySource | None, ...]:
    kube_sources = _kube_sources_by_rank(reader.chosen_tunnel)
    given_source = _given_source(values, reader) or kube_sources.get("given")
    environment_source = _environment_source() or kube_sources.get("environment")
    context_source = _context_source(chosen, reader) or kube_sources.get("context")
    return (
        (given_source, context_source, environment_source)
        if chosen.is_named
        else (given_source, environment_source, context_source)
    )


def _kube_sources_by_rank(chosen_tunnel: ChosenTunnel | None) -> Mapping[str, DiscoverySource]:
    """The name servers in a Kubernetes namespace, by the source of the namespace."""
    if chosen_tunnel is None or not chosen_tunnel.lists_name_servers:
        return {}
    target = chosen_tunnel.target

    def list_pods() -> NameServerList:
        from nsadmin.client.connection.tunnels.tunnel_leases import list_name_servers

        return list_name_servers(target)

    return {chosen_tunnel.source: DiscoverySource(f"pods of {target}", list_pods)}


def _given_source(values: Mapping[str, Any], reader: _EndpointReader) -> DiscoverySource | None:
    options = [(values[n], f) for n, f in DISCOVERY_OPTIONS if values.get(n) not in (None, [])]
    if not options:
        return None
    if len(options) > 1:
        raise UsageError(
            f"{' and '.join((flag for _, flag in options))} exclude each other: pass only one of them"
        )
    [(option_value, option_flag)] = options
    if option_flag == "-n":
        given_addrs = choose_name_servers(option_value)
        return DiscoverySource(option_flag, lambda: given_addrs._replace(origin=option_flag))
    return (
        _file_source(NO_CONTEXT.resolve_path(option_value), reader)
        if option_flag == "--configFile"
        else _endpoint_source(option_value, reader)
    )


def _environment_source() -> DiscoverySource | None:
    variable_text = os.environ.get(ENVIRONMENT_VARIABLE, "").strip()
    if not variable_text:
        return None

    def find_in_environment() -> NameServerList:
        try:
            return NameServerList(require_addrs(variable_text), "environment", ENVIRONMENT_VARIABLE)
        except BadAddress as error:
            raise BadAddress(f"{ENVIRONMENT_VARIABLE}: {error}") from None

    return DiscoverySource(f"{ENVIRONMENT_VARIABLE} {variable_text}", find_in_environment)


def _context_source(chosen: ChosenContext, reader: _EndpointReader) -> DiscoverySource | None:
    context, context_name = chosen.context, chosen.name or ""
    if context.namesrv_addr is not None:
        namesrv_text = context.namesrv_addr
        source = DiscoverySource(
            namesrv_text, lambda: NameServerList(require_addrs(namesrv_text), "context", context_name)
        )
    elif context.config_file is not None:
        source = _file_source(chosen.resolve_path(context.config_file), reader)
    elif context.endpoint is not None:
        source = _endpoint_source(context.endpoint, reader)
    else:
        return None

    def find_in_context() -> NameServerList:
        try:
            return source.find_name_servers()
        except BadAddress as error:
            raise BadAddress(f"context {context_name}: {error}") from None

    return DiscoverySource(f"context {context_name} ({source.source_words})", find_in_context)


def _file_source(properties_file: "Path", reader: _EndpointReader) -> DiscoverySource:
    def find_in_file() -> NameServerList:
        from nsadmin.client.connection.discovery import from_file

        return reader.find(lambda **settings: from_file(properties_file, **settings))

    return DiscoverySource(f"file {properties_file}", find_in_file)


def _endpoint_source(endpoint_url: str, reader: _EndpointReader) -> DiscoverySource:
    def ask_endpoint() -> NameServerList:
        from nsadmin.client.connection.discovery import from_endpoint

        return reader.find(lambda **settings: from_endpoint(endpoint_url, **settings))

    return DiscoverySource(f"endpoint {endpoint_url}", ask_endpoint)


def cache_folder() -> "Path":
    """Return the folder for cached answers of endpoints: nsadmin in XDG_CACHE_HOME, else in ~/.cache."""
    cache_home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return NO_CONTEXT.resolve_path(cache_home) / "nsadmin"
