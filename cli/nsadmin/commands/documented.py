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

from nsadmin.commands import columns
from nsadmin.registry import Entry

_TITLE = "Examples:"
_EXIT_CODE = re.compile(r"\(exit code (\d+)\)$")


class Example(NamedTuple):
    """An example: its command line, its description, and its exit code in the lab."""

    line: str
    about: str
    exit_code: int = 0


class Documented(NamedTuple):
    """A parsed docstring: its paragraphs, each as one line, and its examples."""

    paragraphs: list[str]
    examples: list[Example]


def documented(function: Callable[..., Any]) -> Documented:
    """Parse a command's docstring; ValueError for an example without its comment or command line."""
    text, _, section = (inspect.getdoc(function) or "").partition(f"\n\n{_TITLE}\n")
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    return Documented(paragraphs, _examples(section))


def _examples(section: str) -> list[Example]:
    lines = [line.strip() for line in section.splitlines() if line.strip()]
    found = []
    for about, line in zip_longest(lines[::2], lines[1::2], fillvalue=""):
        if not (about.startswith("# ") and line.startswith("nsadmin ")):
            raise ValueError(f"an example is a line with # and one with nsadmin, not {about!r} and {line!r}")
        code = _EXIT_CODE.search(about)
        found.append(Example(line, about[2:], int(code[1]) if code else 0))
    return found


def description(doc: str) -> str:
    """The docstring without its examples."""
    return inspect.cleandoc(doc).partition(f"\n\n{_TITLE}\n")[0]


def help_sections(entry: Entry, function: Callable[..., Any]) -> str:
    """The text of a command's columns and examples, which its help ends with."""
    parts = []
    meanings = columns.of(entry.name, function)
    if meanings:
        width = max(map(len, meanings))
        parts.append(
            "\n".join(["Columns:", *(f"  {name:<{width}}  {text}" for name, text in meanings.items())])
        )
    examples = documented(function).examples
    if examples:
        lines = [f"  # {example.about}\n  {example.line}" for example in examples]
        parts.append("\n".join([_TITLE, *lines]))
    return "\n\n".join(parts)
