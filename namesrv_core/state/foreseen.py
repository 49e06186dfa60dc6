"""The preview of a large registration: its changes of topics, computed in steps before it is applied.

A preview is valid only until another change of that broker's queues. `apply_registration` checks this.
"""

from collections.abc import Generator, Mapping
from itertools import islice
from typing import NamedTuple

from namesrv_core.events import QueueData, TopicChanges, merged
from namesrv_core.protocol.registration import TopicConfig
from namesrv_core.state.placements import Move, Placement
from namesrv_core.state.tables import RouteTables

_AT_ONCE = 512


class Foreseen(NamedTuple):
    """The topics whose queues a broker will change, computed when the tables had counted `move_count` moves.

    `new_placements` has the topics without a placement, and the placement that each of them gets. The caller
    may empty both collections after applying them.
    """

    broker_name: str
    found: list[Move]
    fresh: dict[str, Placement]
    moves: int

    def holds(self, tables: RouteTables, broker_name: str) -> bool:
        """Whether the preview is for this broker and the broker's queues have not changed since."""
        return self.broker_name == broker_name and tables.moved(broker_name) <= self.moves

    def apply(self, tables: RouteTables, *, new_only: bool) -> tuple[TopicChanges, ...]:
        """Apply the moves and return the changes. With `new_only` skip topics that the broker already has."""
        found = [move for move in self.found if move.before is None] if new_only else self.found
        if found:
            tables.put(self.broker_name, found, self.fresh, self.moves)
        return merged(TopicChanges(tuple(move.topics), move.before, move.queue) for move in found)


def foresee(
    tables: RouteTables, broker_name: str, topics: Mapping[str, TopicConfig]
) -> Generator[None, None, Foreseen | None]:
    """Preview in steps. Return None if a topic's name differs from its key (it may occur twice)."""
    fresh: dict[str, Placement] = {}
    known, moves = tables.topics, tables.moves
    ways: dict[tuple[Placement | None, int, int, int, int], Move] = {}
    left = iter(topics.items())
    for _ in range(0, len(topics), _AT_ONCE):
        yield
        for topic, config in islice(left, _AT_ONCE):
            if config.topicName != topic:
                return None
            here = known.get(topic)
            key = here, config.readQueueNums, config.writeQueueNums, config.perm, config.topicSysFlag
            way = ways.get(key)
            if way is None:
                way = ways[key] = _way(tables, here, QueueData(broker_name, *key[1:]))
            if way.there is not here:
                way.topics.append(topic)
                if here is None:
                    fresh[topic] = way.there
    return Foreseen(broker_name, [way for way in ways.values() if way.topics], fresh, moves)


def _way(tables: RouteTables, here: Placement | None, queue: QueueData) -> Move:
    before = None if here is None else here.queues.get(queue.broker_name)
    queue = tables.shared(queue)
    return Move(here, before, queue, tables.successors.put(here, queue), [])
