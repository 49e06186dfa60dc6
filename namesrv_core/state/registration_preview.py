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
        applied_moves = (
            [topic_move for topic_move in self.topic_moves if topic_move.queue_before is None]
            if new_only
            else self.topic_moves
        )
        if applied_moves:
            tables.apply_moves(self.broker_name, applied_moves, self.new_placements, self.move_count)
        return merge_topic_changes(
            TopicChanges(tuple(topic_move.topics), topic_move.queue_before, topic_move.queue_after)
            for topic_move in applied_moves
        )


def preview_registration(
    tables: RouteTables, broker_name: str, topic_configs: Mapping[str, RegisteredTopicConfig]
) -> Generator[None, None, RegistrationPreview | None]:
    """Preview in steps. Return None if a topic's name differs from its key (it may occur twice)."""
    new_placements: dict[str, QueuePlacement] = {}
    known_placements, move_count = tables.placements_by_topic, tables.move_count
    moves_by_change: dict[tuple[QueuePlacement | None, int, int, int, int], TopicMove] = {}
    remaining_topics = iter(topic_configs.items())
    for _ in range(0, len(topic_configs), _TOPICS_PER_STEP):
        yield
        for topic, topic_config in islice(remaining_topics, _TOPICS_PER_STEP):
            if topic_config.topicName != topic:
                return None
            old_placement = known_placements.get(topic)
            change_key = (
                old_placement,
                topic_config.readQueueNums,
                topic_config.writeQueueNums,
                topic_config.perm,
                topic_config.topicSysFlag,
            )
            topic_move = moves_by_change.get(change_key)
            if topic_move is None:
                topic_move = moves_by_change[change_key] = _plan_move(
                    tables, old_placement, QueueData(broker_name, *change_key[1:])
                )
            if topic_move.new_placement is not old_placement:
                topic_move.topics.append(topic)
                if old_placement is None:
                    new_placements[topic] = topic_move.new_placement
    return RegistrationPreview(
        broker_name,
        [topic_move for topic_move in moves_by_change.values() if topic_move.topics],
        new_placements,
        move_count,
    )


def _plan_move(
    tables: RouteTables, old_placement: QueuePlacement | None, queue_after: QueueData
) -> TopicMove:
    queue_before = None if old_placement is None else old_placement.broker_queues.get(queue_after.broker_name)
    queue_after = tables.share_queue(queue_after)
    return TopicMove(
        old_placement,
        queue_before,
        queue_after,
        tables.placement_successors.placement_with_queue(old_placement, queue_after),
        [],
    )
