"""Word, Option and shows: how a command says what may stand behind its name, and what its rows have.

No parser is loaded.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

F = TypeVar("F", bound=Callable[..., object])


class Word(NamedTuple):
    """A text given by position or by a flag: `wipeWritePerm broker-a`, `wipeWritePerm -b broker-a`.

    `values` says what to offer on TAB where the metavar does not (see `nsadmin.complete.sources`).
    """

    flags: tuple[str, ...]
    metavar: str
    help: str
    required: bool = True
    may_be_empty: bool = False
    values: str | None = None


class Option:
    """A value behind a flag, or a flag alone; "--on/--off" is a pair of flags for true and false.

    `metavar` is what the value is called; `minimum` is the least that a number may be; `values` is as a
    Word's.
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
"""The default of what has none."""


class Parameter(NamedTuple):
    """A parameter of a command: `type` is what its signature says, such as `int | None`."""

    name: str
    type: Any
    declared: Word | Option
    default: Any


class Help(Exception):
    """Help was asked for; the text is the argument."""


HELP = Parameter("help_", bool, Option("-h", "--help", help="Show this and exit."), False)


def parameter(name: str, annotation: Any, default: Any) -> Parameter:
    """The parameter that is annotated so; the flag of a word may always be left out."""
    declared = next(extra for extra in annotation.__metadata__ if isinstance(extra, (Word, Option)))
    if isinstance(declared, Word):
        return Parameter(name, str | None, declared, None)
    return Parameter(name, annotation.__origin__, declared, default)


def parameters_of(function: Callable[..., Any]) -> list[Parameter]:
    """A command's parameters, but for the session. `inspect`, which knows the same, takes 8 ms to load."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    defaults = function.__defaults__ or ()
    required = [REQUIRED] * (len(names) - len(defaults))
    return [
        parameter(name, function.__annotations__[name], default)
        for name, default in list(zip(names, (*required, *defaults), strict=True))[1:]
    ]


def shows(*columns: Sequence[str]) -> Callable[[F], F]:
    """Declare the columns of a command's rows: those of each kind of rows that it may return.

    What each of them means stands in `columns.py`; help, man pages and the reference show it.
    """

    def declare(function: F) -> F:
        function.columns = tuple(dict.fromkeys(name for names in columns for name in names))  # type: ignore[attr-defined]
        return function

    return declare
