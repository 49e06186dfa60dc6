"""The error for words that name no command."""

from collections.abc import Sequence

from nsadmin.client.did_you_mean import did_you_mean
from nsadmin.command_line import registry
from nsadmin.console.exit_codes import CheckUsageError, UsageError


def unknown_command_error(command_words: Sequence[str]) -> UsageError:
    """Return the error, with the commands that the words probably mean."""
    group_name = registry.find_group(command_words[0])
    if group_name is not None:
        error_type = CheckUsageError if group_name == "check" else UsageError
        return error_type(_describe_unknown_member(group_name, command_words[1]))
    suggested_names = registry.suggest_commands(command_words)
    hint = did_you_mean(suggested_names) if suggested_names else "nsadmin --help lists the commands"
    return UsageError(f'unknown command "{command_words[0]}": {hint}')


def _describe_unknown_member(group_name: str, member_word: str) -> str:
    member_names = [member_entry.member_name for member_entry in registry.list_group_members(group_name)]
    if member_word.startswith("-"):
        return f'missing command after "{group_name}": use {", ".join(member_names)}'
    suggested_names = registry.suggest_members(group_name, member_word)
    hint = did_you_mean(suggested_names) if suggested_names else f"use {', '.join(member_names)}"
    return f'unknown command "{group_name} {member_word}": {hint}'
