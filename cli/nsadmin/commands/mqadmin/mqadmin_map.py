"""Owns mqadminMap, which lists the nsadmin command for each command of mqadmin."""

from typing import Annotated

from typer import Argument

from nsadmin.client import NotFound
from nsadmin.client.did_you_mean import did_you_mean, find_similar_names
from nsadmin.command_line import registry
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.mqadmin.known_commands import KNOWN_COMMANDS, MqadminCommand
from nsadmin.console.output import Column, Columns, ResultRows
from nsadmin.console.session import Session


def _find_entry(known: MqadminCommand) -> registry.CommandEntry | None:
    return registry.find_command(known.name) or registry.find_command(known.replacement_name or "")


def _describe_status(known: MqadminCommand) -> str:
    if registry.find_command(known.name):
        return "same name"
    return "other command" if _find_entry(known) else "not yet"


MAP_COLUMNS: Columns[MqadminCommand] = (
    Column("mqadmin", "command of mqadmin", lambda k: k.name),
    Column(
        "nsadmin",
        "the command of nsadmin; null if there is none yet",
        lambda k: (entry := _find_entry(k)) and entry.typed_name,
    ),
    Column("status", "same name, other command or not yet", _describe_status),
    Column("since", "first version of mqadmin with this command", lambda k: k.since_release),
    Column("note", "differences from mqadmin", lambda k: k.note),
)


@command(columns=MAP_COLUMNS)
def mqadmin_map(
    session: Session,
    command_name: Annotated[
        str | None,
        Argument(metavar="COMMAND", help="A command of mqadmin. Default: all commands."),
        Flags("--command"),
        Values("|".join(c.name for c in KNOWN_COMMANDS)),
    ],
) -> ResultRows:
    """Show the nsadmin command for each command of mqadmin, and the differences.

    The list has all 96 commands of 5.5.0, and the 5 of 4.9 that 5.5.0 removed. If the status is "same name",
    names and flags are mqadmin's. nsadmin COMMAND --help lists all flags.

    Examples:
        # All commands
        nsadmin mqadminMap
        # One command
        nsadmin mqadminMap updateTopic
        # Differences from mqadmin
        nsadmin mqadminMap --filter 'note~mqadmin' --columns mqadmin,note
    """
    if command_name is None:
        return ResultRows.from_records(MAP_COLUMNS, KNOWN_COMMANDS)
    matches = [c for c in KNOWN_COMMANDS if c.name.lower() == command_name.lower()]
    if not matches:
        raise NotFound(f'unknown command of mqadmin "{command_name}"{_suggestion_text(command_name)}')
    return ResultRows.from_records(MAP_COLUMNS, matches)


def _suggestion_text(command_name: str) -> str:
    similar_names = find_similar_names(command_name, (c.name for c in KNOWN_COMMANDS))
    return f": {did_you_mean(similar_names)}" if similar_names else ": nsadmin mqadminMap lists all"
