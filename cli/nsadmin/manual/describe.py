"""What there is to say of each command, read off its signature, docstring and declared columns."""

from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from importlib import import_module
from typing import NamedTuple

from nsadmin.commands import columns
from nsadmin.commands.documented import Example, documented
from nsadmin.commands.parameters import Described, describe
from nsadmin.registry import COMMANDS, Entry


class Command(NamedTuple):
    """One command: `words` stand by position, `text` are its paragraphs, `columns` those of its rows."""

    entry: Entry
    words: str
    text: list[str]
    options: list[Described]
    columns: dict[str, str]
    examples: list[Example]


def commands() -> list[Command]:
    """All commands, in the registry's order."""
    return [_command(entry) for entry in COMMANDS]


def _command(entry: Entry) -> Command:
    module = import_module(f"nsadmin.commands.{entry.module}")
    function = getattr(module, entry.function)
    if entry.kind == "program":
        words, options = _program(module.flags())
    else:
        words, options = describe(entry, function)
    text, examples = documented(function)
    return Command(entry, words, text, options, columns.of(entry.name, function), examples)


def _program(parser: ArgumentParser) -> tuple[str, list[Described]]:
    """A program's own parser: its sub-commands, and all their flags."""
    parsers, words = [parser], []
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            words += list(action.choices)
            parsers += action.choices.values()
    options = {option.flags: option for parser in parsers for option in _flags(parser)}
    return "|".join(words), list(options.values())


def _flags(parser: ArgumentParser) -> Iterator[Described]:
    for action in parser._actions:
        if action.option_strings:
            metavar = action.metavar if isinstance(action.metavar, str) else None
            yield Described(tuple(action.option_strings), metavar, action.help or "")
