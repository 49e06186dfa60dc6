"""What there is to say of each command, read off its signature, docstring and declared columns."""

from argparse import ArgumentParser, _SubParsersAction
from importlib import import_module
from typing import Any, NamedTuple

from nsadmin.command_line.docstrings import CommandExample, parse_docstring
from nsadmin.command_line.parser import OptionDescription, describe_command
from nsadmin.commands.columns import meanings
from nsadmin.registry import COMMANDS, Entry


class Part(NamedTuple):
    """What a program takes behind one of its own commands, such as `lab run`: `words` stand by position.

    They are among the `options` too, without flags.
    """

    name: str
    words: str
    help: str
    options: list[OptionDescription]


class Command(NamedTuple):
    """One command: `words` stand by position, each in one of its `places`; `text` are its paragraphs.

    `columns` are those of its rows, with what they are. A program that has commands of its own has `parts`,
    and their options among its options.
    """

    entry: Entry
    words: str
    text: list[str]
    options: list[OptionDescription]
    columns: dict[str, str]
    examples: list[CommandExample]
    places: list[OptionDescription]
    parts: list[Part]


def commands() -> list[Command]:
    """All commands, in the registry's order."""
    return [_command(entry) for entry in COMMANDS]


def _command(entry: Entry) -> Command:
    module = import_module(f"nsadmin.commands.{entry.module}")
    function = getattr(module, entry.function)
    if entry.kind == "program":
        flags = module.flags()
        places, options, parts = _places(flags), _flags(flags), _parts(flags, entry.name)
        words = _words(places)
        if parts:
            # Of the same flag of several parts one is enough for a completion.
            every = [*options, *(option for part in parts for option in part.options if option.flags)]
            options = list({option.flags: option for option in every}.values())
            places += _places(_commands(flags)[0][1])
    else:
        parts = []
        words, options = describe_command(entry, function)
        places = sorted(
            (item for item in options if item.position_index is not None),
            key=lambda item: item.position_index or 0,
        )
    text, examples = parse_docstring(function)
    shown = meanings.column_meanings(entry.name, function)
    return Command(entry, words, text, options, shown, examples, places, parts)


def _words(places: list[OptionDescription]) -> str:
    return " ".join(place.metavar or "" for place in places)


def _commands(parser: ArgumentParser) -> list[tuple[str, ArgumentParser, str]]:
    """A program's own commands: name, parser, help."""
    return [
        (name, action.choices[name], choice.help or "")
        for action in parser._actions
        if isinstance(action, _SubParsersAction)
        for name, choice in zip(action.choices, action._choices_actions, strict=True)
    ]


def _parts(parser: ArgumentParser, program: str) -> list[Part]:
    return [
        Part(f"{program} {name}", _optional_words(command), text, [*_places(command), *_flags(command)])
        for name, command, text in _commands(parser)
    ]


def _optional_words(parser: ArgumentParser) -> str:
    """Words by position, in brackets where they may be left out."""
    places = [action for action in parser._actions if not action.option_strings]
    return " ".join(f"[{place.metavar}]" if place.nargs == "?" else str(place.metavar) for place in places)


def _places(parser: ArgumentParser) -> list[OptionDescription]:
    """What stands by position."""
    return [
        OptionDescription(
            (),
            "|".join(action.choices or ()) or str(action.metavar or action.dest.upper()),
            action.help or "",
            _choices(action),
        )
        for action in parser._actions
        if not action.option_strings
    ]


def _choices(action: Any) -> str:
    """What there is to choose from; a choice of one is a choice, too."""
    return "".join(f"{choice}|" for choice in action.choices or getattr(action, "values", ()))


def _flags(parser: ArgumentParser) -> list[OptionDescription]:
    found = []
    for action in parser._actions:
        if action.option_strings:
            metavar = action.metavar if isinstance(action.metavar, str) else None
            # An ADDR of a server that is to be started is no broker's.
            values = None if metavar in ("FILE", "DIR") else _choices(action)
            found.append(OptionDescription(tuple(action.option_strings), metavar, action.help or "", values))
    return found
