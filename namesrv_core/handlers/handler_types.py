"""The types that handlers share, and their checks of arguments."""

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from namesrv_core.errors import BadRequest, OverLimit
from namesrv_core.events import Event
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.size_limits import effective_limit
from namesrv_core.state.name_server_state import NameServerState

FieldValue = TypeVar("FieldValue")

HandlerAnswer = tuple[RemotingCommand, Sequence[Event]]

RequestHandler = Callable[[NameServerState, RemotingCommand, int, int], HandlerAnswer]
"""The arguments are the state, the request, the id of its channel and the time (ms)."""


def check_topic_limit(state: NameServerState, topics: Collection[str]) -> None:
    """Raise OverLimit if these topics would exceed the limit `maxTopics`. Known topics do not count."""
    max_topics, known = effective_limit(state.settings.maxTopics), state.tables.placements_by_topic
    if (
        len(known) + len(topics) > max_topics
        and len(known) + sum(topic not in known for topic in topics) > max_topics
    ):
        raise OverLimit("maxTopics", f"more topics than the {len(known)} existing ones")


def require_field(value: FieldValue | None, name: str) -> FieldValue:
    """The value of an ext field. Raises BadRequest, which names the field, if it is missing."""
    if value is None:
        raise BadRequest(f"the ext field {name} is missing or unreadable")
    return value
