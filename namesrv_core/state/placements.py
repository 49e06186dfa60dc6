"""The placements of topics: the queues of a topic on each broker. Topics with equal queues share a placement.

Most topics of a cluster are on all of its brokers with equal queues. So ten thousand topics on 64 brokers
need one record instead of 640,000. If a broker changes all of them in the same way, one record changes.
"""

from collections.abc import Mapping
from typing import NamedTuple

from namesrv_core.events import QueueData

BrokerQueues = Mapping[str, QueueData]
"""The queues by broker name, in order of registration. Never change this mapping: placements may share it."""

NO_QUEUES: BrokerQueues = {}

_CACHE_ENTRIES = 256
_CACHED_QUEUES = 1 << 18
"""The most queues in all cached placements together. A placement may have the queues of 10,000 brokers."""


class QueuePlacement:
    """The queues of `topic_count` topics.

    No topic has joined or left it since the tables had counted `moved_at_count` moves.
    """

    __slots__ = ("broker_queues", "moved_at_count", "topic_count")

    def __init__(self, queues: BrokerQueues) -> None:
        self.broker_queues = queues
        self.topic_count = self.moved_at_count = 0


class TopicMove(NamedTuple):
    """Topics that move from one placement (or None) to another, because a broker changes their queues."""

    old_placement: QueuePlacement | None
    queue_before: QueueData | None
    queue_after: QueueData
    new_placement: QueuePlacement
    topics: list[str]


def without_broker(queues: BrokerQueues, broker_name: str) -> BrokerQueues:
    return {name: queue for name, queue in queues.items() if name != broker_name}


class PlacementSuccessors:
    """Finds the new placement of a topic when one broker's queues of it change.

    The same change of the same placement leads to the same new placement, as long as it is cached. So topics
    that share a placement, and change alike one after the other, share a placement again.
    """

    def __init__(self) -> None:
        self._cached_successors: dict[tuple[QueuePlacement | None, QueueData | str], QueuePlacement] = {}
        self._cached_queue_count = 0

    def placement_with_queue(self, old: QueuePlacement | None, queue: QueueData) -> QueuePlacement:
        """The placement with this broker's queues, which is `old` if it already has them."""
        new = self._cached_successors.get((old, queue))
        if new is None:
            queues = NO_QUEUES if old is None else old.broker_queues
            if old is not None and queues.get(queue.broker_name) == queue:
                return old
            new = self._cache_successor(old, queue, {**queues, queue.broker_name: queue})
        return new

    def placement_without_broker(self, old: QueuePlacement, broker_name: str) -> QueuePlacement | None:
        """The placement without this broker's queues, or None if no queues remain."""
        new = self._cached_successors.get((old, broker_name))
        if new is None and len(old.broker_queues) > 1:
            new = self._cache_successor(old, broker_name, without_broker(old.broker_queues, broker_name))
        return new

    def clear_cache(self) -> None:
        """Clear the cache, because a placement's own queues have changed."""
        self._cached_successors.clear()
        self._cached_queue_count = 0

    def _cache_successor(
        self, old: QueuePlacement | None, changed: QueueData | str, queues: BrokerQueues
    ) -> QueuePlacement:
        if (
            len(self._cached_successors) >= _CACHE_ENTRIES
            or self._cached_queue_count + len(queues) > _CACHED_QUEUES
        ):
            self.clear_cache()
        self._cached_queue_count += len(queues)
        new = self._cached_successors[old, changed] = QueuePlacement(queues)
        return new
