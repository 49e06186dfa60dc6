"""Describes each command from its signature, docstring and declared columns."""

from importlib import import_module
from typing import NamedTuple

from nsadmin.command_line.docstrings import CommandExample, parse_docstring
from nsadmin.command_line.parser import OptionDescription, describe_command
from nsadmin.commands.columns import meanings
from nsadmin.help_pages.program_parts import (
    ProgramPart,
    describe_parts,
    flag_options,
    list_subcommands,
    positional_options,
    positional_words,
)
from nsadmin.registry import COMMANDS, CommandEntry


class CommandDescription(NamedTuple):
    """One command, for man pages, completions and the reference.

    `argument_words` are its positional arguments, described by `positional_options`. `text_paragraphs` are
    the paragraphs of its docstring. `program_parts` are the subcommands of a program, whose options are also
    among `options`.
    """

    entry: CommandEntry
    argument_words: str
    text_paragraphs: list[str]
    options: list[OptionDescription]
    column_meanings: dict[str, str]
    examples: list[CommandExample]
    positional_options: list[OptionDescription]
    program_parts: list[ProgramPart]


def describe_all_commands() -> list[CommandDescription]:
    """Describe all commands, in the registry's order."""
    return [_describe_entry(command_entry) for command_entry in COMMANDS]


def _describe_entry(command_entry: CommandEntry) -> CommandDescription:
    command_module = import_module(f"nsadmin.commands.{command_entry.module_name}")
    command_function = getattr(command_module, command_entry.function_name)
    if command_entry.kind == "program":
        flag_parser = command_module.flags()
        positional_arguments, option_descriptions, program_parts = (
            positional_options(flag_parser),
            flag_options(flag_parser),
            describe_parts(flag_parser, command_entry.typed_name),
        )
        argument_words = positional_words(positional_arguments)
        if program_parts:
            # A flag that several parts have is completed once.
            all_options = [
                *option_descriptions,
                *(
                    option
                    for program_part in program_parts
                    for option in program_part.options
                    if option.flags
                ),
            ]
            option_descriptions = list({option.flags: option for option in all_options}.values())
            positional_arguments += positional_options(list_subcommands(flag_parser)[0][1])
    else:
        program_parts = []
        argument_words, option_descriptions = describe_command(command_entry, command_function)
        positional_arguments = sorted(
            (option for option in option_descriptions if option.position_index is not None),
            key=lambda option: option.position_index or 0,
        )
    text_paragraphs, examples = parse_docstring(command_function)
    column_meanings = meanings.column_meanings(command_entry.name, command_function)
    return CommandDescription(
        command_entry,
        argument_words,
        text_paragraphs,
        option_descriptions,
        column_meanings,
        examples,
        positional_arguments,
        program_parts,
    )
