"""Shapes: what a completion has to know of the commands, with what several have in common said once."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nsadmin.command_line.parser import OptionDescription
from nsadmin.complete.sources import source_of
from nsadmin.manual.describe import Command

COMMANDS = "commands"
"""The source of `nsadmin help COMMAND`."""


class Choice(NamedTuple):
    """An option or a place: its flags, the source of its values (None: it has none), what it is for."""

    flags: tuple[str, ...]
    source: str | None
    help: str

    @property
    def spec(self) -> str:
        """As scripts have it: `-t,--topic=topics`, `-y,--yes`, `-v,--value=` for values that nobody knows."""
        return ",".join(self.flags) + ("" if self.source is None else f"={self.source}")


class Shape(NamedTuple):
    """A command: `options` are its own, `family` names those that it shares, `columns` are of its rows."""

    name: str
    help: str
    places: tuple[Choice, ...]
    options: tuple[Choice, ...]
    family: str
    columns: tuple[str, ...] = ()

    @property
    def choices(self) -> str:
        """The columns as a source has choices; one of them is a choice, too."""
        return "".join(f"{column}|" for column in self.columns)

    @property
    def plain_name(self) -> str:
        """The name with which all spellings are compared."""
        return self.name.lower()


class Shapes(NamedTuple):
    """All commands, the options of each family, and the options before any command."""

    commands: tuple[Shape, ...]
    families: dict[str, tuple[Choice, ...]]
    front: tuple[Choice, ...]


_VERSION = Choice(("--version",), None, "Show the version and exit.")
_HELP = Shape("help", "More on one command", (Choice((), COMMANDS, ""),), (), "help")


def shapes(commands: Iterable[Command]) -> Shapes:
    """What there is to know."""
    groups: dict[str, list[Command]] = {}
    for command in commands:
        groups.setdefault(_family(command), []).append(command)
    families = {name: _shared(members) for name, members in groups.items()}
    found = [
        _shape(command, families[_family(command)]) for members in groups.values() for command in members
    ]
    # Whatever may stand behind all that read or all that change something, may stand before them.
    front = dict.fromkeys((*families["read"], *families["change"], _VERSION))
    return Shapes((*found, _HELP), {**families, "help": ()}, tuple(front))


def _family(command: Command) -> str:
    return "change" if command.entry.kind == "delete" else command.entry.kind


def _shape(command: Command, shared: Sequence[Choice]) -> Shape:
    options = (_choice(option) for option in command.options)
    return Shape(
        command.entry.name,
        command.entry.help,
        tuple(_choice(place) for place in command.places),
        tuple(option for option in options if option not in shared),
        _family(command),
        tuple(command.columns),
    )


def _shared(commands: Sequence[Command]) -> tuple[Choice, ...]:
    first, *others = [[_choice(option) for option in command.options] for command in commands]
    return tuple(option for option in first if all(option in options for options in others))


def _choice(item: OptionDescription) -> Choice:
    source = None if item.metavar is None else source_of(item.metavar, item.value_source)
    return Choice(item.flags, source, item.help)
