"""Owns the records that declare a command's arguments, options and columns.

Importing it loads no parser.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

F = TypeVar("F", bound=Callable[..., object])


class Word(NamedTuple):
    """A text given by position or by a flag: `wipeWritePerm broker-a`, `wipeWritePerm -b broker-a`.

    `value_source` names what TAB offers if the metavar does not say it (see `nsadmin.complete.sources`).
    """

    flags: tuple[str, ...]
    metavar: str
    help: str
    required: bool = True
    may_be_empty: bool = False
    values: str | None = None


class Option:
    """A flag with a value, or a flag alone; "--on/--off" is a pair of flags for true and false.

    `metavar` is the name of the value in the help, `minimum` the smallest number that the option accepts.
    `value_source` means the same as in `Argument`.
    """

    def __init__(
        self,
        *flags: str,
        metavar: str | None = None,
        help: str = "",
        minimum: int | None = None,
        values: str | None = None,
    ) -> None:
        self.flags = flags
        self.metavar = metavar
        self.help = help
        self.minimum = minimum
        self.values = values


REQUIRED = object()
"""The default of a parameter that has no default."""


class Parameter(NamedTuple):
    """A parameter of a command: `value_type` is the type in its signature, such as `int | None`."""

    name: str
    type: Any
    declared: Word | Option
    default: Any


class Help(Exception):
    """The operator asked for help; the exception's argument is the help text."""


HELP = Parameter("help_", bool, Option("-h", "--help", help="Show this and exit."), False)


def parameter(name: str, annotation: Any, default: Any) -> Parameter:
    """Build the parameter from its annotation; the flag of an `Argument` is always optional."""
    declared = next(extra for extra in annotation.__metadata__ if isinstance(extra, (Word, Option)))
    if isinstance(declared, Word):
        return Parameter(name, str | None, declared, None)
    return Parameter(name, annotation.__origin__, declared, default)


def parameters_of(function: Callable[..., Any]) -> list[Parameter]:
    """A command's parameters without the session. `inspect` would return the same, but takes 8 ms to load."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    defaults = function.__defaults__ or ()
    required = [REQUIRED] * (len(names) - len(defaults))
    return [
        parameter(name, function.__annotations__[name], default)
        for name, default in list(zip(names, (*required, *defaults), strict=True))[1:]
    ]


def shows(*columns: Sequence[str]) -> Callable[[F], F]:
    """Declare the columns of a command's rows: one sequence for each kind of rows that it can return.

    `nsadmin.commands.columns.meanings` explains each column; help, man pages and the reference show
    that text.
    """

    def declare(function: F) -> F:
        function.columns = tuple(dict.fromkeys(name for names in columns for name in names))  # type: ignore[attr-defined]
        return function

    return declare
