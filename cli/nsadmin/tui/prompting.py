"""Prompting: what may be typed behind : and what is offered for it. Pure."""

import shlex
from collections.abc import Sequence
from typing import NamedTuple

from nsadmin import registry

OWN = ("quit", "help", "log", "context", "theme")


class Typed(NamedTuple):
    """What a line means: a `screen`, a word of our `own` with its argument, or a command's `words`."""

    screen: str | None = None
    own: str | None = None
    argument: str | None = None
    words: Sequence[str] = ()
    error: str | None = None


def read(line: str, screens: Sequence[str]) -> Typed:
    """A line behind the colon; `nsadmin` may stand before a command."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        return Typed(error=str(error).lower())
    if words[:1] == ["nsadmin"]:
        words = words[1:]
    if not words:
        return Typed()
    if words[0] == "q":
        return Typed(own="quit")
    if len(words) == 1 and words[0] in screens:
        return Typed(screen=words[0])
    if words[0] in OWN and len(words) <= 2:
        return Typed(own=words[0], argument=words[1] if len(words) > 1 else None)
    return Typed(words=words)


def offered(screens: Sequence[str], themes: Sequence[str], contexts: Sequence[str]) -> list[str]:
    """Lines to begin with, those of the screen first."""
    commands = [entry.name for entry in registry.COMMANDS if entry.kind not in ("screen", "batch", "program")]
    return [
        *screens,
        *OWN,
        *(f"theme {name}" for name in themes),
        *(f"context {name}" for name in contexts),
        *commands,
    ]
