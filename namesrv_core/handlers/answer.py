"""What every handler takes and returns."""

from collections.abc import Callable, Sequence

from namesrv_core.errors import BadRequest
from namesrv_core.events import Event
from namesrv_core.protocol.command import Command
from namesrv_core.state.name_server import NameServerState

Answer = tuple[Command, Sequence[Event]]

Handler = Callable[[NameServerState, Command, int, int], Answer]
"""(state, request, number of the channel it came on, now in ms)."""


def required(**fields: str | int | None) -> None:
    """BadRequest that names the first field that is missing."""
    for name, value in fields.items():
        if value is None:
            raise BadRequest(f"the ext field {name} is missing or unreadable")
