"""A TAB: the values that begin with what is typed, out of the cache; it waits for nobody long."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from nsadmin.complete.cache import FRESH, Cache, Kept
from nsadmin.complete.sources import ORDER_TOPIC_CONFIG

PATIENCE = 0.2
"""Seconds from the start of its process that a TAB waits for values that nobody has asked for before; the
shell has a twentieth of a second more for what it does itself."""
STEP = 0.01
STARTING = 2.0
"""Seconds after an attempt in which it may still bring something."""

_SPECIAL = frozenset("|&;()<>$`\"'\\*?[]#~!{}^ ")


class World(NamedTuple):
    """What a TAB acts on: `refresh` has values asked for by somebody who is waited for until `deadline`."""

    cache: Cache
    now: Callable[[], float]
    pause: Callable[[float], None]
    refresh: Callable[[], None]
    deadline: float


def values(name: str, world: World) -> list[str]:
    """What is kept by that name: what is old is given all the same, and asked anew for the next time."""
    now = world.now()
    kept = world.cache.read(name)
    if kept is not None and 0 <= now - kept.since < FRESH:
        return kept.lines
    if world.cache.attempt(name, now):
        world.refresh()
    return kept.lines if kept is not None else _awaited(name, world)


def _awaited(name: str, world: World) -> list[str]:
    attempted = world.cache.attempted(name)
    if attempted is None or world.now() - attempted > STARTING:
        return []
    while world.now() < world.deadline:
        world.pause(STEP)
        kept = world.cache.read(name)
        if kept is not None:
            return kept.lines
    return []


def namespaces(used: Kept | None) -> list[str]:
    """The one that everybody knows, and those that were used here."""
    return sorted({ORDER_TOPIC_CONFIG, *(used.lines if used else ())})


def beginning_with(typed: str, lines: Sequence[str]) -> list[str]:
    """The lines whose value begins so. Retry topics and the like, with a %, have to be asked for by one."""
    found = [line for line in lines if line.startswith(typed)]
    if typed:
        return found
    return [line for line in found if not line.startswith("%")] or found


def described(lines: Sequence[str]) -> list[str]:
    """Lines as fish, zsh and PowerShell want them: values with what they are."""
    return list(lines)


def plain(lines: Sequence[str]) -> list[str]:
    """The values alone."""
    return list(dict.fromkeys(line.partition("\t")[0] for line in lines))


def quoted(lines: Sequence[str]) -> list[str]:
    """The values alone, as bash reads them back."""
    return [
        value if _SPECIAL.isdisjoint(value) else "".join(f"\\{c}" if c in _SPECIAL else c for c in value)
        for value in plain(lines)
    ]


FORMS = {"described": described, "plain": plain, "quoted": quoted}
