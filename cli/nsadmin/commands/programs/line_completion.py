"""Completes command lines for the prompt of the TUI, with the values that the shell offers on TAB."""

import os
import time
from collections.abc import Iterable, Iterator, Sequence

from nsadmin import registry
from nsadmin.command_line.parser import OptionDescription
from nsadmin.commands.programs.line_state import LineState, read_command_line
from nsadmin.commands.programs.tab_completion import lookup_values
from nsadmin.completion import tab_candidates
from nsadmin.completion.value_sources import (
    COLUMN_SOURCE,
    FILE_SOURCE,
    FOLDER_SOURCE,
    LIVE_SOURCES,
    source_of_metavar,
)

LineCandidate = tuple[str, str]
"""A word, and its description."""

_PATIENCE_SECONDS = 2.0
"""How long a completion waits for servers. It runs in a thread, so the screen does not wait."""
_OTHER_KINDS = ("screen", "batch", "program")
"""Commands that need a terminal of their own."""


def list_candidates(
    words_before: Sequence[str], typed_word: str, global_words: Sequence[str] = ()
) -> list[LineCandidate]:
    """The words that can replace `typed_word`, after the words before it.

    `global_words` are options that choose the servers, and are not on the line.
    """
    if not words_before:
        return _filter_names(_list_first_words(), typed_word)
    group_name = registry.find_group(words_before[0])
    if group_name is not None and len(words_before) == 1:
        members = registry.list_group_members(group_name)
        return _filter_names(((member.member_name, member.help) for member in members), typed_word)
    line_state = read_command_line(words_before)
    if line_state.entry is None:
        return []
    if line_state.awaited_option is not None:
        return _complete_value(line_state.awaited_option, typed_word, line_state, global_words, words_before)
    if typed_word.startswith("-"):
        return _complete_option(typed_word, line_state, global_words, words_before)
    if line_state.free_positions:
        return _complete_value(
            line_state.free_positions[0], typed_word, line_state, global_words, words_before
        )
    return []


def _list_first_words() -> Iterator[LineCandidate]:
    """The names of groups and of commands, without those that need their own terminal."""
    for name, help_text in registry.list_top_level_names().items():
        entry = registry.find_command(name)
        if entry is None or entry.kind not in _OTHER_KINDS:
            yield name, help_text


def _filter_names(names: Iterable[LineCandidate], typed_word: str) -> list[LineCandidate]:
    return [candidate for candidate in names if candidate[0].lower().startswith(typed_word.lower())]


def _complete_option(
    typed_word: str, line_state: LineState, global_words: Sequence[str], words_before: Sequence[str]
) -> list[LineCandidate]:
    """The flags, or the value that is joined to a flag, as in `--output=json`."""
    flag_text, is_joined, joined_value = typed_word.partition("=")
    if is_joined:
        option = next((option for option in line_state.options if flag_text in option.flags), None)
        if option is None or option.metavar is None:
            return []
        return [
            (f"{flag_text}={word}", description)
            for word, description in _complete_value(
                option, joined_value, line_state, global_words, words_before
            )
        ]
    return [
        (flag, option.help)
        for option in line_state.options
        for flag in option.flags
        if flag.startswith(typed_word)
    ]


def _complete_value(
    option: OptionDescription,
    typed_word: str,
    line_state: LineState,
    global_words: Sequence[str],
    words_before: Sequence[str],
) -> list[LineCandidate]:
    value_source = source_of_metavar(option.metavar or "", option.value_source)
    if value_source in (FILE_SOURCE, FOLDER_SOURCE):
        return _list_paths(typed_word, only_folders=value_source == FOLDER_SOURCE)
    if value_source == COLUMN_SOURCE:
        return _complete_columns(typed_word, line_state.column_names)
    if value_source in LIVE_SOURCES:
        value_lines = lookup_values(
            value_source, [*global_words, *words_before], time.time() + _PATIENCE_SECONDS
        )
        matching_lines = tab_candidates.filter_by_prefix(typed_word, value_lines)
        return [
            (value, description)
            for value, _, description in (value_line.partition("\t") for value_line in matching_lines)
        ]
    choices = [choice for choice in value_source.split("|") if choice]
    return [(choice, "") for choice in choices if choice.startswith(typed_word)]


def _complete_columns(typed_word: str, column_names: Sequence[str]) -> list[LineCandidate]:
    """Complete the last name of a list of columns, such as `topic,-co`."""
    earlier_text, comma, last_name = typed_word.rpartition(",")
    sign = "-" if last_name.startswith("-") else ""
    return [
        (f"{earlier_text}{comma}{sign}{column_name}", "")
        for column_name in column_names
        if column_name.lower().startswith(last_name.removeprefix("-").lower())
    ]


def _list_paths(typed_path: str, *, only_folders: bool) -> list[LineCandidate]:
    """The paths that begin with the typed one. Folders end with a slash."""
    name_start = typed_path.rpartition("/")[2]
    folder_prefix = typed_path[: len(typed_path) - len(name_start)]
    try:
        folder_entries = sorted(
            os.scandir(os.path.expanduser(folder_prefix or ".")), key=lambda entry: entry.name
        )
    except OSError:
        return []
    return [
        (f"{folder_prefix}{entry.name}{'/' if entry.is_dir() else ''}", "")
        for entry in folder_entries
        if entry.name.startswith(name_start)
        and (name_start.startswith(".") or not entry.name.startswith("."))
        and entry.name.isprintable()
        and (entry.is_dir() or not only_folders)
    ]
