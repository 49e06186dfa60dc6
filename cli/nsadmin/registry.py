"""Finds commands and groups of commands by name, in any spelling."""

from collections.abc import Sequence

from nsadmin.command_table import COMMAND_GROUPS as COMMAND_GROUPS
from nsadmin.command_table import COMMANDS as COMMANDS
from nsadmin.command_table import HIDDEN_COMMANDS
from nsadmin.command_table import CommandEntry as CommandEntry
from nsadmin.did_you_mean import find_similar_names


def _plain_name(command_name: str) -> str:
    return command_name.replace("-", "").replace("_", "").lower()


_ENTRIES_BY_NAME = {_plain_name(command_entry.name): command_entry for command_entry in COMMANDS}
_ALL_ENTRIES_BY_NAME = {
    **_ENTRIES_BY_NAME,
    **{_plain_name(command_entry.name): command_entry for command_entry in HIDDEN_COMMANDS},
}


def find_command(command_word: str) -> CommandEntry | None:
    """Find a command by its name in one word: topicRoute, TOPICROUTE, topic-route or topic_route."""
    return _ALL_ENTRIES_BY_NAME.get(_plain_name(command_word))


def find_group(command_word: str) -> str | None:
    """Return the name of a group of commands, such as `kv`, in any case."""
    group_name = command_word.lower()
    return group_name if group_name in COMMAND_GROUPS else None


def take_command(command_words: Sequence[str]) -> tuple[CommandEntry | None, list[str]]:
    """Return the command that a line begins with, named in one word or two, and the words after it."""
    command_entry = find_command(command_words[0])
    if command_entry is None and len(command_words) > 1 and command_words[1][:1].isalpha():
        command_entry = find_command(command_words[0] + command_words[1])
        if command_entry is not None:
            return command_entry, list(command_words[2:])
    return command_entry, list(command_words[1:])


def list_group_members(group_name: str) -> list[CommandEntry]:
    """Return the commands of a group, in the order of the table."""
    return [command_entry for command_entry in COMMANDS if command_entry.group == group_name]


def list_top_level_names() -> dict[str, str]:
    """Return the words that can follow `nsadmin`, with their help: groups, and commands that have none."""
    top_level_names: dict[str, str] = {}
    for command_entry in COMMANDS:
        if command_entry.group:
            top_level_names[command_entry.group] = COMMAND_GROUPS[command_entry.group]
        else:
            top_level_names[command_entry.name] = command_entry.help
    return top_level_names


def nearest_commands(command_word: str) -> list[str]:
    """Return up to three command names that are similar to this word."""
    return [
        _ENTRIES_BY_NAME[plain_name].typed_name
        for plain_name in find_similar_names(_plain_name(command_word), _ENTRIES_BY_NAME, 0.5)
    ]
