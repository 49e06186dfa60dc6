"""Reads an incomplete command line: the command, the values so far, and the value that comes next."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from nsadmin import registry

if TYPE_CHECKING:
    from nsadmin.command_line.parser import OptionDescription


class LineState(NamedTuple):
    """The state at the end of the words.

    `awaited_option` is the option whose value comes next. `free_positions` are the positional arguments that
    the line does not have yet. `column_names` are the columns of the command's rows.
    """

    entry: registry.CommandEntry | None = None
    options: "Sequence[OptionDescription]" = ()
    values_by_metavar: Mapping[str, str] = {}
    awaited_option: "OptionDescription | None" = None
    free_positions: "Sequence[OptionDescription]" = ()
    column_names: Sequence[str] = ()


def read_command_line(words_before: Sequence[str]) -> LineState:
    """Read the words before the cursor. Values can be given by flag or by position."""
    # Imported late: words before a command need no usage.
    from nsadmin.command_line.parser import describe_command

    entry, words_after = _find_entry(words_before)
    if entry is None or entry.kind == "program":
        return LineState(entry)
    module = import_module(f"nsadmin.commands.{entry.module_name}")
    command_function = getattr(module, entry.function_name)
    _, options = describe_command(entry, command_function)
    options_by_flag = {flag_text: option for option in options for flag_text in option.flags}
    free_positions = sorted(
        (option for option in options if option.position_index is not None),
        key=lambda positional_option: positional_option.position_index or 0,
    )
    values_by_metavar: dict[str, str] = {}
    awaited_option: OptionDescription | None = None
    for word in words_after:
        flag_text, is_joined, joined_value = word.partition("=")
        option = options_by_flag.get(flag_text) if word.startswith("-") else None
        if awaited_option is not None:
            values_by_metavar[awaited_option.metavar or ""] = word
            awaited_option = None
        elif option is not None and option.metavar:
            free_positions = [position for position in free_positions if position is not option]
            values_by_metavar[option.metavar] = joined_value
            awaited_option = None if is_joined else option
        elif not word.startswith("-") and free_positions:
            values_by_metavar[free_positions.pop(0).metavar or ""] = word
    column_names = getattr(command_function, "columns", ())
    return LineState(entry, options, values_by_metavar, awaited_option, free_positions, column_names)


def _find_entry(words_before: Sequence[str]) -> tuple[registry.CommandEntry | None, Sequence[str]]:
    """The command on the line, and the words after it; words before it can be options and their values."""
    for word_index in range(len(words_before)):
        entry, words_after = registry.take_command(words_before[word_index:])
        if entry is not None:
            return entry, words_after
    return None, ()
