"""What every handler takes and returns."""

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from namesrv_core.errors import BadRequest, OverLimit
from namesrv_core.events import Event
from namesrv_core.protocol.command import Command
from namesrv_core.state.limits import effective
from namesrv_core.state.name_server import NameServerState

T = TypeVar("T")

Answer = tuple[Command, Sequence[Event]]

Handler = Callable[[NameServerState, Command, int, int], Answer]
"""(state, request, number of the channel it came on, now in ms)."""


def check_topics(state: NameServerState, topics: Collection[str]) -> None:
    """OverLimit where these would be more topics than there may be; those that are known do not count."""
    most, known = effective(state.settings.maxTopics), state.tables.topics
    if len(known) + len(topics) > most and len(known) + sum(topic not in known for topic in topics) > most:
        raise OverLimit("maxTopics", f"there are {len(known)} topics")


def required(value: T | None, name: str) -> T:
    """The value of an ext field; BadRequest that names the field where it is missing."""
    if value is None:
        raise BadRequest(f"the ext field {name} is missing or unreadable")
    return value
