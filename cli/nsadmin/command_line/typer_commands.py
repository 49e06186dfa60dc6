"""Builds nsadmin's commands with Typer, each when it is needed, and reads what they parsed."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import cache
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand
from typer.main import get_command
from typer.models import OptionInfo

from nsadmin.command_line import registry, usage
from nsadmin.command_line.argument_values import parse_name_list
from nsadmin.command_line.completion.lookup import Candidate
from nsadmin.command_line.declarations import REQUIRED, Parameter, command_parameters, declaration_of
from nsadmin.command_line.registry import CommandEntry
from nsadmin.command_line.shared_options import list_shared_parameters
from nsadmin.command_line.value_completion import Completer, complete_value
from nsadmin.console import settings
from nsadmin.console.exit_codes import CheckUsageError, UsageError
from nsadmin.console.session import SharedOptions

TYPER_SETTINGS: dict[str, Any] = {
    "add_completion": False, "rich_markup_mode": None, "pretty_exceptions_enable": False,
}  # fmt: skip
"""Completion has its own command; help and errors are nsadmin's."""
_LARGEST_NUMBER = 1_000_000_000
_WORDS, _HELP = "words_", "help_"
"""Parameters that every command has beside its own: the words without a flag, and --help."""


BuiltOptions = tuple[tuple[Parameter, Any], ...]


class HelpRequested(Exception):
    """The operator asked for the help of a command."""

    def __init__(self, entry: CommandEntry) -> None:
        self.entry = entry


class ParsedCommandLine(NamedTuple):
    """The result of parsing a command line; `shared_values` are the shared options as they were typed."""

    options: SharedOptions
    arguments: Mapping[str, Any]
    shared_values: Mapping[str, Any]


class SessionCommand(TyperCommand):
    """A command whose arguments can be given by position or by flag; mqadmin writes flags with one dash.

    `run` gets the value of each parameter; without it, the command completes a line.
    """

    run: "Callable[[SessionCommand, Mapping[str, Any]], Any] | None"
    entry: CommandEntry
    function: Callable[..., Any]
    own_parameters: Sequence[Parameter]
    shared_parameters: Sequence[Parameter]

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        words = tuple(args)
        try:
            rest = super().parse_args(ctx, args)
            if not ctx.resilient_parsing:
                self._require_arguments(ctx.params, words)
            return rest
        except usage.ParsingError as error:
            raise self._make_error(
                usage.describe_parsing_error(
                    error,
                    words,
                    self.usage_text,
                    [*self.own_parameters, *self.shared_parameters],
                    self._advise_on_option(getattr(error, "option_name", "")),
                    declaration_of(self.function).column_names,
                )
            ) from error
        except UsageError as error:
            raise self._make_error(error) from None

    def _advise_on_option(self, flag: str) -> str:
        """The command of the same group that the flag names: rebalance status, for rebalance run --status."""
        sibling = registry.find_command(f"{self.entry.group}{flag.lstrip('-')}") if self.entry.group else None
        if sibling is not None:
            return f"use nsadmin {sibling.typed_name}"
        return f"nsadmin {self.entry.typed_name} --help lists the options"

    def _make_error(self, error: UsageError) -> UsageError:
        return CheckUsageError(str(error)) if self.entry.kind == "check" else error

    @property
    def usage_text(self) -> str:
        return usage.format_usage(self.entry, self.own_parameters)

    def shell_complete(self, ctx: typer.Context, incomplete: str) -> list[Any]:  # type: ignore[override]
        """The options that the line does not have yet, without mqadmin's forms with one dash."""
        parameters = (*self.own_parameters, *self.shared_parameters)
        flags = {flag for parameter in parameters for flag in parameter.flag_names} | {"-h", "--help"}
        return [item for item in super().shell_complete(ctx, incomplete) if item.value in flags]

    def complete_option(self, ctx: typer.Context, parameter: Parameter, typed_text: str) -> list[Candidate]:
        values = self._word_values(ctx.params)
        columns = declaration_of(self.function).column_names
        return complete_value(ctx, parameter, typed_text, values, self.own_parameters, columns)

    def complete_word(self, ctx: typer.Context, typed_text: str) -> list[Candidate]:
        """The values of the argument that the next word without a flag stands for."""
        free_arguments = self.free_arguments(self._word_values(ctx.params))
        return self.complete_option(ctx, free_arguments[0], typed_text) if free_arguments else []

    def _word_values(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values, with the words without a flag as those of the arguments that they stand for."""
        words = zip(self.free_arguments(values), self._split_words(values), strict=False)
        return {**values, **{p.name: [word] if p.is_list else word for p, word in words}}

    def _split_words(self, values: Mapping[str, Any]) -> list[str]:
        """The words, one for each argument; the last argument may take several."""
        words, arguments = list(values.get(_WORDS) or ()), self.free_arguments(values)
        last = len(arguments) - 1
        if arguments and arguments[last].joins_words and words[last:]:
            words[last:] = [" ".join(words[last:])]
        return words

    def free_arguments(self, values: Mapping[str, Any]) -> list[Parameter]:
        """The arguments that words without a flag stand for: those that no flag gave a value."""
        return [p for p in self.own_parameters if p.position is not None and values.get(p.name) in (None, ())]

    def _require_arguments(self, values: dict[str, Any], typed_words: Sequence[str]) -> None:
        """Give the words to the arguments; raise UsageError for what is missing or too much."""
        words = self._split_words(values)
        free_count = len(self.free_arguments(values))
        if len(words) > free_count:
            takes_arguments = any(parameter.position is not None for parameter in self.own_parameters)
            shown_usage = self.usage_text if takes_arguments else f"nsadmin {self.entry.typed_name}"
            previous = typed_words[typed_words.index(words[free_count]) - 1]
            if not takes_arguments and any(p.is_flag and previous in p.flags for p in self.own_parameters):
                raise usage.unexpected_value(words[free_count], previous)
            raise usage.unexpected_argument(words[free_count], shown_usage, takes_arguments)
        values.update(self._word_values(values))
        for parameter in self.own_parameters:
            if values[parameter.name] is None and not parameter.is_required:
                values[parameter.name] = parameter.default
            value = values[parameter.name]
            if parameter.position is not None and (
                (value is None and parameter.is_required) or (value == "" and not parameter.may_be_empty)
            ):
                raise usage.missing_argument(
                    parameter, self.usage_text, values.get("topic"), typed_words, self.own_parameters
                )
            if parameter.metavar == "BROKER" and parameter.value_source is None:
                usage.require_broker_names(value, self.entry.typed_name)
        for parameter in (*self.own_parameters, *self.shared_parameters):
            value = values[parameter.name]
            # nan is outside of every range. A longer pause can overflow the system's timers.
            if isinstance(value, float) and not -_LARGEST_NUMBER <= value <= _LARGEST_NUMBER:
                raise usage.invalid_value(f"{value:g}", parameter, f", at most {_LARGEST_NUMBER}")
        by_name = {parameter.name: parameter for parameter in self.own_parameters}
        for parameter in self.own_parameters:
            alternatives = [parameter, *(by_name[name] for name in parameter.alternative_names)]
            # A flag alone that is not given is False, a list is empty; 0 is a value.
            if len(alternatives) > 1 and all(
                values[p.name] is False or values[p.name] in (None, (), []) for p in alternatives
            ):
                texts = map(usage.describe_alternative, alternatives)
                raise usage.missing_option(*texts, usage=self.usage_text)


def build_command(
    entry: CommandEntry,
    run: Callable[[SessionCommand, Mapping[str, Any]], Any] | None,
    built_options: BuiltOptions = (),
) -> SessionCommand:
    """Build the command with Typer: see `SessionCommand.run`.

    `built_options` are Typer's options for shared parameters that the application has built already.
    """
    # Typer takes milliseconds, and a batch, a screen or an agent runs a command again and again.
    command = copy(_build_with_typer(entry, entry.load_function(), run is None, built_options))
    command.run = run
    return command


@cache
def _build_with_typer(
    entry: CommandEntry, function: Callable[..., Any], is_completing: bool, built_options: BuiltOptions
) -> SessionCommand:
    own_parameters = command_parameters(function)
    shared_parameters = list_shared_parameters(entry)
    options = dict(built_options)

    def run_parsed(ctx: typer.Context, **values: Any) -> Any:
        command: Any = ctx.command
        # Typer makes lists only for the options of this signature, not for built_options.
        lists = {name: list(value) or None for name, value in values.items() if isinstance(value, tuple)}
        lists |= {
            p.name: _split_names(p, values[p.name])
            for p in own_parameters
            if p.is_list and p.metavar in _NAME_METAVARS and values[p.name]
        }
        return command.run(command, {**values, **lists})

    def request_help(ctx: typer.Context, is_wanted: bool) -> bool:
        if is_wanted and not ctx.resilient_parsing:
            raise HelpRequested(entry)
        return is_wanted

    def complete_word(ctx: typer.Context, incomplete: str) -> list[Candidate]:
        command: Any = ctx.command
        return list(command.complete_word(ctx, incomplete))

    def complete_option(ctx: typer.Context, parameter: Parameter, typed_text: str) -> list[Candidate]:
        command: Any = ctx.command
        return list(command.complete_option(ctx, parameter, typed_text))

    help_option = typer.Option("-h", "--help", is_eager=True, callback=request_help)
    declare_parameters(
        run_parsed,
        [*own_parameters, *(p for p in shared_parameters if p not in options)],
        _keyword(_WORDS, Annotated[list[str] | None, typer.Argument(autocompletion=complete_word)], None),
        _keyword(_HELP, Annotated[bool, help_option], False),
        has_context=True,
        completer=complete_option if is_completing else None,
    )
    app = typer.Typer(**TYPER_SETTINGS)
    app.command(entry.member_name, cls=SessionCommand, context_settings={"help_option_names": []})(run_parsed)
    command = get_command(app)
    assert isinstance(command, SessionCommand)
    command.params += [options[p] for p in shared_parameters if p in options]
    command.entry, command.function = entry, function
    command.own_parameters, command.shared_parameters = own_parameters, shared_parameters
    return command


def declare_parameters(
    function: Callable[..., Any],
    parameters: Iterable[Parameter],
    *more_parameters: inspect.Parameter,
    has_context: bool = False,
    completer: Completer | None = None,
) -> None:
    """Give a function the signature that Typer reads; with `has_context`, it also gets Typer's context."""
    context = [_keyword("ctx", typer.Context, REQUIRED)] if has_context else []
    declared = [_signature_parameter(parameter, completer) for parameter in parameters]
    function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [*context, *declared, *more_parameters]
    )
    function.__annotations__ = {}


def _signature_parameter(parameter: Parameter, completer: Completer | None) -> inspect.Parameter:
    """The parameter as an option of Typer. An argument is an option, too; `SessionCommand` takes its word."""
    declared = parameter.declaration
    option = copy(declared) if isinstance(declared, OptionInfo) else typer.Option(help=declared.help)
    option.default, option.param_decls = ..., (*parameter.flags, *_single_dash_flags(parameter))
    if completer is not None:

        def complete(ctx: typer.Context, incomplete: str) -> list[Candidate]:
            return completer(ctx, parameter, incomplete)

        option.autocompletion = complete
    default = None if parameter.position is not None else parameter.default
    is_word = parameter.position is not None and not parameter.is_list
    value_type = str | None if is_word else parameter.value_type
    return _keyword(parameter.name, Annotated[value_type, option], default)


_NAME_METAVARS = {"ADDR", "BROKER", "CHECK", "FIELD", "GROUP", "ID", "PATTERN", "SECTION", "TOPIC", "TYPE"}
"""Values without commas, so that a repeatable option also takes a list A,B."""


def _split_names(parameter: Parameter, texts: Iterable[str]) -> list[str]:
    """The distinct names of the lists A,B."""
    names = (name for text in texts for name in parse_name_list(parameter.long_flag, text))
    return list(dict.fromkeys(names))


def _single_dash_flags(parameter: Parameter) -> list[str]:
    """mqadmin accepts -topic for --topic."""
    return [flag.replace("--", "-") for flag in parameter.flags if flag.startswith("--") and len(flag) > 3]


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if default is REQUIRED else default,
        annotation=annotation,
    )


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


def read_values(
    command: SessionCommand, values: Mapping[str, Any], batch_values: Mapping[str, Any] | None = None
) -> ParsedCommandLine:
    """Read the values that a command parsed.

    `batch_values` are the shared options of the batch that the line belongs to. They apply where the line
    sets no value itself. Raises UsageError.
    """
    shared_values = {parameter.name: values[parameter.name] for parameter in command.shared_parameters}
    if batch_values:
        shared_values = _apply_batch_values(command, shared_values, batch_values)
    return ParsedCommandLine(
        settings.resolve_options(
            shared_values, needs_connection=command.entry.kind not in ("local", "program")
        ),
        {parameter.name: values[parameter.name] for parameter in command.own_parameters},
        shared_values,
    )


def _apply_batch_values(
    command: SessionCommand, shared_values: Mapping[str, Any], batch_values: Mapping[str, Any]
) -> dict[str, Any]:
    entry = command.entry
    if batch_values.get("dry_run") and entry.kind == "local":
        raise UsageError(f"{entry.typed_name} does not support --dry-run, so it cannot run in this batch")
    own_names = {p.name for p in command.shared_parameters if shared_values[p.name] is not p.default}
    overridden_names = {
        name
        for overriding_names, affected_names in _OVERRIDDEN_NAMES
        if not own_names.isdisjoint(overriding_names)
        for name in affected_names
    }
    return {
        name: value if name in own_names | overridden_names else batch_values.get(name, value)
        for name, value in shared_values.items()
    }


def parse_command_line(entry: CommandEntry, words: Sequence[str]) -> ParsedCommandLine:
    """Parse the words after a command's name. Raises UsageError, and HelpRequested for --help."""
    command = build_command(entry, read_values)
    with command.make_context(entry.member_name, list(words)) as ctx:
        parsed_line: ParsedCommandLine = command.invoke(ctx)
    return parsed_line
