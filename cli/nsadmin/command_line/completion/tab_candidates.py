"""Finds the values for a TAB in the cache: those that begin with the typed text."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from nsadmin.command_line.completion.value_cache import FRESH_SECONDS, CachedLines, ValueCache
from nsadmin.command_line.completion.value_sources import ORDER_TOPIC_CONFIG

PATIENCE_SECONDS = 0.2
"""Seconds from the start of the process that TAB waits for values that are not cached yet. The shell needs
another 0.05 s."""
POLL_SECONDS = 0.01
STARTUP_SECONDS = 2.0
"""Seconds after the start of a refresh in which it may still succeed."""

_QUOTE_SPECIAL = frozenset("\"'\\$`!")
"""Characters that shells interpret between quotes, or that end them. No escape works for all of them."""


class TabContext(NamedTuple):
    """The surroundings of a TAB: `start_refresh` starts a process that asks for values.

    TAB waits for that process until `deadline_seconds`.
    """

    value_cache: ValueCache
    clock_seconds: Callable[[], float]
    pause_seconds: Callable[[float], None]
    start_refresh: Callable[[], None]
    deadline_seconds: float


def find_values(cache_name: str, tab_context: TabContext) -> list[str]:
    """Return the cached values of that name; old values are returned, too, and refreshed for the next TAB."""
    now_seconds = tab_context.clock_seconds()
    cached_lines = tab_context.value_cache.read_lines(cache_name)
    if cached_lines is not None and 0 <= now_seconds - cached_lines.cached_at < FRESH_SECONDS:
        return cached_lines.lines
    if tab_context.value_cache.start_attempt(cache_name, now_seconds):
        tab_context.start_refresh()
    return cached_lines.lines if cached_lines is not None else _wait_for_values(cache_name, tab_context)


def _wait_for_values(cache_name: str, tab_context: TabContext) -> list[str]:
    attempt_time = tab_context.value_cache.last_attempt_time(cache_name)
    if attempt_time is None or tab_context.clock_seconds() - attempt_time > STARTUP_SECONDS:
        return []
    while tab_context.clock_seconds() < tab_context.deadline_seconds:
        tab_context.pause_seconds(POLL_SECONDS)
        cached_lines = tab_context.value_cache.read_lines(cache_name)
        if cached_lines is not None:
            return cached_lines.lines
    return []


def known_namespaces(used_namespaces: CachedLines | None) -> list[str]:
    """Return the namespace of RocketMQ itself, and the namespaces that were used on this account."""
    return sorted({ORDER_TOPIC_CONFIG, *(used_namespaces.lines if used_namespaces else ())})


def filter_by_prefix(typed_prefix: str, value_lines: Sequence[str]) -> list[str]:
    """Return the lines whose value has this prefix. Names with a %, such as retry topics, need a typed %.

    Values that look like options are left out: a topic named --yes must not confirm a change. So are values
    that a shell would interpret between quotes.
    """
    matching_lines = [
        line for line in value_lines if line.startswith(typed_prefix) and _is_plain(line.partition("\t")[0])
    ]
    if typed_prefix:
        return matching_lines
    return [line for line in matching_lines if not line.startswith("%")] or matching_lines


def _is_plain(value: str) -> bool:
    return not value.startswith("-") and _QUOTE_SPECIAL.isdisjoint(value) and not any(map(str.isspace, value))


def strip_descriptions(value_lines: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(value_line.partition("\t")[0] for value_line in value_lines))
