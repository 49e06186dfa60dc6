"""mqadminMap: lists the nsadmin command for each command of mqadmin."""

from typing import Annotated

from nsadmin import registry
from nsadmin.client import NotFound
from nsadmin.command_line.declarations import Argument, declare_columns
from nsadmin.commands.mqadmin.known_commands import KNOWN_COMMANDS, MqadminCommand
from nsadmin.did_you_mean import did_you_mean, find_similar_names
from nsadmin.output import ResultRow, ResultRows
from nsadmin.session import Session

MAP_COLUMNS = ("mqadmin", "nsadmin", "status", "since", "note")


@declare_columns(MAP_COLUMNS)
def mqadmin_map(
    session: Session,
    command_name: Annotated[
        str | None,
        Argument(
            ("--command",),
            "COMMAND",
            "A command of mqadmin; all if left out.",
            required=False,
            value_source="|".join(known_command.name for known_command in KNOWN_COMMANDS),
        ),
    ],
) -> ResultRows:
    """Show what to type here for each command of mqadmin, and what is otherwise.

    All 96 commands of 5.5.0 are listed, and the 5 of 4.9 that are no more. Names and flags are mqadmin's
    where it says "same name"; nsadmin COMMAND --help has them all.

    Examples:
        # All of them
        nsadmin mqadminMap
        # One of them
        nsadmin mqadminMap updateTopic
        # What is otherwise than in mqadmin
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
        raise NotFound(f"mqadmin has no command {command_name!r}{_suggestion_text(command_name)}")
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
    similar_names = find_similar_names(
        command_name, (known_command.name for known_command in KNOWN_COMMANDS), 0.5
    )
    return f": {did_you_mean(similar_names)}" if similar_names else ""
