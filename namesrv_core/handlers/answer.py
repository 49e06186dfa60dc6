"""What every handler takes and returns."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from namesrv_core.errors import BadRequest
from namesrv_core.events import Event
from namesrv_core.protocol.command import Command
from namesrv_core.state.name_server import NameServerState

T = TypeVar("T")

Answer = tuple[Command, Sequence[Event]]

Handler = Callable[[NameServerState, Command, int, int], Answer]
"""(state, request, number of the channel it came on, now in ms)."""


def required(value: T | None, name: str) -> T:
    """The value of an ext field; BadRequest that names the field where it is missing."""
    if value is None:
        raise BadRequest(f"the ext field {name} is missing or unreadable")
    return value
