"""Resolves shared options from the command line, the environment and the context."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from nsadmin.client.connection.access_options import DEFAULT_ACCESS, Access
from nsadmin.client.connection.credentials import FoundCredentials
from nsadmin.console.contexts import Context
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import OUTPUT_FORMATS, OutputStyle, RowSelection
from nsadmin.console.session import PluginOptions, SharedOptions
from nsadmin.console.settings import (
    bundle_choice,
    connection_security,
    context_choice,
    name_server_discovery,
    tunnel_choice,
)
from nsadmin.console.settings.context_choice import NO_CONTEXT, ChosenContext
from nsadmin.console.stderr import write_stderr_line

T = TypeVar("T")


def resolve_options(values: Mapping[str, Any], needs_connection: bool = True) -> SharedOptions:
    """Resolve the shared options from their typed values, by name.

    Without `needs_connection` no context applies. A bundle replaces name servers, credentials and TLS. Raises
    UsageError, with the source of the invalid value.
    """
    if not needs_connection:
        return _plain_options(values, NO_CONTEXT)
    chosen = NO_CONTEXT if values.get("bundle") else context_choice.choose_context(values["context"])
    chosen_bundle = bundle_choice.open_chosen_bundle(values, chosen)
    if chosen_bundle is not None:
        bundle, chosen = chosen_bundle
        return _plain_options(values, chosen)._replace(
            namesrv_addr=bundle_choice.make_bundle_finder(bundle, values),
            access=bundle_choice.make_bundle_access(bundle, values),
            bundle=bundle,
        )
    found = connection_security.find_credentials(values, chosen)
    access = resolve_access(values, chosen, found)
    discovery = name_server_discovery.choose_discovery(values, chosen, access.timeout)
    # Journals are those of the context's own name servers.
    has_journals = chosen.is_named or not discovery.overruled_sources
    return _plain_options(values, chosen)._replace(
        namesrv_addr=discovery.find_name_servers,
        access=access,
        read_only=chosen.context.read_only,
        overruled_sources=discovery.overruled_sources,
        credentials_source=found and found.source,
        journal_folders=tuple(
            str(chosen.resolve_path(folder)) for folder in chosen.context.journals if has_journals
        ),
    )


def _plain_options(values: Mapping[str, Any], chosen: ChosenContext) -> SharedOptions:
    """The options that do not depend on the servers."""
    return SharedOptions(
        style=_resolve_style(values, chosen),
        dry_run=values.get("dry_run", False),
        yes=values.get("yes", False),
        watch=_require_seconds("--watch", values.get("watch"), 86400),
        quiet=values.get("quiet", False),
        debug=values.get("debug", False),
        context=chosen.name,
        color=chosen.context.color,
        plugin_options=_resolve_plugin(values),
    )


def resolve_access(
    values: Mapping[str, Any],
    chosen: ChosenContext,
    found: FoundCredentials | None,
    write_warning: Callable[[str], None] = write_stderr_line,
) -> Access:
    """Resolve timeout, retries, concurrency, TLS, address map and tunnel. Raises UsageError."""
    context = chosen.context
    chosen_tunnel = tunnel_choice.choose_tunnel(values, chosen)
    tls = connection_security.resolve_tls(values, chosen, write_warning)
    connection_security.check_signing(values, chosen, found, tls)
    retries = _require_number_range("--retries", values.get("retries"), 0, 100)
    concurrency = _require_number_range("--concurrency", values.get("concurrency"), 1, 1000)
    return Access(
        _first_given(
            _require_seconds("--timeout", values.get("timeout"), 3600),
            context.timeout,
            DEFAULT_ACCESS.timeout,
        ),
        retries=_first_given(retries, context.retries, DEFAULT_ACCESS.retries),
        concurrency=_first_given(concurrency, context.concurrency, DEFAULT_ACCESS.concurrency),
        credentials=found and found.credentials,
        tls=tls,
        address_map=_merge_address_map(values.get("address_map") or (), context),
        proxies=_parse_proxies(values.get("proxies") or ()) or context.proxies,
        tunnel=chosen_tunnel and chosen_tunnel.target,
    )


def _resolve_plugin(values: Mapping[str, Any]) -> PluginOptions:
    plugin_format, is_json = values.get("format_"), values.get("json_", False)
    if is_json and plugin_format not in (None, "json"):
        raise UsageError(f"--json and --format {plugin_format} exclude each other: pass only one of them")
    return PluginOptions(
        "json" if is_json else plugin_format, values.get("output_file"), values.get("wait_until_ok")
    )


def _first_given(*ranked_values: T | None) -> T:
    return next(value for value in ranked_values if value is not None)


def _merge_address_map(given_pairs: Iterable[str], context: Context) -> tuple[tuple[str, str], ...]:
    """Return the context's address map, overridden by the command line."""
    if not given_pairs:
        return context.address_map
    from nsadmin.client.connection.address_map import parse_pair

    return tuple({**dict(context.address_map), **dict(map(parse_pair, given_pairs))}.items())


def _parse_proxies(proxy_lists: Iterable[str]) -> tuple[str, ...]:
    from nsadmin.client.connection.addresses import DEFAULT_PROXY_PORT, BadAddress, parse_addrs

    try:
        return parse_addrs(proxy_lists, DEFAULT_PROXY_PORT)
    except BadAddress as error:
        raise UsageError(f"invalid value for --proxies: {error}") from None


def _require_number_range(flag: str, given_number: int | None, minimum: int, maximum: int) -> int | None:
    if given_number is not None and not minimum <= given_number <= maximum:
        raise UsageError(f'invalid value "{given_number}" for {flag}: expected {minimum} to {maximum}')
    return given_number


def _require_seconds(option_flag: str, given_seconds: float | None, max_seconds: float) -> float | None:
    if given_seconds is not None and not 0 < given_seconds <= max_seconds:
        hint = f", at most {max_seconds:g}" if given_seconds > max_seconds else ""
        raise UsageError(
            f'invalid value "{given_seconds:g}" for {option_flag}: expected a number of seconds above 0{hint}'
        )
    return given_seconds


def _resolve_style(values: Mapping[str, Any], chosen: ChosenContext) -> OutputStyle:
    given_format, is_json = values.get("output"), values.get("json_", False)
    if is_json and given_format not in (None, "json"):
        raise UsageError(f"--json and --output {given_format} exclude each other: pass only one of them")
    format_sources = (
        ("--output", "json" if is_json else given_format),
        ("NSADMIN_OUTPUT", os.environ.get("NSADMIN_OUTPUT")),
        (f"the output of context {chosen.name}", chosen.context.output),
    )
    # An empty variable counts as unset. An operator who types an empty format made a mistake.
    given_formats = ((s, t) for s, t in format_sources if t or (s == "--output" and t is not None))
    source, output_format = next(given_formats, ("", "table"))
    if output_format not in OUTPUT_FORMATS:
        raise UsageError(f'unknown format "{output_format}" for {source}: use {", ".join(OUTPUT_FORMATS)}')
    row_selection = RowSelection(
        values.get("columns"),
        values.get("sort"),
        tuple(values.get("filters") or ()),
        values.get("row_limit"),
    )
    context_color = chosen.context.color
    return OutputStyle(
        output_format,
        not values.get("no_color", False),
        not values.get("no_headers", False),
        row_selection,
        (chosen.name, context_color) if chosen.name and context_color else None,
    )
