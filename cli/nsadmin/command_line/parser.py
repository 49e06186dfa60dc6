"""Owns the shared options, and parses a command line into a command's arguments and these options.

A parameter that is annotated with an `Argument` can be given by position or by mqadmin's flag.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from nsadmin import settings
from nsadmin.command_line import fast_parser
from nsadmin.command_line.declarations import (
    HELP_PARAMETER,
    Argument,
    HelpRequested,
    Option,
    Parameter,
    build_parameter,
    command_parameters,
)
from nsadmin.command_line.shared_options import (
    CHANGE_OPTIONS,
    CHECK_OPTIONS,
    CONNECTION_OPTIONS,
    DIAGNOSTIC_OPTIONS,
    FORMAT_OPTIONS,
    SELECTION_OPTIONS,
    WATCH_OPTIONS,
)
from nsadmin.exit_codes import UsageError
from nsadmin.registry import CommandEntry
from nsadmin.session import SharedOptions


class OptionDescription(NamedTuple):
    """An option: its flags, the metavar of its value (None for a flag alone), its help text.

    `value_source` is copied from the declaration. `position_index` is the index of an option that can also be
    given by position, from 0.
    """

    flags: tuple[str, ...]
    metavar: str | None
    help: str
    value_source: str | None = None
    position_index: int | None = None


class ParsedCommandLine(NamedTuple):
    """The result of parsing a command line; `shared_values` are the shared options as they were typed."""

    options: SharedOptions
    arguments: Mapping[str, Any]
    shared_values: Mapping[str, Any]


_LARGEST_NUMBER = 1_000_000_000
_DISCOVERY_NAMES = ("namesrv_addr", "config_file", "endpoint")
_TLS_NAMES = ("tls", "tls_ca", "tls_cert", "tls_key", "tls_server_name", "insecure")
_FORMAT_NAMES = ("output", "json_", "format_")
_OVERRIDDEN_NAMES = (
    (("context",), _DISCOVERY_NAMES),
    (_DISCOVERY_NAMES, _DISCOVERY_NAMES),
    (_TLS_NAMES, _TLS_NAMES),
    (_FORMAT_NAMES, _FORMAT_NAMES),
)
"""Pairs: if a line of a batch sets an option on the left, it inherits none on the right from the batch.

A context brings its own name servers. But `-n` on a line keeps the context of the batch in force, because
that context may be read-only.
"""


def parse_command_line(
    entry: CommandEntry,
    command_function: Callable[..., Any],
    raw_args: list[str],
    batch_values: Mapping[str, Any] | None = None,
) -> ParsedCommandLine:
    """Parse the command line of one command.

    `batch_values` are the shared options of the batch that the line belongs to. They apply where the line
    sets no value itself.

    Raises:
        UsageError: The line is wrong; the message is one line.
        HelpRequested: The line asks for help.
    """
    own_parameters, shared_parameters = command_parameters(command_function), list_shared_parameters(entry)
    parsed_values, positional_words = _parse_values(
        entry,
        own_parameters,
        [*own_parameters, *shared_parameters],
        fast_parser.expand_single_dashes([*own_parameters, *shared_parameters], raw_args),
    )
    argument_values = {parameter.name: parsed_values[parameter.name] for parameter in own_parameters}
    argument_values.update(_fill_arguments(entry, own_parameters, parsed_values, positional_words))
    _require_alternatives(entry, own_parameters, argument_values)
    shared_values = {parameter.name: parsed_values[parameter.name] for parameter in shared_parameters}
    if batch_values:
        shared_values = _apply_batch_values(entry, shared_values, batch_values)
    return ParsedCommandLine(
        settings.resolve_options(shared_values, needs_connection=entry.kind != "local"),
        argument_values,
        shared_values,
    )


def _apply_batch_values(
    entry: CommandEntry, shared_values: Mapping[str, Any], batch_values: Mapping[str, Any]
) -> dict[str, Any]:
    """The shared options of a line, completed with those of its batch where the line sets none."""
    if batch_values.get("dry_run") and entry.kind == "local":
        raise UsageError(f"{entry.typed_name} does not support --dry-run, so it cannot run in this batch")
    own_names = {
        parameter.name
        for parameter in list_shared_parameters(entry)
        if shared_values[parameter.name] is not parameter.default
    }
    overridden_names = {
        option_name
        for overriding_names, affected_names in _OVERRIDDEN_NAMES
        if not own_names.isdisjoint(overriding_names)
        for option_name in affected_names
    }
    return {
        option_name: value
        if option_name in own_names | overridden_names
        else batch_values.get(option_name, value)
        for option_name, value in shared_values.items()
    }


def _parse_values(
    entry: CommandEntry,
    own_parameters: list[Parameter],
    all_parameters: list[Parameter],
    raw_args: list[str],
) -> fast_parser.ParameterValues:
    if fast_parser.asks_for_help(all_parameters, raw_args):
        raise HelpRequested
    parsed_values = fast_parser.parse_plain_line(all_parameters, raw_args)
    if parsed_values is None:
        # Typer takes 50 ms to load, so only lines that the fast parser rejects load it.
        from nsadmin.command_line import typer_parser, usage_text

        parsed_values = typer_parser.parse_with_typer(
            entry.typed_name, usage_text.format_usage(entry, own_parameters), all_parameters, raw_args
        )
    for parameter in all_parameters:
        value = parsed_values.values[parameter.name]
        # nan is outside of every range. A pause of more seconds than this can overflow the system's timers.
        if isinstance(value, float) and not -_LARGEST_NUMBER <= value <= _LARGEST_NUMBER:
            from nsadmin.command_line import usage_errors

            expected_text = f"{usage_errors.expected_value(parameter)}, at most {_LARGEST_NUMBER}"
            raise usage_errors.invalid_value(f"{value:g}", parameter.declaration.flags[0], expected_text)
    return parsed_values


def describe_command(
    entry: CommandEntry, command_function: Callable[..., Any]
) -> tuple[str, list[OptionDescription]]:
    """The words of a command's usage after its name, and its options."""
    # Imported late: parsing a correct line needs no usage.
    from nsadmin.command_line.usage_text import usage_words

    own_parameters = command_parameters(command_function)
    declared_arguments = _declared_arguments(own_parameters)
    options = [
        describe_parameter(parameter, list(declared_arguments))
        for parameter in (*own_parameters, *list_shared_parameters(entry), HELP_PARAMETER)
    ]
    return usage_words(own_parameters), options


def describe_parameter(parameter: Parameter, argument_names: Sequence[str] = ()) -> OptionDescription:
    """Describe a parameter as an option; `argument_names` are the positional parameters of its command."""
    flag_pairs = [flag_text.split("/") for flag_text in parameter.declaration.flags]
    flag_names = (
        *(flag_pair[0] for flag_pair in flag_pairs),
        *(off_flag for flag_pair in flag_pairs for off_flag in flag_pair[1:]),
    )
    takes_no_value = parameter.value_type in (bool, bool | None)
    metavar = None if takes_no_value else parameter.declaration.metavar
    position_index = argument_names.index(parameter.name) if parameter.name in argument_names else None
    return OptionDescription(
        flag_names, metavar, parameter.declaration.help, parameter.declaration.value_source, position_index
    )


def _declared_arguments(parameters: list[Parameter]) -> dict[str, Argument]:
    return {
        parameter.name: parameter.declaration
        for parameter in parameters
        if isinstance(parameter.declaration, Argument)
    }


def list_shared_parameters(entry: CommandEntry) -> list[Parameter]:
    """The shared options of commands of this kind."""
    connection_options = {} if entry.kind == "local" else CONNECTION_OPTIONS
    if entry.kind == "check":
        return to_parameters({**connection_options, **CHECK_OPTIONS, **DIAGNOSTIC_OPTIONS})
    if entry.kind == "screen":
        # A screen prints no rows, so it has no options for their format.
        return to_parameters({**connection_options, **DIAGNOSTIC_OPTIONS})
    kind_options = {
        "change": CHANGE_OPTIONS,
        "delete": CHANGE_OPTIONS,
        "batch": CHANGE_OPTIONS,
        # These commands can change servers, and --watch would repeat the change. So they do not have it.
        "mixed": {**SELECTION_OPTIONS, **CHANGE_OPTIONS},
    }.get(entry.kind, {**WATCH_OPTIONS, **SELECTION_OPTIONS})
    return to_parameters({**connection_options, **FORMAT_OPTIONS, **kind_options, **DIAGNOSTIC_OPTIONS})


def connection_words(shared_values: Mapping[str, Any]) -> list[str]:
    """The words of connection options with which another command line reaches the same servers."""
    option_words: list[str] = []
    for parameter in to_parameters(CONNECTION_OPTIONS):
        value, flag = shared_values.get(parameter.name), parameter.declaration.flags[0]
        if isinstance(value, bool):
            on_flag, _, off_flag = flag.partition("/")
            option_words += [on_flag if value else off_flag] if value or off_flag else []
        elif value is not None:
            option_words += [
                option_word
                for list_item in (value if isinstance(value, list) else [value])
                for option_word in (flag, str(list_item))
            ]
    return option_words


def leading_parameters() -> list[Parameter]:
    """The options that are also allowed before a command's name: all shared options."""
    option_tables = (
        CONNECTION_OPTIONS,
        FORMAT_OPTIONS,
        WATCH_OPTIONS,
        SELECTION_OPTIONS,
        CHANGE_OPTIONS,
        DIAGNOSTIC_OPTIONS,
    )
    shared_annotations = to_parameters(
        {
            option_name: annotation
            for option_table in option_tables
            for option_name, annotation in option_table.items()
        }
    )
    return [*shared_annotations, HELP_PARAMETER, Parameter("version", bool, Option("--version"), False)]


def to_parameters(annotations: Mapping[str, Any]) -> list[Parameter]:
    """The parameters of a table of shared options."""
    return [
        build_parameter(option_name, annotation, False if annotation.__origin__ is bool else None)
        for option_name, annotation in annotations.items()
    ]


def _fill_arguments(
    entry: CommandEntry,
    own_parameters: list[Parameter],
    parsed_values: Mapping[str, Any],
    positional_words: list[str],
) -> dict[str, str | None]:
    """The text of every argument: values of flags first, then positional words in order."""
    declared_arguments = _declared_arguments(own_parameters)
    argument_texts: dict[str, str | None] = {
        argument_name: parsed_values[argument_name] for argument_name in declared_arguments
    }
    positional_words = list(positional_words)
    for argument_name in declared_arguments:
        if argument_texts[argument_name] is None and positional_words:
            argument_texts[argument_name] = positional_words.pop(0)
    if positional_words:
        from nsadmin.command_line import usage_errors, usage_text

        usage = usage_text.format_usage(entry, own_parameters)
        raise usage_errors.unexpected_argument(positional_words[0], usage)
    for argument_name, argument in declared_arguments.items():
        argument_text = argument_texts[argument_name]
        is_missing = argument_text is None and argument.required
        if is_missing or (argument_text == "" and not argument.may_be_empty):
            from nsadmin.command_line import usage_errors, usage_text

            usage = usage_text.format_usage(entry, own_parameters)
            raise usage_errors.missing_argument(argument.metavar, usage, argument.example)
    return argument_texts


def _require_alternatives(
    entry: CommandEntry, own_parameters: list[Parameter], argument_values: Mapping[str, Any]
) -> None:
    """Raise UsageError if a parameter and all those that may replace it are missing."""
    parameters_by_name = {parameter.name: parameter for parameter in own_parameters}
    for parameter in own_parameters:
        other_names = parameter.alternative_names
        # A flag alone that is not given is False; 0 is a value.
        if other_names and all(
            argument_values[name] is None or argument_values[name] is False
            for name in (parameter.name, *other_names)
        ):
            from nsadmin.command_line import usage_errors, usage_text

            other_parameters = [parameters_by_name[other_name] for other_name in other_names]
            alternatives = map(usage_text.describe_alternative, (parameter, *other_parameters))
            usage = usage_text.format_usage(entry, own_parameters)
            raise usage_errors.missing_option(*alternatives, usage=usage)
