"""Describes each command from its signature, docstring and declared columns."""

from argparse import SUPPRESS, ArgumentParser, _SubParsersAction
from importlib import import_module
from typing import Any, NamedTuple

from nsadmin.command_line.docstrings import CommandExample, parse_docstring
from nsadmin.command_line.parser import OptionDescription, describe_command
from nsadmin.commands.columns import meanings
from nsadmin.registry import COMMANDS, CommandEntry


class ProgramPart(NamedTuple):
    """A subcommand of a program, such as `lab run`.

    `argument_words` are its positional arguments; `options` has them, too, without flags.
    """

    part_name: str
    argument_words: str
    help_text: str
    options: list[OptionDescription]


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
        positional_options, option_descriptions, program_parts = (
            _positional_options(flag_parser),
            _flag_options(flag_parser),
            _describe_parts(flag_parser, command_entry.name),
        )
        argument_words = _positional_words(positional_options)
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
            positional_options += _positional_options(_list_subcommands(flag_parser)[0][1])
    else:
        program_parts = []
        argument_words, option_descriptions = describe_command(command_entry, command_function)
        positional_options = sorted(
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
        positional_options,
        program_parts,
    )


def _positional_words(positional_options: list[OptionDescription]) -> str:
    return " ".join(positional_option.metavar or "" for positional_option in positional_options)


def _list_subcommands(parser: ArgumentParser) -> list[tuple[str, ArgumentParser, str]]:
    """A program's own commands: name, parser, help."""
    return [
        (subcommand_name, action.choices[subcommand_name], choice_action.help or "")
        for action in parser._actions
        if isinstance(action, _SubParsersAction)
        for subcommand_name, choice_action in zip(action.choices, action._choices_actions, strict=True)
    ]


def _describe_parts(parser: ArgumentParser, program_name: str) -> list[ProgramPart]:
    return [
        ProgramPart(
            f"{program_name} {subcommand_name}",
            _optional_words(subcommand_parser),
            help_text,
            [*_positional_options(subcommand_parser), *_flag_options(subcommand_parser)],
        )
        for subcommand_name, subcommand_parser, help_text in _list_subcommands(parser)
    ]


def _optional_words(parser: ArgumentParser) -> str:
    """Return the positional arguments; brackets mark those that can be left out."""
    positional_actions = [action for action in parser._actions if not action.option_strings]
    return " ".join(
        f"[{positional_action.metavar}]" if positional_action.nargs == "?" else str(positional_action.metavar)
        for positional_action in positional_actions
    )


def _positional_options(parser: ArgumentParser) -> list[OptionDescription]:
    """Return the positional arguments as options without flags."""
    return [
        OptionDescription(
            (),
            "|".join(action.choices or ()) or str(action.metavar or action.dest.upper()),
            action.help or "",
            _choice_source(action),
        )
        for action in parser._actions
        if not action.option_strings
    ]


def _choice_source(action: Any) -> str:
    """Return the choices of an argument as a value source; a single choice ends with a bar, too."""
    return "".join(f"{choice}|" for choice in action.choices or getattr(action, "values", ()))


def _flag_options(parser: ArgumentParser) -> list[OptionDescription]:
    flag_options = []
    for action in parser._actions:
        if action.option_strings and action.help != SUPPRESS:
            metavar = action.metavar if isinstance(action.metavar, str) else None
            # The ADDR of a server to start is not the address of a broker.
            choice_source = None if metavar in ("FILE", "DIR") else _choice_source(action)
            flag_options.append(
                OptionDescription(tuple(action.option_strings), metavar, action.help or "", choice_source)
            )
    return flag_options
