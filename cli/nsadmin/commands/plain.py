"""Owns the fast parser: it returns what Typer would return for a plain command line, or None.

It leaves mistakes, `--help` and everything else that is not plain to Typer, which takes 50 ms to load.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from nsadmin.commands.declared import REQUIRED, Parameter, Word

_MANY = list[str] | None
_READ: dict[Any, Callable[[str], Any]] = {
    str: str, str | None: str, _MANY: str, int: int, int | None: int, float: float, float | None: float,
}  # fmt: skip


class Line(NamedTuple):
    """A parsed command line: the value of each parameter, and the positional words."""

    values: dict[str, Any]
    words: list[str]


class _Flag(NamedTuple):
    """`fixed_value` is the value that the flag alone stands for; None if a value follows the flag."""

    parameter: Parameter
    alone: bool | None


class _Unsure(Exception):
    """The line is not plain, so Typer has to parse it."""


def parse(parameters: Sequence[Parameter], args: Sequence[str]) -> Line | None:
    """Parse a plain line; None if Typer has to parse it."""
    try:
        return _line(parameters, args)
    except _Unsure:
        return None


def in_full(parameters: Sequence[Parameter], args: Sequence[str]) -> list[str]:
    """Write long names with two dashes where the line has one: mqadmin accepts -topic for --topic."""
    flags = dict(_flags(parameters))
    found: list[str] = []
    left = iter(args)
    for arg in left:
        if arg == "--":
            return [*found, arg, *left]
        if arg.startswith("-") and arg not in flags and f"-{arg.partition('=')[0]}" in flags:
            arg = f"-{arg}"
        found.append(arg)
        name, text = _split(arg, flags)
        if name in flags and flags[name].alone is None and text is None:
            found += [value for value in (next(left, None),) if value is not None]
    return found


def options_end(parameters: Sequence[Parameter], args: Sequence[str]) -> int:
    """The index of the first word that is no option, or that is an option not listed in `parameters`."""
    flags = dict(_flags(parameters))
    at = 0
    while at < len(args) and args[at].startswith("-"):
        name, text = _split(args[at], flags)
        if name not in flags:
            break
        at += 2 if flags[name].alone is None and text is None else 1
    return at


def flag_names(parameters: Sequence[Parameter]) -> list[str]:
    """Every flag of these parameters; both of a pair, such as `--tls` and `--no-tls`."""
    return [name for name, _ in _flags(parameters)]


def _line(parameters: Sequence[Parameter], args: Sequence[str]) -> Line:
    flags = dict(_flags(parameters))
    values = {parameter.name: parameter.default for parameter in parameters}
    words: list[str] = []
    left = iter(args)
    for arg in left:
        if arg == "--":
            words += left
        elif arg == "-" or not arg.startswith("-"):
            words.append(arg)
        else:
            parameter, value = _option(flags, arg, left)
            before = (values[parameter.name] or []) if parameter.type == _MANY else None
            values[parameter.name] = value if before is None else [*before, value]
    takes_words = any(isinstance(parameter.declared, Word) for parameter in parameters)
    if REQUIRED in values.values() or (words and not takes_words):
        raise _Unsure
    return Line(values, words)


def _flags(parameters: Sequence[Parameter]) -> Iterator[tuple[str, _Flag]]:
    for parameter in parameters:
        is_alone = parameter.type in (bool, bool | None)
        for flag in parameter.declared.flags:
            on, _, off = flag.partition("/")
            yield on, _Flag(parameter, True if is_alone else None)
            if off:
                yield off, _Flag(parameter, False)


def _option(flags: dict[str, _Flag], arg: str, left: Iterator[str]) -> tuple[Parameter, Any]:
    """The parameter of a flag, and its value, which can be the next argument."""
    name, text = _split(arg, flags)
    if name not in flags:
        raise _Unsure
    parameter, alone = flags[name]
    if alone is None:
        return parameter, _value(parameter, next(left, None) if text is None else text)
    if text is not None:
        raise _Unsure
    return parameter, alone


def _split(arg: str, flags: dict[str, _Flag]) -> tuple[str, str | None]:
    """Split --flag=TEXT and -fTEXT into flag and text."""
    if arg in flags:
        return arg, None
    name, equals, text = arg.partition("=")
    if equals and len(name) > 2 and name in flags:
        return name, text
    return arg[:2], arg[2:]


def _value(parameter: Parameter, text: str | None) -> Any:
    """Convert the text to the parameter's type."""
    read = _READ.get(parameter.type)
    if text is None or read is None:
        raise _Unsure
    try:
        value = read(text)
    except ValueError:
        raise _Unsure from None
    minimum = getattr(parameter.declared, "minimum", None)
    if minimum is not None and value < minimum:
        raise _Unsure
    return value
