"""Finds what TAB offers for a value: names from servers, choices, columns, paths."""

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from nsadmin.command_line.completion import tab_candidates
from nsadmin.command_line.completion.value_cache import ValueCache, value_cache_folder
from nsadmin.command_line.completion.value_question import ValueQuestion
from nsadmin.command_line.completion.value_sources import (
    COLUMN_SOURCE,
    FILE_SOURCE,
    FOLDER_SOURCE,
    LIVE_SOURCES,
    LOCAL_SOURCES,
)

Candidate = tuple[str, str]
"""A word, and its description."""

_USUAL_START_SECONDS = 0.15
"""Seconds from the start of the process until here, on an idle machine."""


def list_values(
    value_source: str,
    typed_text: str,
    detail: str,
    option_values: Mapping[str, Any],
    column_names: Sequence[str],
    deadline_seconds: float | None = None,
) -> list[Candidate]:
    """The values of a source that begin with the typed text.

    `detail` and `option_values` are those of `ValueQuestion`. If no values are cached yet, it waits for
    servers until the deadline (seconds since 1970; None stands for the patience of a shell).
    """
    if value_source in (FILE_SOURCE, FOLDER_SOURCE):
        return list(_list_paths(typed_text, only_folders=value_source == FOLDER_SOURCE))
    if value_source == COLUMN_SOURCE:
        return [(name, "") for name in _complete_columns(typed_text, column_names)]
    if value_source in LIVE_SOURCES:
        lines = _lookup_lines(ValueQuestion(value_source, detail, option_values), deadline_seconds)
        matching_lines = tab_candidates.filter_by_prefix(typed_text, lines)
        return [(value, help) for value, _, help in (line.partition("\t") for line in matching_lines)]
    return [(choice, "") for choice in value_source.split("|") if choice and choice.startswith(typed_text)]


def _lookup_lines(question: ValueQuestion, deadline_seconds: float | None) -> list[str]:
    if question.value_source in LOCAL_SOURCES:
        # Imported late, because it loads the YAML parser.
        from nsadmin.command_line.completion.live_values import list_local_values

        return list_local_values(question.value_source)
    cache, cache_name = ValueCache(value_cache_folder()), question.cache_name()
    if question.value_source == "namespaces":
        return tab_candidates.known_namespaces(cache.read_lines(cache_name))
    if deadline_seconds is None:
        deadline_seconds = time.time() - _process_age_seconds() + tab_candidates.PATIENCE_SECONDS

    def start_refresh() -> None:
        from nsadmin.command_line.completion.background_refresh import start_refresh

        start_refresh(question)

    context = tab_candidates.TabContext(cache, time.time, time.sleep, start_refresh, deadline_seconds)
    return tab_candidates.find_values(cache_name, context)


def _process_age_seconds() -> float:
    """Seconds since this process was started; the usual ones where /proc does not exist."""
    try:
        with open("/proc/self/stat") as stat_file:
            # starttime is field 22 of proc(5). Field 2, the name in brackets, can contain blanks.
            start_ticks = int(stat_file.read().rpartition(")")[2].split()[19])
        age_seconds = time.clock_gettime(time.CLOCK_BOOTTIME) - start_ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, AttributeError, IndexError):
        return _USUAL_START_SECONDS
    return age_seconds if 0 <= age_seconds < 1 else _USUAL_START_SECONDS


def _complete_columns(typed_text: str, column_names: Iterable[str]) -> Iterator[str]:
    """Complete the last name of a list of columns, such as `topic,-co`."""
    earlier_text, comma, last_name = typed_text.rpartition(",")
    sign = "-" if last_name.startswith("-") else ""
    for name in column_names:
        if name.lower().startswith(last_name.removeprefix("-").lower()):
            yield f"{earlier_text}{comma}{sign}{name}"


def _list_paths(typed_path: str, *, only_folders: bool) -> Iterator[Candidate]:
    """The paths that begin with the typed one. Folders end with a slash."""
    name_start = typed_path.rpartition("/")[2]
    folder_prefix = typed_path[: len(typed_path) - len(name_start)]
    try:
        entries = sorted(os.scandir(os.path.expanduser(folder_prefix or ".")), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        is_hidden = entry.name.startswith(".") and not name_start.startswith(".")
        is_offered = entry.name.startswith(name_start) and entry.name.isprintable() and not is_hidden
        if is_offered and (entry.is_dir() or not only_folders):
            yield f"{folder_prefix}{entry.name}{'/' if entry.is_dir() else ''}", ""
