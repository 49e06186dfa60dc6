"""Word and Option: how a command's signature says what may stand behind its name; no parser is loaded."""

from typing import NamedTuple


class Word(NamedTuple):
    """A text given by position or by a flag: `wipeWritePerm broker-a`, `wipeWritePerm -b broker-a`."""

    flags: tuple[str, ...]
    metavar: str
    help: str
    required: bool = True
    may_be_empty: bool = False


class Option:
    """A value behind a flag, or a flag alone; "--on/--off" is a pair of flags for true and false.

    `metavar` is what the value is called; `minimum` is the least that a number may be.
    """

    def __init__(
        self, *flags: str, metavar: str | None = None, help: str = "", minimum: int | None = None
    ) -> None:
        self.flags = flags
        self.metavar = metavar
        self.help = help
        self.minimum = minimum
