"""complete: the hidden command that shell completions call on TAB.

nsadmin complete FORM SOURCE TYPED [THE WORDS BEFORE]
nsadmin complete refresh SOURCE DETAIL [THE WORDS BEFORE]
"""

import os
import signal
import time
from collections.abc import Sequence
from importlib import import_module

from nsadmin import output, registry
from nsadmin.complete import tab
from nsadmin.complete.cache import Cache, folder
from nsadmin.complete.question import Question
from nsadmin.complete.sources import DETAILS, HERE, LIVE

USUAL_AGE = 0.06
"""Seconds from the start of the process until here, on an idle machine."""
LIFETIME = 30
"""Seconds after which a refresh is ended, even if it still waits for a server."""


def complete(argv: list[str]) -> int:
    """Write values for a TAB. Whoever is typing has no use for errors: there are no values then."""
    try:
        form, source, text, *before = argv
        if form == "refresh":
            _refresh(Question(source, text, before))
        elif source in LIVE:
            lines = tab.FORMS[form](tab.beginning_with(text.removeprefix("="), _values(source, before)))
            if lines:
                output.write_text("\n".join(lines))
    except Exception:
        return 0
    return 0


def _values(source: str, before: Sequence[str]) -> list[str]:
    if source in HERE:
        # Imported late, because it loads the YAML parser.
        from nsadmin.complete.values import of_this_machine

        return of_this_machine(source)
    cache, question = Cache(folder()), Question(source, _detail(source, before), before)
    if source == "namespaces":
        return tab.namespaces(cache.read(question.name()))
    deadline = time.time() - _age() + tab.PATIENCE
    world = tab.World(cache, time.time, time.sleep, lambda: _start(question), deadline)
    return tab.values(question.name(), world)


def _age() -> float:
    """Seconds since this process was started; USUAL_START_SECONDS where /proc does not exist."""
    try:
        with open("/proc/self/stat") as file:
            # starttime is field 22 of proc(5). Field 2, the name in brackets, can contain blanks.
            ticks = int(file.read().rpartition(")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, AttributeError, IndexError):
        return USUAL_AGE
    return age if 0 <= age < 1 else USUAL_AGE


def _start(question: Question) -> None:
    from nsadmin.complete.refresh import start

    start(question)


def _refresh(question: Question) -> None:
    from nsadmin.complete.refresh import refresh

    if hasattr(signal, "alarm"):
        signal.alarm(LIFETIME)
    try:
        refresh(question, Cache(folder()), time.time())
    finally:
        if hasattr(signal, "alarm"):
            signal.alarm(0)


def _detail(source: str, before: Sequence[str]) -> str:
    """The value on the line that the source depends on, such as the namespace of a key; "" if missing."""
    metavar = DETAILS.get(source)
    return said(before).get(metavar, "") if metavar else ""


def said(before: Sequence[str]) -> dict[str, str]:
    """The values on the line by metavar, whether they were given by flag or by position."""
    from nsadmin.commands.parameters import describe

    words = iter(before)
    entry = next((entry for entry in map(registry.find, words) if entry), None)
    if entry is None or entry.kind == "program":
        return {}
    module = import_module(f"nsadmin.commands.{entry.module}")
    _, options = describe(entry, getattr(module, entry.function))
    by_flag = {flag: option for option in options for flag in option.flags}
    places = sorted(
        (option for option in options if option.place is not None), key=lambda item: item.place or 0
    )
    found: dict[str, str] = {}
    for word in words:
        flag, is_joined, value = word.partition("=")
        option = by_flag.get(flag) if word.startswith("-") else None
        if option is not None and option.metavar:
            found[option.metavar] = value if is_joined else next(words, "")
            places = [place for place in places if place is not option]
        elif not word.startswith("-") and places:
            found[places.pop(0).metavar or ""] = word
    return found
