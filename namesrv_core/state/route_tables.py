"""The route tables (clusters, broker groups, live brokers, topics, mappings) and the invariants between them.

A topic has an entry only while a broker has queues of it. A queue mapping disappears with its broker group,
or when the broker registers the topic without one. `broker_tables` has the rest.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from namesrv_core.events import (
    MappingChange,
    MappingInfo,
    QueueData,
    TopicChange,
    TopicChanges,
    merge_topic_changes,
)
from namesrv_core.state.broker_tables import BrokerTables
from namesrv_core.state.placements import (
    NO_QUEUES,
    BrokerQueues,
    PlacementSuccessors,
    QueuePlacement,
    TopicMove,
    without_broker,
)

_MAX_MOVED_BROKERS = 20_000
"""The most broker names to remember: more than there are brokers, because removed brokers are included."""
_MAX_SHARED_QUEUES = 16_384


class RouteTables(BrokerTables):
    """The tables of `RouteInfoManager`. `generation` changes whenever a route may change.

    `move_count` counts the changes of queues.
    """

    def __init__(self) -> None:
        super().__init__()
        self.placements_by_topic: dict[str, QueuePlacement] = {}
        self.queue_mappings: dict[str, dict[str | None, MappingInfo]] = {}
        self.placement_successors = PlacementSuccessors()
        self.topic_counts: dict[str, int] = {}
        """The number of topics by broker name. A broker without topics has no entry."""
        self.generation = self.move_count = 0
        self._mapped_topics: dict[str | None, dict[str, None]] = {}
        self._last_moves: dict[str, int] = {}
        self._forgotten_moves = 0
        self._shared_queues: dict[QueueData, QueueData] = {}

    def share_queue(self, queue: QueueData) -> QueueData:
        """The shared record of all equal queues. A broker with many topics has only a few different ones."""
        if len(self._shared_queues) >= _MAX_SHARED_QUEUES:
            self._shared_queues.clear()
        return self._shared_queues.setdefault(queue, queue)

    def queues_of_topic(self, topic: str) -> BrokerQueues:
        placement = self.placements_by_topic.get(topic)
        return NO_QUEUES if placement is None else placement.broker_queues

    def set_queue(self, topic: str, queue: QueueData) -> TopicChange | None:
        old = self.placements_by_topic.get(topic)
        before = None if old is None else old.broker_queues.get(queue.broker_name)
        if before == queue:
            return None
        after = self.share_queue(queue)
        if before is None:
            self._count_topics(queue.broker_name, 1)
        self._note_move(queue.broker_name)
        self._move_topic(topic, old, self.placement_successors.placement_with_queue(old, after))
        return TopicChange(topic, before, after)

    def drop_queue(self, topic: str, broker_name: str) -> TopicChange | None:
        old = self.placements_by_topic.get(topic)
        before = None if old is None else old.broker_queues.get(broker_name)
        if old is None or before is None:
            return None
        self._count_topics(broker_name, -1)
        self._note_move(broker_name)
        self._move_topic(topic, old, self.placement_successors.placement_without_broker(old, broker_name))
        return TopicChange(topic, before, None)

    def change_all_queues(
        self,
        broker_name: str,
        change_queue: Callable[[QueueData], QueueData | None],
        expected_topics: Collection[str] = (),
    ) -> tuple[TopicChanges, ...]:
        """Change a broker's queues of all its topics. `change_queue` returns new queues or None.

        All topics are searched for those of the broker, unless they are among the expected ones.
        """
        topics_by_placement = self._group_topics(broker_name, expected_topics)
        if topics_by_placement:
            self._note_move(broker_name)
        changes = []
        # Either all topics of a placement have queues on the broker or none of them.
        for placement, topics in topics_by_placement.items():
            before = placement.broker_queues[broker_name]
            after = change_queue(before)
            if after == before:
                continue
            changes.append(TopicChanges(tuple(topics), before, after))
            if after is None:
                self._count_topics(broker_name, -len(topics))
            if after is not None:
                placement.broker_queues = {**placement.broker_queues, broker_name: self.share_queue(after)}
            elif len(placement.broker_queues) > 1:
                placement.broker_queues = without_broker(placement.broker_queues, broker_name)
            else:
                placement.topic_count, placement.moved_at_count = 0, self.move_count
                for topic in topics:
                    del self.placements_by_topic[topic]
        self.placement_successors.clear_cache()
        return merge_topic_changes(changes)

    def _group_topics(
        self, broker_name: str, expected_topics: Collection[str]
    ) -> dict[QueuePlacement, list[str]]:
        topics_by_placement: dict[QueuePlacement, list[str]] = {}
        topic_count = self.topic_counts.get(broker_name, 0)
        if not topic_count:
            return topics_by_placement
        known = self.placements_by_topic
        for topic in expected_topics:
            placement = known.get(topic)
            if placement is not None and broker_name in placement.broker_queues:
                topics_by_placement.setdefault(placement, []).append(topic)
        if sum(map(len, topics_by_placement.values())) == topic_count:
            return topics_by_placement
        topics_by_placement = {}
        for topic, placement in known.items():
            if broker_name in placement.broker_queues:
                topics_by_placement.setdefault(placement, []).append(topic)
        return topics_by_placement

    def _count_topics(self, broker_name: str, added_count: int) -> None:
        topic_count = self.topic_counts.get(broker_name, 0) + added_count
        if topic_count:
            self.topic_counts[broker_name] = topic_count
        else:
            self.topic_counts.pop(broker_name, None)

    def _move_topic(self, topic: str, old: QueuePlacement | None, new: QueuePlacement | None) -> None:
        for placement, delta in (old, -1), (new, 1):
            if placement is not None:
                placement.topic_count += delta
                placement.moved_at_count = self.move_count
        if new is None:
            del self.placements_by_topic[topic]
        else:
            self.placements_by_topic[topic] = new

    def apply_moves(
        self, broker_name: str, moves: Sequence[TopicMove], new: Mapping[str, QueuePlacement], move_count: int
    ) -> None:
        """Apply the moves of a broker's topics that were computed when `move_count` had this value.

        `new` has the topics that had no placement. Later changes of other brokers are kept.
        """
        has_no_moves = self.move_count == move_count
        # New topics first: a placement that they join must not change with the topics that it had before.
        ordered = sorted(moves, key=lambda move: move.old_placement is not None)
        unmoved = [has_no_moves if old is None else old.moved_at_count <= move_count for old, *_ in ordered]
        self._note_move(broker_name)
        if has_no_moves:
            self.placements_by_topic.update(new)
        for move, is_unmoved in zip(ordered, unmoved, strict=True):
            if move.queue_before is None:
                self._count_topics(broker_name, len(move.topics))
            if is_unmoved:
                self._move_topics_together(move)
            else:
                for topic in move.topics:
                    old = self.placements_by_topic.get(topic)
                    self._move_topic(
                        topic, old, self.placement_successors.placement_with_queue(old, move.queue_after)
                    )

    def _move_topics_together(self, move: TopicMove) -> None:
        """Move topics together, because all of them still have the placement that was computed."""
        old, new, topic_count = move.old_placement, move.new_placement, len(move.topics)
        if old is not None:
            # Other brokers may have changed the placement's own queues meanwhile.
            new = self.placement_successors.placement_with_queue(old, move.queue_after)
            if old.topic_count == topic_count and not new.topic_count:
                old.broker_queues = new.broker_queues
                self.placement_successors.clear_cache()
                return
            self.placements_by_topic.update(dict.fromkeys(move.topics, new))
            old.topic_count -= topic_count
            old.moved_at_count = self.move_count
        new.topic_count += topic_count
        new.moved_at_count = self.move_count

    def last_move_of(self, broker_name: str) -> int:
        """The `move_count` after the last move of this broker's queues, or a higher number."""
        return self._last_moves.get(broker_name, self._forgotten_moves)

    def _note_move(self, broker_name: str) -> None:
        self.move_count += 1
        if len(self._last_moves) >= _MAX_MOVED_BROKERS:
            self._last_moves.clear()
            self._forgotten_moves = self.move_count
        self._last_moves[broker_name] = self.move_count

    def set_mapping(self, topic: str, mapping: MappingInfo) -> MappingChange | None:
        mappings_by_broker = self.queue_mappings.setdefault(topic, {})
        before = mappings_by_broker.get(mapping.bname)
        mappings_by_broker[mapping.bname] = mapping
        self._mapped_topics.setdefault(mapping.bname, {})[topic] = None
        return None if before == mapping else MappingChange(topic, mapping.bname, before, mapping)

    def drop_mapping(self, topic: str, broker_name: str) -> MappingChange | None:
        mappings_by_broker = self.queue_mappings.get(topic, {})
        before = mappings_by_broker.pop(broker_name, None)
        if before is None:
            return None
        if not mappings_by_broker:
            del self.queue_mappings[topic]
        mapped = self._mapped_topics[broker_name]
        del mapped[topic]
        if not mapped:
            del self._mapped_topics[broker_name]
        return MappingChange(topic, broker_name, before, None)

    def topics_of_broker(self, broker_name: str) -> list[str]:
        return [topic for topics in self._group_topics(broker_name, ()).values() for topic in topics]

    def drop_group(self, broker_name: str) -> tuple[MappingChange, ...]:
        """Remove a group without members from all clusters, together with its mappings."""
        self.unlist_group(broker_name)
        return filter_mapping_changes(
            self.drop_mapping(topic, broker_name) for topic in list(self._mapped_topics.get(broker_name, ()))
        )


def filter_mapping_changes(changes: Iterable[MappingChange | None]) -> tuple[MappingChange, ...]:
    return tuple(change for change in changes if change is not None)
