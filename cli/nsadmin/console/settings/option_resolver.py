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
from nsadmin.console.settings.context_choice import ChosenContext
from nsadmin.console.stderr import write_stderr_line

T = TypeVar("T")


def resolve_options(option_values: Mapping[str, Any], needs_connection: bool = True) -> SharedOptions:
    """Resolve the shared options from their typed values, by name.

    Without `needs_connection` no context applies. A bundle replaces name servers, credentials and TLS. Raises
    UsageError, with the source of the invalid value.
    """
    chosen_context = (
        context_choice.choose_context(option_values["context"])
        if needs_connection and not option_values.get("bundle")
        else context_choice.NO_CONTEXT
    )
    if needs_connection:
        chosen_bundle = bundle_choice.open_chosen_bundle(option_values, chosen_context)
        if chosen_bundle is not None:
            return _resolve_for_bundle(chosen_bundle, option_values)
    context = chosen_context.context
    found_credentials = (
        connection_security.find_credentials(option_values, chosen_context) if needs_connection else None
    )
    access = (
        resolve_access(option_values, chosen_context, found_credentials)
        if needs_connection
        else DEFAULT_ACCESS
    )
    discovery_choice = (
        name_server_discovery.choose_discovery(option_values, chosen_context, access.timeout)
        if needs_connection
        else None
    )
    return SharedOptions(
        namesrv_addr=discovery_choice and discovery_choice.find_name_servers,
        access=access,
        style=_resolve_style(option_values, chosen_context),
        dry_run=option_values.get("dry_run", False),
        yes=option_values.get("yes", False),
        watch=_require_seconds("--watch", option_values.get("watch"), 86400),
        read_only=context.read_only,
        quiet=option_values.get("quiet", False),
        debug=option_values.get("debug", False),
        context=chosen_context.name,
        color=context.color,
        overruled_sources=discovery_choice.overruled_sources if discovery_choice else (),
        credentials_source=found_credentials and found_credentials.source,
        journal_folders=tuple(str(chosen_context.resolve_path(folder)) for folder in context.journals),
        plugin_options=_resolve_plugin(option_values),
    )


def _resolve_for_bundle(
    chosen_bundle: bundle_choice.ChosenBundle, option_values: Mapping[str, Any]
) -> SharedOptions:
    bundle, chosen_context = chosen_bundle
    return SharedOptions(
        namesrv_addr=bundle_choice.make_bundle_finder(bundle, option_values),
        access=bundle_choice.make_bundle_access(bundle, option_values),
        style=_resolve_style(option_values, chosen_context),
        dry_run=option_values.get("dry_run", False),
        yes=option_values.get("yes", False),
        watch=_require_seconds("--watch", option_values.get("watch"), 86400),
        quiet=option_values.get("quiet", False),
        debug=option_values.get("debug", False),
        context=chosen_context.name,
        color=chosen_context.context.color,
        plugin_options=_resolve_plugin(option_values),
        bundle=bundle,
    )


def resolve_access(
    option_values: Mapping[str, Any],
    chosen_context: ChosenContext,
    found_credentials: FoundCredentials | None,
    write_warning: Callable[[str], None] = write_stderr_line,
) -> Access:
    """Resolve timeout, retries, concurrency, TLS, address map and tunnel. Raises UsageError."""
    context = chosen_context.context
    chosen_tunnel = tunnel_choice.choose_tunnel(option_values, chosen_context)
    tls = connection_security.resolve_tls(option_values, chosen_context, write_warning)
    connection_security.check_signing(option_values, chosen_context, found_credentials, tls)
    retries = _require_number_range("--retries", option_values.get("retries"), 0, 100)
    concurrency = _require_number_range("--concurrency", option_values.get("concurrency"), 1, 1000)
    return Access(
        _first_given(
            _require_seconds("--timeout", option_values.get("timeout"), 3600),
            context.timeout,
            DEFAULT_ACCESS.timeout,
        ),
        retries=_first_given(retries, context.retries, DEFAULT_ACCESS.retries),
        concurrency=_first_given(concurrency, context.concurrency, DEFAULT_ACCESS.concurrency),
        credentials=found_credentials and found_credentials.credentials,
        tls=tls,
        address_map=_merge_address_map(option_values.get("address_map") or (), context),
        proxies=_parse_proxies(option_values.get("proxies") or ()) or context.proxies,
        tunnel=chosen_tunnel and chosen_tunnel.target,
    )


def _resolve_plugin(option_values: Mapping[str, Any]) -> PluginOptions:
    plugin_format, is_json = option_values.get("format_"), option_values.get("json_", False)
    if is_json and plugin_format not in (None, "json"):
        raise UsageError(f"--json and --format {plugin_format} exclude each other: pass only one of them")
    return PluginOptions(
        "json" if is_json else plugin_format,
        option_values.get("output_file"),
        option_values.get("wait_until_ok"),
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


def _require_number_range(
    option_flag: str, given_number: int | None, minimum: int, maximum: int
) -> int | None:
    if given_number is not None and not minimum <= given_number <= maximum:
        raise UsageError(f'invalid value "{given_number}" for {option_flag}: expected {minimum} to {maximum}')
    return given_number


def _require_seconds(option_flag: str, given_seconds: float | None, max_seconds: float) -> float | None:
    if given_seconds is not None and not 0 < given_seconds <= max_seconds:
        hint = f", at most {max_seconds:g}" if given_seconds > max_seconds else ""
        raise UsageError(
            f'invalid value "{given_seconds:g}" for {option_flag}: expected a number of seconds above 0{hint}'
        )
    return given_seconds


def _resolve_style(option_values: Mapping[str, Any], chosen_context: ChosenContext) -> OutputStyle:
    given_format, is_json = option_values.get("output"), option_values.get("json_", False)
    if is_json and given_format not in (None, "json"):
        raise UsageError(f"--json and --output {given_format} exclude each other: pass only one of them")
    format_sources = (
        ("--output", "json" if is_json else given_format),
        ("NSADMIN_OUTPUT", os.environ.get("NSADMIN_OUTPUT")),
        (f"the output of context {chosen_context.name}", chosen_context.context.output),
    )
    # An empty variable counts as unset. An operator who types an empty format made a mistake.
    given_formats = ((s, t) for s, t in format_sources if t or (s == "--output" and t is not None))
    format_source, output_format = next(given_formats, ("", "table"))
    if output_format not in OUTPUT_FORMATS:
        raise UsageError(
            f'unknown format "{output_format}" for {format_source}: use {", ".join(OUTPUT_FORMATS)}'
        )
    row_selection = RowSelection(
        option_values.get("columns"), option_values.get("sort"), tuple(option_values.get("filters") or ())
    )
    context_color = chosen_context.context.color
    return OutputStyle(
        output_format,
        not option_values.get("no_color", False),
        not option_values.get("no_headers", False),
        row_selection,
        (chosen_context.name, context_color) if chosen_context.name and context_color else None,
    )
