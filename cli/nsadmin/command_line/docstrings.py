"""Owns parsing of a command's docstring into paragraphs and, from its last section, examples.

    Examples:
        # What it does, in a line
        nsadmin topicRoute orders

The examples run against `nsadmin lab up --namesrv-port 9876 --broker-port 10911`. The comment line ends with
an exit code other than 0, as in "(exit code 5)". Only help and the manual load this module.
"""

import inspect
import re
from collections.abc import Callable
from itertools import zip_longest
from typing import Any, NamedTuple

from nsadmin.commands.columns import meanings
from nsadmin.registry import CommandEntry

_EXAMPLES_TITLE = "Examples:"
_EXIT_CODE_PATTERN = re.compile(r"\(exit code (\d+)\)$")


class CommandExample(NamedTuple):
    """An example: its command line, its description, and its exit code in the lab."""

    command_line: str
    description: str
    exit_code: int = 0


class CommandDocstring(NamedTuple):
    """A parsed docstring: its paragraphs, each as one line, and its examples."""

    paragraphs: list[str]
    examples: list[CommandExample]


def parse_docstring(command_function: Callable[..., Any]) -> CommandDocstring:
    """Parse a command's docstring; ValueError for an example without its comment or command line."""
    paragraph_text, _, examples_section = (inspect.getdoc(command_function) or "").partition(
        f"\n\n{_EXAMPLES_TITLE}\n"
    )
    paragraphs = [" ".join(raw_paragraph.split()) for raw_paragraph in paragraph_text.split("\n\n")]
    return CommandDocstring(paragraphs, _parse_examples(examples_section))


def _parse_examples(examples_section: str) -> list[CommandExample]:
    section_lines = [
        command_line.strip() for command_line in examples_section.splitlines() if command_line.strip()
    ]
    examples = []
    for about_line, command_line in zip_longest(section_lines[::2], section_lines[1::2], fillvalue=""):
        if not (about_line.startswith("# ") and command_line.startswith("nsadmin ")):
            raise ValueError(
                f"an example is a line with # and one with nsadmin, not {about_line!r} and {command_line!r}"
            )
        exit_code_match = _EXIT_CODE_PATTERN.search(about_line)
        examples.append(
            CommandExample(command_line, about_line[2:], int(exit_code_match[1]) if exit_code_match else 0)
        )
    return examples


def strip_examples(docstring: str) -> str:
    """The docstring without its examples."""
    return inspect.cleandoc(docstring).partition(f"\n\n{_EXAMPLES_TITLE}\n")[0]


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
        help_parts.append("\n".join([_EXAMPLES_TITLE, *example_lines]))
    return "\n\n".join(help_parts)
