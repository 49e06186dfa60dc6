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
    """One command: `words` stand by position, each in one of its `places`; `text` are its paragraphs.

    `columns` are those of its rows, with what they are.
    """

    entry: Entry
    words: str
    text: list[str]
    options: list[Described]
    columns: dict[str, str]
    examples: list[Example]
    places: list[Described]


def commands() -> list[Command]:
    """All commands, in the registry's order."""
    return [_command(entry) for entry in COMMANDS]


def _command(entry: Entry) -> Command:
    module = import_module(f"nsadmin.commands.{entry.module}")
    function = getattr(module, entry.function)
    if entry.kind == "program":
        places, options = _program(module.flags())
        words = " ".join(place.metavar or "" for place in places)
    else:
        words, options = describe(entry, function)
        places = sorted(
            (item for item in options if item.place is not None), key=lambda item: item.place or 0
        )
    text, examples = documented(function)
    return Command(entry, words, text, options, columns.of(entry.name, function), examples, places)


def _program(parser: ArgumentParser) -> tuple[list[Described], list[Described]]:
    """A program's own parser: what stands by position, and all flags, those of its sub-commands too."""
    parsers, places = [parser], []
    for action in parser._actions:
        if not action.option_strings:
            choices = list(action.choices or ())
            # A choice of one is a choice, too.
            values = "".join(f"{choice}|" for choice in choices)
            places.append(Described((), "|".join(choices) or action.dest.upper(), action.help or "", values))
        if isinstance(action, _SubParsersAction):
            parsers += action.choices.values()
    options = {option.flags: option for parser in parsers for option in _flags(parser)}
    return places, list(options.values())


def _flags(parser: ArgumentParser) -> Iterator[Described]:
    for action in parser._actions:
        if action.option_strings:
            metavar = action.metavar if isinstance(action.metavar, str) else None
            # An ADDR of a server that is to be started is no broker's.
            values = None if metavar in ("FILE", "DIR") else ""
            yield Described(tuple(action.option_strings), metavar, action.help or "", values)
