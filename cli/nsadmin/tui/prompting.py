"""The parser of the command prompt `:` and the suggestions for it. Pure."""

import shlex
from collections.abc import Sequence
from typing import NamedTuple

from nsadmin import registry

OWN = ("quit", "help", "log", "context", "theme")


class Typed(NamedTuple):
    """A parsed line: a screen, a built-in command with its argument, or the words of an nsadmin command."""

    screen: str | None = None
    own: str | None = None
    argument: str | None = None
    words: Sequence[str] = ()
    error: str | None = None


def read(line: str, screens: Sequence[str]) -> Typed:
    """Parse a line that was typed after the colon. A command may begin with the word `nsadmin`."""
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
    """The lines that the prompt suggests: screens and built-in commands first, then nsadmin's commands."""
    commands = [entry.name for entry in registry.COMMANDS if entry.kind not in ("screen", "batch", "program")]
    return [
        *screens,
        *OWN,
        *(f"theme {name}" for name in themes),
        *(f"context {name}" for name in contexts),
        *commands,
    ]
