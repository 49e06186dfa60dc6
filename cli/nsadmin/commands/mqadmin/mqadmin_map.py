"""Owns mqadminMap, which lists the nsadmin command for each command of mqadmin."""

from typing import Annotated

from typer import Argument

from nsadmin.client import NotFound
from nsadmin.client.did_you_mean import did_you_mean, find_similar_names
from nsadmin.command_line import registry
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.mqadmin.known_commands import KNOWN_COMMANDS, MqadminCommand
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.session import Session

MAP_COLUMNS = ("mqadmin", "nsadmin", "status", "since", "note")


@command(columns=MAP_COLUMNS)
def mqadmin_map(
    session: Session,
    command_name: Annotated[
        str | None,
        Argument(metavar="COMMAND", help="A command of mqadmin. Default: all commands."),
        Flags("--command"),
        Values("|".join(known_command.name for known_command in KNOWN_COMMANDS)),
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
        return ResultRows(MAP_COLUMNS, [_map_row(known_command) for known_command in KNOWN_COMMANDS])
    matching_commands = [
        known_command
        for known_command in KNOWN_COMMANDS
        if known_command.name.lower() == command_name.lower()
    ]
    if not matching_commands:
        raise NotFound(f'unknown command of mqadmin "{command_name}"{_suggestion_text(command_name)}')
    return ResultRows(MAP_COLUMNS, [_map_row(known_command) for known_command in matching_commands])


def _map_row(known_command: MqadminCommand) -> ResultRow:
    same_entry = registry.find_command(known_command.name)
    entry = same_entry or registry.find_command(known_command.replacement_name or "")
    status = "same name" if same_entry else "other command" if entry else "not yet"
    return {
        "mqadmin": known_command.name,
        "nsadmin": entry and entry.typed_name,
        "status": status,
        "since": known_command.since_release,
        "note": known_command.note,
    }


def _suggestion_text(command_name: str) -> str:
    similar_names = find_similar_names(command_name, (known_command.name for known_command in KNOWN_COMMANDS))
    return f": {did_you_mean(similar_names)}" if similar_names else ": nsadmin mqadminMap lists all"
