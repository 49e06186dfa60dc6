"""Owns the records that declare a command's arguments, options and columns.

Importing it loads no parser.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

F = TypeVar("F", bound=Callable[..., object])


class Argument(NamedTuple):
    """A text given by position or by a flag: `wipeWritePerm broker-a`, `wipeWritePerm -b broker-a`.

    `value_source` names what TAB offers if the metavar does not say it (`nsadmin.completion.value_sources`).
    `required_unless` means the same as in `Option`. `example` is a value for the error about a missing
    argument.
    """

    flags: tuple[str, ...]
    metavar: str
    help: str
    required: bool = True
    may_be_empty: bool = False
    value_source: str | None = None
    required_unless: str | None = None
    example: str | None = None

    @property
    def accepted_flags(self) -> tuple[str, ...]:
        return self.flags


class Option:
    """A flag with a value, or a flag alone; "--on/--off" is a pair of flags for true and false.

    `metavar` is the name of the value in the help, `minimum` the smallest number that the option accepts.
    `value_source` means the same as in `Argument`. `required_unless` names the parameters, separated by "|",
    each of whose values makes this option optional; None for an option that is always optional.
    `hidden_flags` are accepted and shown nowhere: they are former names.
    """

    def __init__(
        self,
        *flags: str,
        metavar: str | None = None,
        help: str = "",
        minimum: int | None = None,
        value_source: str | None = None,
        required_unless: str | None = None,
        hidden_flags: tuple[str, ...] = (),
    ) -> None:
        self.flags = flags
        self.metavar = metavar
        self.help = help
        self.minimum = minimum
        self.value_source = value_source
        self.required_unless = required_unless
        self.hidden_flags = hidden_flags

    @property
    def accepted_flags(self) -> tuple[str, ...]:
        return (*self.flags, *self.hidden_flags)


NO_DEFAULT = object()
"""The default of a parameter that has no default."""


class Parameter(NamedTuple):
    """A parameter of a command: `value_type` is the type in its signature, such as `int | None`."""

    name: str
    value_type: Any
    declaration: Argument | Option
    default: Any

    @property
    def alternative_names(self) -> tuple[str, ...]:
        """The parameters each of whose values makes this one optional."""
        return tuple(filter(None, (self.declaration.required_unless or "").split("|")))


class HelpRequested(Exception):
    """The operator asked for the help of a command."""


HELP_PARAMETER = Parameter("help_", bool, Option("-h", "--help", help="Show this help."), False)


def build_parameter(name: str, annotation: Any, default: Any) -> Parameter:
    """Build the parameter from its annotation; the flag of an `Argument` is always optional."""
    declaration = next(
        annotation_extra
        for annotation_extra in annotation.__metadata__
        if isinstance(annotation_extra, (Argument, Option))
    )
    if isinstance(declaration, Argument):
        return Parameter(name, str | None, declaration, None)
    return Parameter(name, annotation.__origin__, declaration, default)


def command_parameters(function: Callable[..., Any]) -> list[Parameter]:
    """A command's parameters without the session. `inspect` would return the same, but takes 8 ms to load."""
    code_object = function.__code__
    parameter_names = code_object.co_varnames[: code_object.co_argcount]
    defaults = function.__defaults__ or ()
    missing_defaults = [NO_DEFAULT] * (len(parameter_names) - len(defaults))
    return [
        build_parameter(parameter_name, function.__annotations__[parameter_name], default)
        for parameter_name, default in list(
            zip(parameter_names, (*missing_defaults, *defaults), strict=True)
        )[1:]
    ]


def declare_columns(*column_groups: Sequence[str]) -> Callable[[F], F]:
    """Declare the columns of a command's rows: one sequence for each kind of rows that it can return.

    `nsadmin.commands.columns.meanings` explains each column; help, man pages and the reference show that
    text.
    """

    def set_columns(command_function: F) -> F:
        column_names = dict.fromkeys(name for column_group in column_groups for name in column_group)
        command_function.columns = tuple(column_names)  # type: ignore[attr-defined]
        return command_function

    return set_columns
