"""GroupTransfer: the offsets of a group, moved from the source to the target through the copies."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import QueryNotFound, RocketMQError
from namesrv_core.protocol.codes import MASTER_BROKER_ID
from namesrv_core.protocol.resource_names import RETRY_PREFIX
from nsadmin.client import AdminClient
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.consumers.lag import measure_lag
from nsadmin.client.consumers.offset_moves import END_OF_QUEUE, OffsetMove, OffsetPlan
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.results import NotApplied, NotFound, is_not_found
from nsadmin.operations.transfer.offset_translation import TranslatedQueue, translate_offsets
from nsadmin.operations.transfer.queue_map import QueueId
from nsadmin.operations.transfer.topic_plan import TopicPair, TransferClusters
from nsadmin.operations.transfer.transfer_record import RECORD_NAMESPACE, parse_record_key
from nsadmin.operations.transfer.verification import load_transfer


class MovedQueue(NamedTuple):
    """A target queue of a group, at the master `broker_addr`: its consumer offset, and the new one.

    `result` is "planned", "kept", "done" or "failed".
    """

    topic_pair: TopicPair
    translated_queue: TranslatedQueue
    old_offset: int | None
    broker_addr: str
    result: str = "planned"
    error: RocketMQError | None = None


class UncarriedTopic(NamedTuple):
    """A topic of the group without copies, and how many of its messages are not consumed; None if unknown."""

    topic: str
    pending_count: int | None


class GroupTransfer:
    """Moves the offsets of one group. It `overwrites` other offsets that target queues have already."""

    def __init__(self, clusters: TransferClusters, group: str, *, overwrites: bool) -> None:
        self._clusters, self._group, self._overwrites = clusters, group, overwrites

    def plan_moves(self) -> tuple[list[MovedQueue], list[UncarriedTopic]]:
        """Return the moves, and the topics of the group without copies. Nothing is changed.

        Raises:
            NotFound: The source has no offsets of the group, or the target does not know the group.
            NotApplied: No name server lists a broker with copies now.
            RocketMQError: A server refused or did not answer.
        """
        source, target = _Side("source", self._clusters.source), _Side("target", self._clusters.target)
        offsets_by_topic = source.read_committed(self._group)
        if not offsets_by_topic:
            raise NotFound(f'the source has no offsets of the group "{self._group}"')
        self._require_group(target)
        target_committed = target.read_committed(self._group)
        moves: list[MovedQueue] = []
        copied_topics = set()
        for pair in self._list_pairs(source.cluster_names, offsets_by_topic):
            if pair.topic not in offsets_by_topic:
                continue
            copied_topics.add(pair.topic)
            plan = load_transfer(self._clusters, pair)
            source.require_listed(queue.source.broker_name for queue in plan.queues)
            target.require_listed(queue.send_queue.broker_name for queue in plan.queues)
            # Clients commit an offset on every queue that they consume. Without one, nothing is consumed.
            offsets = {
                queue.source: offsets_by_topic[pair.topic].get(queue.queue, queue.record.begin_offset)
                for queue in plan.queues
            }
            moves += [
                self._make_move(pair, queue, target_committed.get(pair.target_topic, {}))
                for queue in translate_offsets(self._clusters, plan, offsets)
            ]
        uncarried_topics = [
            UncarriedTopic(topic, self._count_pending(topic, offsets_by_topic[topic]))
            for topic in sorted(offsets_by_topic.keys() - copied_topics)
        ]
        return moves, uncarried_topics

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
        """Commit the new offsets in the target, and read them back. Raises RocketMQError."""
        applied_moves = []
        for pair in dict.fromkeys(move.topic_pair for move in moves):
            planned_moves = [move for move in moves if move.topic_pair == pair and move.result == "planned"]
            offset_moves = tuple(
                OffsetMove(
                    move.broker_addr,
                    MessageQueue(
                        pair.target_topic,
                        move.translated_queue.span.broker_name,
                        move.translated_queue.span.queue_id,
                    ),
                    move.old_offset,
                    move.translated_queue.offset,
                    "planned",
                    None,
                )
                for move in planned_moves
            )
            results = self._clusters.target.offsets.apply_clone(
                OffsetPlan(self._group, pair.target_topic, END_OF_QUEUE, True, None, offset_moves)
            )
            outcomes = {move.queue: move for move in results}
            applied_moves += [
                _note_outcome(move, outcomes) if move.result == "planned" else move
                for move in moves
                if move.topic_pair == pair
            ]
        return applied_moves

    def _list_pairs(self, source_clusters: Sequence[str], topics: Iterable[str]) -> list[TopicPair]:
        """The transfers that name servers of the target have a record of. Each may have missed some.

        Raises RocketMQError if one of these topics has none, and a name server does not answer.
        """
        results = self._clusters.target.kv.get_entries_each(RECORD_NAMESPACE)
        parsed_keys = [parse_record_key(key) for key in sorted({k for r in results for k in r.result or ()})]
        pairs = [TopicPair(*names) for cluster, *names in parsed_keys if cluster in source_clusters]
        unknown_topics = {topic for topic in topics if not is_retry_topic(topic)} - {p.topic for p in pairs}
        for result in results if unknown_topics else ():
            if result.error is not None and not isinstance(result.error, QueryNotFound):
                raise result.error
        return pairs

    def _require_group(self, target: "_Side") -> None:
        targets = [BrokerTarget(name, MASTER_BROKER_ID, addr) for name, addr in target.masters.items()]
        holders = self._clusters.target.groups.find_holders(self._group, targets)
        if all(isinstance(holder.error, NotFound) for holder in holders):
            raise NotFound(
                f'the target has no group "{self._group}": run '
                f"{self._clusters.advise('groups', [self._group])} first"
            )

    def _make_move(
        self, pair: TopicPair, translated: TranslatedQueue, target_committed: Mapping[QueueId, int]
    ) -> MovedQueue:
        span = translated.span
        old_offset = target_committed.get(QueueId(span.broker_name, span.queue_id))
        addr = translated.sources[0][0].send_queue.broker_addr
        is_kept = old_offset is not None and (old_offset == translated.offset or not self._overwrites)
        return MovedQueue(pair, translated, old_offset, addr, "kept" if is_kept else "planned")

    def _count_pending(self, topic: str, offsets: Mapping[QueueId, int]) -> int | None:
        """The messages of a topic that the group did not consume; 0 if the topic is gone, None if unknown."""
        try:
            routes = self._clusters.source.topics.get_route(topic).queues
            spans = self._clusters.source.queue_reader.get_spans(topic, routes)
        except RocketMQError as error:
            return 0 if is_not_found(error) else None
        pending_count = 0
        for span in (result.queue_span for result in spans):
            if span is None:
                return None
            offset = offsets.get(QueueId(span.broker_name, span.queue_id))
            if offset is not None:
                lag = measure_lag(span.end_offset, max(span.begin_offset, offset))
                if lag.messages is None:
                    return None
                pending_count += lag.messages
        return pending_count


class _Side:
    """The source or the target, with the masters that its name servers list at this moment."""

    def __init__(self, name: str, admin: AdminClient) -> None:
        self._name, self._admin = name, admin
        info = admin.clusters.get_info()
        self.cluster_names = info.cluster_names
        self.masters = {g.broker_name: g.master_addr for g in info.broker_groups if g.master_addr is not None}
        if not self.masters:
            raise NotApplied(f"no master is registered in the {name} now: run the command again when one is")

    def read_committed(self, group: str) -> dict[str, dict[QueueId, int]]:
        """The offsets of the group: topic to (broker, queue) to offset."""
        offsets_by_topic: dict[str, dict[QueueId, int]] = {}
        results = self._admin.consumers.get_committed_each(list(self.masters.values()))
        for broker_name, result in zip(self.masters, results, strict=True):
            for key, offsets in result.value().items():
                topic, _, reader = key.rpartition("@")
                if reader == group:
                    found = {QueueId(broker_name, queue_id): offset for queue_id, offset in offsets.items()}
                    offsets_by_topic.setdefault(topic, {}).update(found)
        return offsets_by_topic

    def require_listed(self, broker_names: Iterable[str]) -> None:
        """Raise NotApplied for a broker whose offsets were not read: they are unknown, and not missing."""
        for broker_name in broker_names:
            if broker_name not in self.masters:
                raise NotApplied(
                    f'no master of "{broker_name}" is registered in the {self._name} now: '
                    "run the command again when it is"
                )


def is_retry_topic(topic: str) -> bool:
    """Return whether a topic has the messages that a group failed to consume."""
    return topic.startswith(RETRY_PREFIX)


def _note_outcome(move: MovedQueue, outcomes: Mapping[MessageQueue, OffsetMove]) -> MovedQueue:
    span = move.translated_queue.span
    outcome = outcomes[MessageQueue(move.topic_pair.target_topic, span.broker_name, span.queue_id)]
    error = outcome.error
    if error is None and outcome.result == "kept" and move.old_offset != move.translated_queue.offset:
        error = NotApplied("the broker kept the old offset")
    return move._replace(result="done" if error is None else "failed", error=error)
