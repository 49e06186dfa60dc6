"""Owns parsing of a command's docstring into paragraphs and, from its last section, examples.

    Examples:
        # Description of the example in one line
        nsadmin topicRoute orders

The examples run against `nsadmin lab up --namesrv-port 9876 --broker-port 10911`. The comment line ends with
an exit code other than 0, as in "(exit code 5)". Only help and the manual load this module.
"""

import inspect
import re
from collections.abc import Callable
from itertools import zip_longest
from typing import Any, NamedTuple

EXAMPLES_TITLE = "Examples:"
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


def parse_docstring(command: Callable[..., Any] | str) -> CommandDocstring:
    """Parse the docstring of a command; ValueError for an example without its comment or command line."""
    docstring = command if isinstance(command, str) else inspect.getdoc(command) or ""
    text, _, examples_section = docstring.partition(f"\n\n{EXAMPLES_TITLE}\n")
    paragraphs = [" ".join(raw_paragraph.split()) for raw_paragraph in text.split("\n\n")]
    return CommandDocstring(paragraphs, _parse_examples(examples_section))


def _parse_examples(examples_section: str) -> list[CommandExample]:
    section_lines = [line.strip() for line in examples_section.splitlines() if line.strip()]
    examples = []
    for about_line, command_line in zip_longest(section_lines[::2], section_lines[1::2], fillvalue=""):
        if not (about_line.startswith("# ") and command_line.startswith("nsadmin ")):
            raise ValueError(
                f"write # and a description, then nsadmin and arguments, not {about_line!r}, {command_line!r}"
            )
        exit_code_match = _EXIT_CODE_PATTERN.search(about_line)
        examples.append(
            CommandExample(command_line, about_line[2:], int(exit_code_match[1]) if exit_code_match else 0)
        )
    return examples


def strip_examples(docstring: str) -> str:
    return inspect.cleandoc(docstring).partition(f"\n\n{EXAMPLES_TITLE}\n")[0]
