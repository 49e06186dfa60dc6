"""Allowance: what a server grants each connection, and where it hears that one wanted more."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from namesrv_core.protocol.limits import NONE, UNLIMITED, Limits
from namesrv_core.transport.turns import Turns

if TYPE_CHECKING:
    from namesrv_core.transport.stream import Stream


class Overseer(Protocol):
    """Who is told; `limit` is the key of a setting."""

    def over(self, stream: "Stream", limit: str, text: str) -> None:
        """A stream went over a limit, and was made to wait or is being closed."""

    def holds(self, stream: "Stream", size: int) -> None:
        """A stream keeps so many bytes, unfinished or not taken by its peer; 0 for next to nothing."""


class _Nobody:
    def over(self, stream: "Stream", limit: str, text: str) -> None:
        pass

    def holds(self, stream: "Stream", size: int) -> None:
        pass


class Allowance:
    """`frames` and `bytes` are those of a second, which is also what may come at once.

    `clock` tells how long work takes, in seconds of the processor, so that a pause of the machine is held
    against nobody; by the one that stands still nothing ever takes long.
    """

    __slots__ = ("bytes", "clock", "frames", "limits", "overseer", "turns", "unsent")

    def __init__(
        self,
        overseer: Overseer | None = None,
        limits: Limits = NONE,
        frames: int = UNLIMITED,
        bytes: int = UNLIMITED,
        unsent: int = UNLIMITED,
        clock: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self.overseer: Overseer = overseer or _Nobody()
        self.limits = limits
        self.frames = frames
        self.bytes = bytes
        self.unsent = unsent
        self.clock = clock
        self.turns = Turns(clock)
