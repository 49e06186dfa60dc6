"""Options from the values of the options that commands share, the environment and the context."""

import os
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from nsadmin.client.connection.access_options import DEFAULT_ACCESS, Access
from nsadmin.client.connection.credentials import FoundCredentials
from nsadmin.contexts import Context
from nsadmin.diagnostics import UsageError
from nsadmin.output import FORMATS, Selection, Style
from nsadmin.session import Options, Plugin
from nsadmin.settings import chosen, finding, trust
from nsadmin.settings.chosen import Chosen

T = TypeVar("T")


def resolve(values: Mapping[str, Any], connects: bool = True) -> Options:
    """Options from the values of shared options, by name; without `connects` no context counts.

    UsageError for what cannot be, with the place that says so.
    """
    in_force = chosen.choose(values["context"]) if connects else chosen.NONE
    context = in_force.context
    signer = trust.credentials(values, in_force) if connects else None
    access = _access(values, in_force, signer) if connects else DEFAULT_ACCESS
    found = finding.found(values, in_force, access.timeout) if connects else None
    return Options(
        namesrv_addr=found and found.find,
        access=access,
        style=_style(values, in_force),
        dry_run=values.get("dry_run", False),
        yes=values.get("yes", False),
        watch=_seconds("--watch", values.get("watch"), 86400),
        read_only=context.read_only,
        quiet=values.get("quiet", False),
        debug=values.get("debug", False),
        context=in_force.name,
        color=context.color,
        overruled=found.overruled if found else (),
        signed_from=signer and signer.source,
        journals=tuple(str(in_force.path(folder)) for folder in context.journals),
        plugin=_plugin(values),
    )


def _access(values: Mapping[str, Any], in_force: Chosen, signer: FoundCredentials | None) -> Access:
    context = in_force.context
    retries = _number("--retries", values.get("retries"), 0, 100)
    concurrency = _number("--concurrency", values.get("concurrency"), 1, 1000)
    return Access(
        _first(_seconds("--timeout", values.get("timeout"), 3600), context.timeout, DEFAULT_ACCESS.timeout),
        retries=_first(retries, context.retries, DEFAULT_ACCESS.retries),
        concurrency=_first(concurrency, context.concurrency, DEFAULT_ACCESS.concurrency),
        credentials=signer and signer.credentials,
        tls=trust.tls(values, in_force),
        address_map=_address_map(values.get("address_map") or (), context),
    )


def _plugin(values: Mapping[str, Any]) -> Plugin:
    format_, as_json = values.get("format_"), values.get("json_", False)
    if as_json and format_ not in (None, "json"):
        raise UsageError(f"--json and --format {format_} exclude each other: leave one out")
    return Plugin("json" if as_json else format_, values.get("output_file"), values.get("wait_until_ok"))


def _first(*values: T | None) -> T:
    return next(value for value in values if value is not None)


def _address_map(given: Iterable[str], context: Context) -> tuple[tuple[str, str], ...]:
    """The context's map, and over it what was given."""
    if not given:
        return context.address_map
    from nsadmin.client.connection.address_map import parse_pair

    return tuple({**dict(context.address_map), **dict(map(parse_pair, given))}.items())


def _number(option: str, given: int | None, least: int, most: int) -> int | None:
    if given is not None and not least <= given <= most:
        raise UsageError(f"{option} {given} cannot be: give {least} to {most}")
    return given


def _seconds(option: str, seconds: float | None, longest: float) -> float | None:
    if seconds is not None and not 0 < seconds <= longest:
        most = f" and at most {longest:g}" if seconds > longest else ""
        raise UsageError(f"{option} {seconds:g} cannot be: give seconds, more than 0{most}")
    return seconds


def _style(values: Mapping[str, Any], in_force: Chosen) -> Style:
    output, as_json = values.get("output"), values.get("json_", False)
    if as_json and output not in (None, "json"):
        raise UsageError(f"--json and --output {output} exclude each other: leave one out")
    sources = (
        ("--output", "json" if as_json else output),
        ("NSADMIN_OUTPUT", os.environ.get("NSADMIN_OUTPUT")),
        (f"the output of context {in_force.name},", in_force.context.output),
    )
    # An empty variable stands for none; who types an empty format meant another one.
    given = (
        (source, text) for source, text in sources if text or (source == "--output" and text is not None)
    )
    source, format_ = next(given, ("", "table"))
    if format_ not in FORMATS:
        raise UsageError(f"{source} {format_} is unknown; there are: {', '.join(FORMATS)}")
    selection = Selection(values.get("columns"), values.get("sort"), tuple(values.get("filters") or ()))
    color = in_force.context.color
    return Style(
        format_,
        not values.get("no_color", False),
        not values.get("no_headers", False),
        selection,
        (in_force.name, color) if in_force.name and color else None,
    )
