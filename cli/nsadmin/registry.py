"""Finds commands and groups of commands by name, in any spelling."""

from collections.abc import Sequence

from nsadmin.command_records import CommandCategory
from nsadmin.command_records import CommandEntry as CommandEntry
from nsadmin.command_table import CATEGORIES as CATEGORIES
from nsadmin.command_table import COMMAND_GROUPS as COMMAND_GROUPS
from nsadmin.command_table import COMMANDS as COMMANDS
from nsadmin.command_table import HIDDEN_COMMANDS
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


def find_category(handle: str) -> CommandCategory | None:
    """Return the category with this handle, such as `topics`, in any case."""
    return next((category for category in CATEGORIES if category.handle == handle.lower()), None)


def list_category_members(category: CommandCategory) -> list[CommandEntry]:
    """Return the commands of a category, in the order of the table."""
    return [command_entry for command_entry in COMMANDS if command_entry.category == category]


def list_top_level_names() -> dict[str, str]:
    """Return the words that can follow `nsadmin`, with their help: groups, and commands that have none."""
    top_level_names: dict[str, str] = {}
    for command_entry in COMMANDS:
        if command_entry.group:
            top_level_names[command_entry.group] = COMMAND_GROUPS[command_entry.group]
        else:
            top_level_names[command_entry.name] = command_entry.help
    return top_level_names


_NEAR_RATIO, _FAR_RATIO = 0.85, 0.6
"""Similarity (`difflib`) of a slip of the finger, and of a name that may be meant."""
_MIN_PREFIX_LENGTH = 3
_LOCAL_CHANGES = frozenset(
    ("contextDelete", "contextLogin", "contextSet", "contextUse", "inventoryForget", "inventoryPin")
)
"""Commands that change no server, but files of this account."""


def suggest_commands(command_words: Sequence[str]) -> list[str]:
    """Return up to three commands that the first words probably mean.

    The order of preference: a synonym, a spelling mistake in a name, a spelling mistake in a synonym, the
    beginning of a name, a distant similarity. For the last three, only commands that change nothing are
    suggested.
    """
    return (
        _commands_of_synonym(command_words)
        or _similar_commands(command_words[0], _NEAR_RATIO, may_change=True)
        or _commands_of_similar_synonym(command_words[0])
        or _commands_with_prefix(command_words[0])
        or _similar_commands(command_words[0], _FAR_RATIO, may_change=False)
    )


def suggest_members(group_name: str, member_word: str) -> list[str]:
    """Return the commands of a group that are spelled similarly, or that a synonym means."""
    synonym_commands = _commands_of_synonym([group_name, member_word])
    if synonym_commands != _commands_of_synonym([group_name]):
        return synonym_commands
    typed_names = {
        member_entry.member_name: member_entry.typed_name for member_entry in list_group_members(group_name)
    }
    return [typed_names[member_name] for member_name in find_similar_names(member_word, typed_names, 0.6)]


def _commands_of_synonym(command_words: Sequence[str]) -> list[str]:
    # Imported late: few command lines need it.
    from nsadmin.command_synonyms import COMMANDS_BY_SYNONYM, VERBS

    plain_words = [_plain_name(command_word) for command_word in command_words[:2]]
    candidates = ["".join(plain_words), *(plain_words[1:] if plain_words[0] in VERBS else ()), plain_words[0]]
    return next(
        (
            list(COMMANDS_BY_SYNONYM[candidate])
            for candidate in candidates
            if candidate in COMMANDS_BY_SYNONYM
        ),
        [],
    )


def _is_harmless(command_entry: CommandEntry) -> bool:
    return not command_entry.may_change and command_entry.name not in _LOCAL_CHANGES


def _commands_of_similar_synonym(command_word: str) -> list[str]:
    from nsadmin.command_synonyms import COMMANDS_BY_SYNONYM

    suggested_entries = (
        take_command(command_name.split())[0]
        for synonym in find_similar_names(_plain_name(command_word), COMMANDS_BY_SYNONYM, _NEAR_RATIO)
        for command_name in COMMANDS_BY_SYNONYM[synonym]
    )
    return [entry.typed_name for entry in suggested_entries if entry and _is_harmless(entry)][:3]


def _similar_commands(command_word: str, min_ratio: float, *, may_change: bool) -> list[str]:
    plain_names = [
        plain_name
        for plain_name, command_entry in _ENTRIES_BY_NAME.items()
        if may_change or _is_harmless(command_entry)
    ]
    return [
        _ENTRIES_BY_NAME[plain_name].typed_name
        for plain_name in find_similar_names(_plain_name(command_word), plain_names, min_ratio)
    ]


def _commands_with_prefix(command_word: str) -> list[str]:
    plain_word = _plain_name(command_word)
    if len(plain_word) < _MIN_PREFIX_LENGTH:
        return []
    return [
        command_entry.typed_name
        for plain_name, command_entry in _ENTRIES_BY_NAME.items()
        if plain_name.startswith(plain_word) and _is_harmless(command_entry)
    ][:3]
