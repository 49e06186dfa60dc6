"""Finds commands in the table of commands by name, in any spelling."""

from collections.abc import Sequence

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
    """Find a command by name: topicRoute, TOPICROUTE, topic-route and topic_route are the same."""
    return _ALL_ENTRIES_BY_NAME.get(_plain_name(command_word))


def take_command(command_words: Sequence[str]) -> tuple[CommandEntry | None, list[str]]:
    """Return the command that a line begins with, named in one word or two, and the words after it."""
    command_entry = find_command(command_words[0])
    if command_entry is None and len(command_words) > 1 and command_words[1][:1].isalpha():
        command_entry = find_command(command_words[0] + command_words[1])
        if command_entry is not None:
            return command_entry, list(command_words[2:])
    return command_entry, list(command_words[1:])


def list_check_names() -> list[str]:
    """Return the names that can follow `check`."""
    return [check_entry.name[5:6].lower() + check_entry.name[6:] for check_entry in list_named_checks()]


def list_named_checks() -> list[CommandEntry]:
    """Return the commands that can also be typed as `check NAME`."""
    return [
        command_entry
        for command_entry in COMMANDS
        if command_entry.kind == "check" and command_entry.name.startswith("check")
    ]


def nearest_commands(command_word: str) -> list[str]:
    """Return up to three command names that are similar to this word."""
    return [
        _ENTRIES_BY_NAME[plain_name].name
        for plain_name in find_similar_names(_plain_name(command_word), _ENTRIES_BY_NAME, 0.5)
    ]
