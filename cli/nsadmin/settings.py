"""Settings: which setting wins: what was given, then the environment, then the context, then a default.

A context that was named with --context comes before the environment; one in use comes after it.
"""

import os
from collections.abc import Mapping
from typing import Any

from nsadmin import contexts
from nsadmin.client.access import Access
from nsadmin.contexts import BadConfig, Context
from nsadmin.diagnostics import UsageError
from nsadmin.output import FORMATS, Selection, Style
from nsadmin.session import Options


def resolve(values: Mapping[str, Any], connects: bool = True) -> Options:
    """Options from the values of shared options, by name; without `connects` no context counts.

    UsageError for what cannot be, with the place that says so.
    """
    name, context = _context(values["context"]) if connects else (None, Context())
    return _options(values, context)._replace(context=name)


def _options(values: Mapping[str, Any], context: Context) -> Options:
    """The shared options: what was given, else what the environment says, else the context."""
    given = tuple(values.get("namesrv_addr") or ())
    asked_by_name = values.get("context") is not None
    if not given and context.namesrv_addr and (asked_by_name or not os.environ.get("NAMESRV_ADDR")):
        given = (context.namesrv_addr,)
    timeouts = (values.get("timeout"), context.timeout, Access().timeout)
    return Options(
        namesrv_addr=given,
        access=Access(
            _seconds("--timeout", next(found for found in timeouts if found is not None), 3600),
            retries=_number("--retries", values.get("retries"), Access().retries, 0, 100),
            concurrency=_number("--concurrency", values.get("concurrency"), Access().concurrency, 1, 1000),
        ),
        style=_style(values, context.output),
        dry_run=values.get("dry_run", False),
        yes=values.get("yes", False),
        watch=_seconds("--watch", values.get("watch"), 86400),
        read_only=context.read_only,
        quiet=values.get("quiet", False),
        debug=values.get("debug", False),
    )


def _number(option: str, given: int | None, default: int, least: int, most: int) -> int:
    if given is not None and not least <= given <= most:
        raise UsageError(f"{option} {given} cannot be: give {least} to {most}")
    return default if given is None else given


def _seconds(option: str, seconds: float | None, longest: float) -> Any:
    if seconds is not None and not 0 < seconds <= longest:
        raise UsageError(f"{option} {seconds:g} cannot be: give seconds, more than 0")
    return seconds


def _context(name: str | None) -> tuple[str | None, Context]:
    """The context in force with its name; an empty one where there is none."""
    try:
        found = contexts.load(contexts.path())
        chosen = name or os.environ.get("NSADMIN_CONTEXT") or found.current
        return chosen, Context() if chosen is None else found.named(chosen)
    except BadConfig as error:
        raise UsageError(str(error)) from None


def _style(values: Mapping[str, Any], of_context: str | None) -> Style:
    output, as_json = values.get("output"), values.get("json_", False)
    if as_json and output not in (None, "json"):
        raise UsageError(f"--json and --output {output} exclude each other: leave one out")
    sources = (
        ("--output", "json" if as_json else output),
        ("NSADMIN_OUTPUT", os.environ.get("NSADMIN_OUTPUT")),
        ("the context's output", of_context),
    )
    source, chosen = next(((source, text) for source, text in sources if text), ("", "table"))
    if chosen not in FORMATS:
        raise UsageError(f"{source} {chosen} is unknown; there are: {', '.join(FORMATS)}")
    selection = Selection(values.get("columns"), values.get("sort"), tuple(values.get("filters") or ()))
    return Style(chosen, not values.get("no_color", False), not values.get("no_headers", False), selection)
