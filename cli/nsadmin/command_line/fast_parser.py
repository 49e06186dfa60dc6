"""Owns the fast parser: it returns what Typer would return for a plain command line, or None.

It leaves mistakes, joined short options and everything else that is not plain to Typer, which takes 50 ms to
load.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from nsadmin.command_line.declarations import HELP_PARAMETER, NO_DEFAULT, Parameter

_HELP_FLAGS = frozenset(HELP_PARAMETER.declaration.flags)
_TEXT_LIST = list[str] | None
_CONVERTERS: dict[Any, Callable[[str], Any]] = {
    str: str, str | None: str, _TEXT_LIST: str, int: int, int | None: int, float: float, float | None: float,
}  # fmt: skip


class ParameterValues(NamedTuple):
    """A parsed command line: the value of each parameter, and the positional words."""

    values: dict[str, Any]
    positional_words: list[str]


class _FlagMeaning(NamedTuple):
    """`fixed_value` is the value that the flag alone stands for; None if a value follows the flag."""

    parameter: Parameter
    fixed_value: bool | None


class _NeedsTyperError(Exception):
    """The line is not plain, so Typer has to parse it."""


def parse_plain_line(parameters: Sequence[Parameter], raw_args: Sequence[str]) -> ParameterValues | None:
    """Parse a plain line; None if Typer has to parse it."""
    try:
        return _parse_values(parameters, raw_args)
    except _NeedsTyperError:
        return None


def expand_single_dashes(parameters: Sequence[Parameter], raw_args: Sequence[str]) -> list[str]:
    """Write long names with two dashes where the line has one: mqadmin accepts -topic for --topic."""
    flag_meanings = dict(_iter_flags(parameters))
    expanded_arguments: list[str] = []
    remaining_arguments = iter(raw_args)
    for argument_text in remaining_arguments:
        if argument_text == "--":
            return [*expanded_arguments, argument_text, *remaining_arguments]
        if (
            argument_text.startswith("-")
            and argument_text not in flag_meanings
            and f"-{argument_text.partition('=')[0]}" in flag_meanings
        ):
            argument_text = f"-{argument_text}"
        expanded_arguments.append(argument_text)
        flag_name, joined_text = _split_flag(argument_text, flag_meanings)
        if (
            flag_name in flag_meanings
            and flag_meanings[flag_name].fixed_value is None
            and joined_text is None
        ):
            expanded_arguments += [
                next_argument
                for next_argument in (next(remaining_arguments, None),)
                if next_argument is not None
            ]
    return expanded_arguments


def asks_for_help(parameters: Sequence[Parameter], raw_args: Sequence[str]) -> bool:
    """Whether -h or --help is among the options; the value of another option does not count."""
    if not _HELP_FLAGS.intersection(raw_args):
        return False
    flag_meanings = dict(_iter_flags(parameters))
    remaining_arguments = iter(raw_args)
    for argument_text in remaining_arguments:
        if argument_text == "--":
            return False
        if argument_text in _HELP_FLAGS:
            return True
        flag_meaning = flag_meanings.get(argument_text)
        if flag_meaning is not None and flag_meaning.fixed_value is None:
            next(remaining_arguments, None)
    return False


def find_options_end(parameters: Sequence[Parameter], raw_args: Sequence[str]) -> int:
    """The index of the first word that is no option, or that is an option not listed in `parameters`."""
    flag_meanings = dict(_iter_flags(parameters))
    argument_index = 0
    while argument_index < len(raw_args) and raw_args[argument_index].startswith("-"):
        flag_name, joined_text = _split_flag(raw_args[argument_index], flag_meanings)
        if flag_name not in flag_meanings:
            break
        argument_index += 2 if flag_meanings[flag_name].fixed_value is None and joined_text is None else 1
    return argument_index


def flag_names(parameters: Sequence[Parameter]) -> list[str]:
    """Every flag of these parameters; both of a pair, such as `--tls` and `--no-tls`."""
    return [flag_name for flag_name, _ in _iter_flags(parameters)]


def _parse_values(parameters: Sequence[Parameter], raw_args: Sequence[str]) -> ParameterValues:
    flag_meanings = dict(_iter_flags(parameters))
    values = {parameter.name: parameter.default for parameter in parameters}
    positional_words: list[str] = []
    remaining_arguments = iter(raw_args)
    for argument_text in remaining_arguments:
        if argument_text == "--":
            positional_words += remaining_arguments
        elif argument_text == "-" or not argument_text.startswith("-"):
            positional_words.append(argument_text)
        else:
            parameter, value = _parse_option(flag_meanings, argument_text, remaining_arguments)
            earlier_values = (values[parameter.name] or []) if parameter.value_type == _TEXT_LIST else None
            values[parameter.name] = value if earlier_values is None else [*earlier_values, value]
    if NO_DEFAULT in values.values():
        raise _NeedsTyperError
    return ParameterValues(values, positional_words)


def _iter_flags(parameters: Sequence[Parameter]) -> Iterator[tuple[str, _FlagMeaning]]:
    for parameter in parameters:
        takes_no_value = parameter.value_type in (bool, bool | None)
        for flag_pair in parameter.declaration.accepted_flags:
            on_flag, _, off_flag = flag_pair.partition("/")
            yield on_flag, _FlagMeaning(parameter, True if takes_no_value else None)
            if off_flag:
                yield off_flag, _FlagMeaning(parameter, False)


def _parse_option(
    flag_meanings: dict[str, _FlagMeaning], argument_text: str, remaining_arguments: Iterator[str]
) -> tuple[Parameter, Any]:
    """The parameter of a flag, and its value, which can be the next argument."""
    flag_name, joined_text = _split_flag(argument_text, flag_meanings)
    if flag_name not in flag_meanings:
        raise _NeedsTyperError
    parameter, fixed_value = flag_meanings[flag_name]
    if fixed_value is None:
        return parameter, _convert_value(
            parameter, next(remaining_arguments, None) if joined_text is None else joined_text
        )
    if joined_text is not None:
        raise _NeedsTyperError
    return parameter, fixed_value


def _split_flag(argument_text: str, flag_meanings: dict[str, _FlagMeaning]) -> tuple[str, str | None]:
    """Split --flag=TEXT and -fTEXT into flag and text."""
    if argument_text in flag_meanings:
        return argument_text, None
    flag_name, equals_sign, joined_text = argument_text.partition("=")
    if equals_sign and len(flag_name) > 2 and flag_name in flag_meanings:
        return flag_name, joined_text
    return argument_text[:2], argument_text[2:]


def _convert_value(parameter: Parameter, value_text: str | None) -> Any:
    """Convert the text to the parameter's type."""
    convert_text = _CONVERTERS.get(parameter.value_type)
    if value_text is None or convert_text is None:
        raise _NeedsTyperError
    try:
        value = convert_text(value_text)
    except ValueError:
        raise _NeedsTyperError from None
    minimum = getattr(parameter.declaration, "minimum", None)
    if minimum is not None and value < minimum:
        raise _NeedsTyperError
    return value
