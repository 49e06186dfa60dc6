"""Owns the end of a command's help: its columns and its examples."""

from collections.abc import Callable
from typing import Any

from nsadmin.command_line.docstrings import EXAMPLES_TITLE, parse_docstring
from nsadmin.commands.columns import meanings
from nsadmin.registry import CommandEntry


def format_help_sections(entry: CommandEntry, command_function: Callable[..., Any]) -> str:
    """The text of a command's columns and examples, which its help ends with."""
    help_parts = []
    column_meanings = meanings.column_meanings(entry.name, command_function)
    if column_meanings:
        name_width = max(map(len, column_meanings))
        help_parts.append(
            "\n".join(
                [
                    "Columns:",
                    *(
                        f"  {column_name:<{name_width}}  {meaning_text}"
                        for column_name, meaning_text in column_meanings.items()
                    ),
                ]
            )
        )
    examples = parse_docstring(command_function).examples
    if examples:
        example_lines = [f"  # {example.description}\n  {example.command_line}" for example in examples]
        help_parts.append("\n".join([EXAMPLES_TITLE, *example_lines]))
    return "\n\n".join(help_parts)
