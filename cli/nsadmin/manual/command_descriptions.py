"""Describes each command from its signature, docstring and declared columns."""

from typing import NamedTuple

from nsadmin.command_line.declarations import Parameter, command_parameters, declaration_of
from nsadmin.command_line.docstrings import CommandExample, parse_docstring
from nsadmin.command_line.registry import COMMANDS, CommandEntry
from nsadmin.command_line.usage import usage_words


class CommandDescription(NamedTuple):
    """One command, for man pages and the reference; `argument_words` follow its name in the usage."""

    entry: CommandEntry
    argument_words: str
    text_paragraphs: list[str]
    parameters: list[Parameter]
    column_meanings: dict[str, str]
    examples: list[CommandExample]


def describe_all_commands() -> list[CommandDescription]:
    """Describe all commands, in the registry's order."""
    return [_describe_entry(entry) for entry in COMMANDS]


def _describe_entry(entry: CommandEntry) -> CommandDescription:
    function = entry.load_function()
    parameters = command_parameters(function)
    text_paragraphs, examples = parse_docstring(function)
    return CommandDescription(
        entry,
        usage_words(parameters),
        text_paragraphs,
        parameters,
        declaration_of(function).column_meanings,
        examples,
    )
