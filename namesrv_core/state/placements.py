"""Placements: on which brokers topics are. Those that are placed alike have one in common.

Most topics of a cluster are on all of its brokers with the same queues: ten thousand of them on 64 brokers
are one record, and not 640,000; and when a broker changes all of them alike, one record changes.
"""

from collections.abc import Mapping
from typing import NamedTuple

from namesrv_core.events import QueueData

Queues = Mapping[str, QueueData]
"""By broker name, in the order they came; they never change, for others may have the same."""

NO_QUEUES: Queues = {}

_REMEMBERED = 256


class Placement:
    """Where so many `topics` are. None has come or gone since the tables had made so many `moves`."""

    __slots__ = ("moves", "queues", "topics")

    def __init__(self, queues: Queues) -> None:
        self.queues = queues
        self.topics = self.moves = 0


class Move(NamedTuple):
    """Topics in one place (None: in none) that get the same queues on a broker and go to another one."""

    here: Placement | None
    before: QueueData | None
    queue: QueueData
    there: Placement
    topics: list[str]


def without(queues: Queues, broker_name: str) -> Queues:
    return {name: queue for name, queue in queues.items() if name != broker_name}


class Successors:
    """Where a topic goes when one broker's queues of it change.

    From the same place the same change leads to the same one, as long as that is remembered: topics that are
    placed alike, and change alike one after the other, are together again.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[Placement | None, QueueData | str], Placement] = {}

    def put(self, here: Placement | None, queue: QueueData) -> Placement:
        """With a broker's queues; itself where it has just these."""
        there = self._known.get((here, queue))
        if there is None:
            queues = NO_QUEUES if here is None else here.queues
            if here is not None and queues.get(queue.broker_name) == queue:
                return here
            there = self._remember(here, queue, {**queues, queue.broker_name: queue})
        return there

    def drop(self, here: Placement, broker_name: str) -> Placement | None:
        """Without a broker's queues, of which there are some; None where no others are left."""
        there = self._known.get((here, broker_name))
        if there is None and len(here.queues) > 1:
            there = self._remember(here, broker_name, without(here.queues, broker_name))
        return there

    def forget(self) -> None:
        """A placement has changed in itself."""
        self._known.clear()

    def _remember(self, here: Placement | None, what: QueueData | str, queues: Queues) -> Placement:
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        there = self._known[here, what] = Placement(queues)
        return there
