"""What TAB offers for a parameter, from the values that the line already has."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import typer

from nsadmin.command_line.completion.lookup import Candidate, list_values
from nsadmin.command_line.completion.value_sources import (
    DETAIL_METAVARS,
    FILE_SOURCE,
    FOLDER_SOURCE,
    source_of_metavar,
)
from nsadmin.command_line.declarations import Parameter
from nsadmin.command_line.shared_options import CONNECTION_OPTIONS

Completer = Callable[[typer.Context, Parameter, str], list[Candidate]]


def complete_value(
    ctx: typer.Context,
    parameter: Parameter,
    typed_text: str,
    values: Mapping[str, Any],
    parameters: Sequence[Parameter] = (),
    column_names: Sequence[str] = (),
) -> list[Candidate]:
    """The values of a parameter that begin with the typed text; `values` are those on the line.

    The object of the context is the time until which to wait for servers, and None in a shell. A shell
    completes paths itself: the only candidate is then the typed text, described as `:files` or `:folders`.
    """
    value_source = source_of_metavar(parameter.metavar or "", parameter.value_source)
    if ctx.obj is None and value_source in (FILE_SOURCE, FOLDER_SOURCE):
        return [(typed_text, f":{value_source}")]
    detail_metavar = DETAIL_METAVARS.get(value_source)
    detail = next((values.get(p.name) for p in parameters if p.metavar == detail_metavar), None)
    # As JSON has them, in which the process gets them that asks the servers.
    option_values = {
        name: list(values[name]) if isinstance(values[name], tuple) else values[name]
        for name in CONNECTION_OPTIONS
        if values.get(name)
    }
    return list_values(value_source, typed_text, detail or "", option_values, column_names, ctx.obj)
