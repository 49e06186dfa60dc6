"""The placements of topics: the queues of a topic on each broker. Topics with equal queues share a placement.

Most topics of a cluster are on all of its brokers with equal queues. So ten thousand topics on 64 brokers
need one record instead of 640,000. If a broker changes all of them alike, one record changes.
"""

from collections.abc import Mapping
from typing import NamedTuple

from namesrv_core.events import QueueData

Queues = Mapping[str, QueueData]
"""The queues by broker name, in order of registration. Never change this mapping: placements may share it."""

NO_QUEUES: Queues = {}

_REMEMBERED = 256


class Placement:
    """The queues of `topic_count` topics.

    No topic has joined or left it since the tables had counted `moved_at_count` moves.
    """

    __slots__ = ("moves", "queues", "topics")

    def __init__(self, queues: Queues) -> None:
        self.queues = queues
        self.topics = self.moves = 0


class Move(NamedTuple):
    """Topics that move from one placement (or None) to another, because a broker changes their queues."""

    here: Placement | None
    before: QueueData | None
    queue: QueueData
    there: Placement
    topics: list[str]


def without(queues: Queues, broker_name: str) -> Queues:
    return {name: queue for name, queue in queues.items() if name != broker_name}


class Successors:
    """Finds the new placement of a topic when one broker's queues of it change.

    The same change of the same placement leads to the same new placement, as long as it is cached. So topics
    that share a placement, and change alike one after the other, share a placement again.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[Placement | None, QueueData | str], Placement] = {}

    def put(self, here: Placement | None, queue: QueueData) -> Placement:
        """The placement with this broker's queues, which is `old_placement` if it already has them."""
        there = self._known.get((here, queue))
        if there is None:
            queues = NO_QUEUES if here is None else here.queues
            if here is not None and queues.get(queue.broker_name) == queue:
                return here
            there = self._remember(here, queue, {**queues, queue.broker_name: queue})
        return there

    def drop(self, here: Placement, broker_name: str) -> Placement | None:
        """The placement without this broker's queues, or None if no queues remain."""
        there = self._known.get((here, broker_name))
        if there is None and len(here.queues) > 1:
            there = self._remember(here, broker_name, without(here.queues, broker_name))
        return there

    def forget(self) -> None:
        """Clear the cache, because a placement's own queues have changed."""
        self._known.clear()

    def _remember(self, here: Placement | None, what: QueueData | str, queues: Queues) -> Placement:
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        there = self._known[here, what] = Placement(queues)
        return there
