"""GroupTransfer: the offsets of a group, moved from the source to the target through the copies."""

from collections.abc import Mapping
from typing import NamedTuple

from namesrv_core.errors import QueryNotFound, RocketMQError
from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client import AdminClient
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.consumers.offset_plans import END_OF_QUEUE, OffsetMove, OffsetPlan
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.messages.dead_letter_selection import RETRY_PREFIX
from nsadmin.client.results import NotApplied, NotFound
from nsadmin.operations.transfer.offset_translation import TranslatedQueue, translate_offsets
from nsadmin.operations.transfer.queue_map import QueueId
from nsadmin.operations.transfer.topic_plan import TopicPair, TransferClusters
from nsadmin.operations.transfer.transfer_record import RECORD_NAMESPACE, parse_record_key
from nsadmin.operations.transfer.verification import load_transfer


class MovedQueue(NamedTuple):
    """A target queue of a group.

    Attributes:
        pair: The topics.
        translated: The new offset.
        old_offset: The committed offset in the target; None for none.
        broker_addr: The master of the target queue.
        result: "planned", "kept", "done" or "failed".
        error: The reason of "failed".
    """

    pair: TopicPair
    translated: TranslatedQueue
    old_offset: int | None
    broker_addr: str
    result: str = "planned"
    error: RocketMQError | None = None


class UncarriedTopic(NamedTuple):
    """A topic of the group that has no copies: how many messages the group did not consume there."""

    topic: str
    pending_count: int


class GroupTransfer:
    """Moves the offsets of one group.

    Args:
        clusters: The clients.
        group: The consumer group.
        overwrites: Move queues of the target that have another offset already.
    """

    def __init__(self, clusters: TransferClusters, group: str, *, overwrites: bool) -> None:
        self._clusters, self._group, self._overwrites = clusters, group, overwrites

    def plan_moves(self) -> tuple[list[MovedQueue], list[UncarriedTopic]]:
        """Return the moves, and the topics of the group without copies. Nothing is changed.

        Raises:
            NotFound: The source has no offsets of the group, or the target does not know the group.
            RocketMQError: A server refused or did not answer.
        """
        committed = self._read_committed(self._clusters.source)
        if not committed:
            raise NotFound(f'the source has no offsets of the group "{self._group}"')
        self._require_group()
        target_committed = self._read_committed(self._clusters.target)
        moves: list[MovedQueue] = []
        copied_topics = set()
        for pair in self._list_pairs():
            if pair.topic not in committed:
                continue
            copied_topics.add(pair.topic)
            plan = load_transfer(self._clusters, pair)
            # Clients commit an offset on every queue that they consume. Without one, nothing is consumed.
            offsets = {
                planned.source: committed[pair.topic].get(planned.queue, planned.record.begin_offset)
                for planned in plan.queues
            }
            moves += [
                self._make_move(pair, translated, target_committed.get(pair.target_topic, {}))
                for translated in translate_offsets(self._clusters, plan, offsets)
            ]
        uncarried = [
            UncarriedTopic(topic, self._count_pending(topic, committed[topic]))
            for topic in sorted(committed.keys() - copied_topics)
        ]
        return moves, uncarried

    def has_source_clients(self) -> bool:
        """Return whether clients of the group are connected in the source, which move its offsets on."""
        broker_addrs = [
            group.master_addr
            for group in self._clusters.source.clusters.get_info().broker_groups
            if group.master_addr is not None
        ]
        connections = self._clusters.source.consumers.get_group_connections([self._group], broker_addrs)
        return bool(connections[self._group].clients)

    def apply_moves(self, moves: list[MovedQueue]) -> list[MovedQueue]:
        """Commit the new offsets in the target, and read them back.

        Raises:
            RocketMQError: A server refused or did not answer.
        """
        applied = []
        for pair in dict.fromkeys(move.pair for move in moves):
            planned_moves = [move for move in moves if move.pair == pair and move.result == "planned"]
            offset_moves = tuple(
                OffsetMove(
                    move.broker_addr,
                    MessageQueue(
                        pair.target_topic, move.translated.span.broker_name, move.translated.span.queue_id
                    ),
                    move.old_offset,
                    move.translated.offset,
                    "planned",
                    None,
                )
                for move in planned_moves
            )
            finished = self._clusters.target.offsets.apply_clone(
                OffsetPlan(self._group, pair.target_topic, END_OF_QUEUE, True, None, offset_moves)
            )
            outcomes = {offset_move.queue: offset_move for offset_move in finished}
            applied += [
                _note_outcome(move, outcomes) if move.result == "planned" else move
                for move in moves
                if move.pair == pair
            ]
        return applied

    def _list_pairs(self) -> list[TopicPair]:
        """The transfers that name servers of the target have a record of."""
        source_clusters = set(self._clusters.source.clusters.get_info().cluster_names)
        try:
            keys = self._clusters.target.kv.get_entries(RECORD_NAMESPACE)
        except QueryNotFound:
            return []
        parsed_keys = [parse_record_key(key) for key in keys]
        return [TopicPair(*topics) for cluster, *topics in parsed_keys if cluster in source_clusters]

    def _read_committed(self, admin: AdminClient) -> dict[str, dict[QueueId, int]]:
        """The offsets of the group: topic to (broker, queue) to offset."""
        masters = {
            group.master_addr: group.broker_name
            for group in admin.clusters.get_info().broker_groups
            if group.master_addr is not None
        }
        committed: dict[str, dict[QueueId, int]] = {}
        for result in admin.consumers.get_committed_each(list(masters)):
            for key, offsets in result.value().items():
                topic, _, group = key.rpartition("@")
                if group == self._group:
                    broker_offsets = {
                        QueueId(masters[result.addr], queue_id): offset
                        for queue_id, offset in offsets.items()
                    }
                    committed.setdefault(topic, {}).update(broker_offsets)
        return committed

    def _require_group(self) -> None:
        targets = [
            BrokerTarget(group.broker_name, MASTER_BROKER_ID, group.master_addr)
            for group in self._clusters.target.clusters.get_info().broker_groups
            if group.master_addr is not None
        ]
        holders = self._clusters.target.groups.find_holders(self._group, targets)
        if all(isinstance(holder.error, NotFound) for holder in holders):
            raise NotFound(
                f'the target has no group "{self._group}": create it with `nsadmin updateSubGroup`'
            )

    def _make_move(
        self, pair: TopicPair, translated: TranslatedQueue, target_committed: Mapping[QueueId, int]
    ) -> MovedQueue:
        span = translated.span
        old_offset = target_committed.get(QueueId(span.broker_name, span.queue_id))
        broker_addr = translated.sources[0][0].send_queue.broker_addr
        is_kept = old_offset is not None and (old_offset == translated.offset or not self._overwrites)
        return MovedQueue(pair, translated, old_offset, broker_addr, "kept" if is_kept else "planned")

    def _count_pending(self, topic: str, offsets: Mapping[QueueId, int]) -> int:
        """The messages of a topic that the group did not consume; 0 if the topic is gone."""
        try:
            routes = self._clusters.source.topics.get_route(topic).queues
            spans = self._clusters.source.queue_reader.get_spans(topic, routes)
        except RocketMQError:
            return 0
        return sum(
            max(
                0, span.end_offset - max(span.begin_offset, offsets[QueueId(span.broker_name, span.queue_id)])
            )
            for span in (result.queue_span for result in spans)
            if span is not None and QueueId(span.broker_name, span.queue_id) in offsets
        )


def is_retry_topic(topic: str) -> bool:
    """Return whether a topic has the messages that a group failed to consume."""
    return topic.startswith(RETRY_PREFIX)


def _note_outcome(move: MovedQueue, outcomes: Mapping[MessageQueue, OffsetMove]) -> MovedQueue:
    span = move.translated.span
    outcome = outcomes[MessageQueue(move.pair.target_topic, span.broker_name, span.queue_id)]
    error = outcome.error
    if error is None and outcome.result == "kept" and move.old_offset != move.translated.offset:
        error = NotApplied("the broker kept the old offset")
    return move._replace(result="done" if error is None else "failed", error=error)
