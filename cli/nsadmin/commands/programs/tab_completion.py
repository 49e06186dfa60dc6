"""complete: the hidden command that shell completions call on TAB.

nsadmin complete FORM SOURCE TYPED [THE WORDS BEFORE]
nsadmin complete refresh SOURCE DETAIL [THE WORDS BEFORE]
"""

import os
import signal
import time
from collections.abc import Sequence

from nsadmin import output
from nsadmin.commands.programs.line_state import read_command_line
from nsadmin.completion import tab_candidates
from nsadmin.completion.value_cache import ValueCache, value_cache_folder
from nsadmin.completion.value_question import ValueQuestion
from nsadmin.completion.value_sources import DETAIL_METAVARS, LIVE_SOURCES, LOCAL_SOURCES

USUAL_START_SECONDS = 0.06
"""Seconds from the start of the process until here, on an idle machine."""
REFRESH_LIFETIME_SECONDS = 30
"""Seconds after which a refresh is ended, even if it still waits for a server."""


def complete(argv: list[str]) -> int:
    """Write values for a TAB. There is no use for errors while typing: then there are no values."""
    try:
        completion_form, value_source, typed_text, *words_before = argv
        if completion_form == "refresh":
            _run_refresh(ValueQuestion(value_source, typed_text, words_before))
        elif value_source in LIVE_SOURCES:
            completion_lines = tab_candidates.LINE_FORMS[completion_form](
                tab_candidates.filter_by_prefix(
                    typed_text.removeprefix("="),
                    lookup_values(
                        value_source,
                        words_before,
                        time.time() - _process_age_seconds() + tab_candidates.PATIENCE_SECONDS,
                    ),
                )
            )
            if completion_lines:
                output.write_text("\n".join(completion_lines))
    except Exception:
        return 0
    return 0


def lookup_values(value_source: str, words_before: Sequence[str], deadline_seconds: float) -> list[str]:
    """The lines of a live source. Waits until the deadline (seconds since 1970) if none are cached yet."""
    if value_source in LOCAL_SOURCES:
        # Imported late, because it loads the YAML parser.
        from nsadmin.completion.live_values import list_local_values

        return list_local_values(value_source)
    cache, question = (
        ValueCache(value_cache_folder()),
        ValueQuestion(value_source, _source_detail(value_source, words_before), words_before),
    )
    if value_source == "namespaces":
        return tab_candidates.known_namespaces(cache.read_lines(question.cache_name()))
    lookup_world = tab_candidates.TabContext(
        cache, time.time, time.sleep, lambda: _start_refresh(question), deadline_seconds
    )
    return tab_candidates.find_values(question.cache_name(), lookup_world)


def _process_age_seconds() -> float:
    """Seconds since this process was started; USUAL_START_SECONDS where /proc does not exist."""
    try:
        with open("/proc/self/stat") as stat_file:
            # starttime is field 22 of proc(5). Field 2, the name in brackets, can contain blanks.
            start_ticks = int(stat_file.read().rpartition(")")[2].split()[19])
        age_seconds = time.clock_gettime(time.CLOCK_BOOTTIME) - start_ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, AttributeError, IndexError):
        return USUAL_START_SECONDS
    return age_seconds if 0 <= age_seconds < 1 else USUAL_START_SECONDS


def _start_refresh(question: ValueQuestion) -> None:
    from nsadmin.completion.background_refresh import start_refresh

    start_refresh(question)


def _run_refresh(question: ValueQuestion) -> None:
    from nsadmin.completion.background_refresh import refresh_values

    if hasattr(signal, "alarm"):
        signal.alarm(REFRESH_LIFETIME_SECONDS)
    try:
        refresh_values(question, ValueCache(value_cache_folder()), time.time())
    finally:
        if hasattr(signal, "alarm"):
            signal.alarm(0)


def _source_detail(value_source: str, words_before: Sequence[str]) -> str:
    """The value on the line that the source depends on, such as the namespace of a key; "" if missing."""
    metavar = DETAIL_METAVARS.get(value_source)
    return read_command_line(words_before).values_by_metavar.get(metavar, "") if metavar else ""
