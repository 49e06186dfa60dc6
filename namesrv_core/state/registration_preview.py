"""The preview of a large registration: its changes of topics, computed in steps before it is applied.

A preview is valid only until another change of that broker's queues. `apply_registration` checks this.
"""

from collections.abc import Generator, Mapping
from itertools import islice
from typing import NamedTuple

from namesrv_core.events import QueueData, TopicChanges, merge_topic_changes
from namesrv_core.protocol.registration_codec import RegisteredTopicConfig
from namesrv_core.state.placements import QueuePlacement, TopicMove
from namesrv_core.state.route_tables import RouteTables

_TOPICS_PER_STEP = 512


class RegistrationPreview(NamedTuple):
    """The topics whose queues a broker will change, computed when the tables had counted `move_count` moves.

    `new_placements` has the topics without a placement, and the placement that each of them gets. The caller
    may empty both collections after applying them.
    """

    broker_name: str
    topic_moves: list[TopicMove]
    new_placements: dict[str, QueuePlacement]
    move_count: int

    def is_current(self, tables: RouteTables, broker_name: str) -> bool:
        """Whether the preview is for this broker and the broker's queues have not changed since."""
        return self.broker_name == broker_name and tables.last_move_of(broker_name) <= self.move_count

    def apply_to_tables(self, tables: RouteTables, *, new_only: bool) -> tuple[TopicChanges, ...]:
        """Apply the moves and return the changes. With `new_only` skip topics that the broker already has."""
        applied = (
            [move for move in self.topic_moves if move.queue_before is None] if new_only else self.topic_moves
        )
        if applied:
            tables.apply_moves(self.broker_name, applied, self.new_placements, self.move_count)
        return merge_topic_changes(
            TopicChanges(tuple(move.topics), move.queue_before, move.queue_after) for move in applied
        )


def preview_registration(
    tables: RouteTables, broker_name: str, configs: Mapping[str, RegisteredTopicConfig]
) -> Generator[None, None, RegistrationPreview | None]:
    """Preview in steps. Return None if a topic's name differs from its key (it may occur twice)."""
    new: dict[str, QueuePlacement] = {}
    known, move_count = tables.placements_by_topic, tables.move_count
    moves_by_change: dict[tuple[QueuePlacement | None, int, int, int, int], TopicMove] = {}
    remaining = iter(configs.items())
    for _ in range(0, len(configs), _TOPICS_PER_STEP):
        yield
        for topic, config in islice(remaining, _TOPICS_PER_STEP):
            if config.topicName != topic:
                return None
            old = known.get(topic)
            key = (old, config.readQueueNums, config.writeQueueNums, config.perm, config.topicSysFlag)
            move = moves_by_change.get(key)
            if move is None:
                move = moves_by_change[key] = _plan_move(tables, old, QueueData(broker_name, *key[1:]))
            if move.new_placement is not old:
                move.topics.append(topic)
                if old is None:
                    new[topic] = move.new_placement
    return RegistrationPreview(
        broker_name, [move for move in moves_by_change.values() if move.topics], new, move_count
    )


def _plan_move(tables: RouteTables, old: QueuePlacement | None, after: QueueData) -> TopicMove:
    before = None if old is None else old.broker_queues.get(after.broker_name)
    after = tables.share_queue(after)
    return TopicMove(old, before, after, tables.placement_successors.placement_with_queue(old, after), [])
