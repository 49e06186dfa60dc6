"""Owns the command shapes: the parts of commands that completion scripts need, with shared options once."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nsadmin.command_line.parser import OptionDescription
from nsadmin.completion.value_sources import source_of_metavar
from nsadmin.manual.command_descriptions import CommandDescription
from nsadmin.registry import COMMAND_GROUPS, list_group_members

COMMAND_SOURCE = "commands"
"""The source of `nsadmin help COMMAND`."""
GROUP_FAMILY = "group"
"""The family of groups: after one, the next word completes the name of the command."""


class CompletionChoice(NamedTuple):
    """An option or a positional argument: flags, source of values (None without a value), help text."""

    flags: tuple[str, ...]
    value_source: str | None
    help_text: str

    @property
    def flag_spec(self) -> str:
        """The form in scripts: `-t,--topic=topics`, `-y,--yes`; `-v,--value=` has no source of values."""
        return ",".join(self.flags) + ("" if self.value_source is None else f"={self.value_source}")


class CommandShape(NamedTuple):
    """A command or a group: its own options, the family whose options it shares, the columns of its rows.

    A group has the names of its commands as its positional argument, and belongs to the family `group`.
    """

    command_name: str
    help_text: str
    positional_choices: tuple[CompletionChoice, ...]
    own_options: tuple[CompletionChoice, ...]
    family_name: str
    column_names: tuple[str, ...] = ()

    @property
    def column_choices(self) -> str:
        """The columns as a value source; a single column ends with a bar, too."""
        return "".join(f"{column_name}|" for column_name in self.column_names)

    @property
    def plain_name(self) -> str:
        """The name that is compared with what is typed: `kvget` for `kv get`, `kvGet` and `kv-get`."""
        return self.command_name.replace(" ", "").lower()

    @property
    def is_top_level(self) -> bool:
        """Whether the name is one word, so that it can follow `nsadmin` directly."""
        return " " not in self.command_name


class CommandShapes(NamedTuple):
    """All commands, the options of each family, and the options before any command."""

    command_shapes: tuple[CommandShape, ...]
    choices_by_family: dict[str, tuple[CompletionChoice, ...]]
    leading_choices: tuple[CompletionChoice, ...]

    @property
    def member_shapes(self) -> list[CommandShape]:
        """The commands of all groups."""
        return [command_shape for command_shape in self.command_shapes if not command_shape.is_top_level]

    @property
    def top_level_shapes(self) -> list[CommandShape]:
        """The groups, and the commands that belong to none."""
        return [command_shape for command_shape in self.command_shapes if command_shape.is_top_level]


_VERSION_CHOICE = CompletionChoice(("--version",), None, "Show the version and exit.")
_HELP_SHAPE = CommandShape(
    "help", "Help for a command or a group", (CompletionChoice((), COMMAND_SOURCE, ""),), (), "help"
)


def build_shapes(commands: Iterable[CommandDescription]) -> CommandShapes:
    """Build the shapes of all commands and groups."""
    commands_by_family: dict[str, list[CommandDescription]] = {}
    for command in commands:
        commands_by_family.setdefault(_family_of_command(command), []).append(command)
    choices_by_family = {
        family_name: _shared_choices(family_members)
        for family_name, family_members in commands_by_family.items()
    }
    command_shapes = [
        _shape_command(command, choices_by_family[_family_of_command(command)])
        for family_members in commands_by_family.values()
        for command in family_members
    ]
    # Every shared option is also allowed before the command.
    leading_choices = dict.fromkeys(
        (*choices_by_family["read"], *choices_by_family["change"], _VERSION_CHOICE)
    )
    return CommandShapes(
        (*command_shapes, *map(_shape_group, COMMAND_GROUPS), _HELP_SHAPE),
        {**choices_by_family, GROUP_FAMILY: (), "help": ()},
        tuple(leading_choices),
    )


def _shape_group(group_name: str) -> CommandShape:
    member_choices = "".join(f"{entry.member_name}|" for entry in list_group_members(group_name))
    return CommandShape(
        group_name,
        COMMAND_GROUPS[group_name],
        (CompletionChoice((), member_choices, ""),),
        (),
        GROUP_FAMILY,
    )


def _family_of_command(command: CommandDescription) -> str:
    return "change" if command.entry.kind == "delete" else command.entry.kind


def _shape_command(command: CommandDescription, shared_choices: Sequence[CompletionChoice]) -> CommandShape:
    option_choices = (_option_choice(option_choice) for option_choice in command.options)
    return CommandShape(
        command.entry.typed_name,
        command.entry.help,
        tuple(_option_choice(positional_option) for positional_option in command.positional_options),
        tuple(option_choice for option_choice in option_choices if option_choice not in shared_choices),
        _family_of_command(command),
        tuple(command.column_meanings),
    )


def _shared_choices(commands: Sequence[CommandDescription]) -> tuple[CompletionChoice, ...]:
    first_choices, *other_choices = [
        [_option_choice(option_choice) for option_choice in command.options] for command in commands
    ]
    return tuple(
        option_choice
        for option_choice in first_choices
        if all(option_choice in option_choices for option_choices in other_choices)
    )


def _option_choice(option_description: OptionDescription) -> CompletionChoice:
    value_source = (
        None
        if option_description.metavar is None
        else source_of_metavar(option_description.metavar, option_description.value_source)
    )
    return CompletionChoice(option_description.flags, value_source, option_description.help)
