"""The types that handlers share, and their checks of arguments."""

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
"""Called with the state, the request, the id of its channel and the time (ms)."""


def check_topics(state: NameServerState, topics: Collection[str]) -> None:
    """Raise OverLimit if these topics would exceed the limit `maxTopics`. Known topics do not count."""
    most, known = effective(state.settings.maxTopics), state.tables.topics
    if len(known) + len(topics) > most and len(known) + sum(topic not in known for topic in topics) > most:
        raise OverLimit("maxTopics", f"there are {len(known)} topics")


def required(value: T | None, name: str) -> T:
    """The value of an ext field. Raises BadRequest, which names the field, if it is missing."""
    if value is None:
        raise BadRequest(f"the ext field {name} is missing or unreadable")
    return value
