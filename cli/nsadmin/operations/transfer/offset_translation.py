"""Translates the offsets of a group from source queues to target queues, through the copies.

Rule: a group that continues at the new offset misses no copy and no message of another producer.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nsadmin.client.messages.queue_reader import QueueSpan
from nsadmin.operations.copy_source import SourceQueue, find_source
from nsadmin.operations.transfer.copy_search import read_messages
from nsadmin.operations.transfer.topic_plan import PlannedQueue, TopicPlan, TransferClusters
from nsadmin.operations.transfer.verification import list_copy_spans


class TranslatedQueue(NamedTuple):
    """A target queue and where the group continues there.

    Attributes:
        sources: The source queues that are copied to this queue, with their consumer offsets.
        span: The part of the target queue since the start of the transfer.
        offset: The offset of the next message in the target.
        repeated_count: The messages from there on that the group consumed before, or gets twice.
        missed_count: The unconsumed messages that are not in the target: they are older than the transfer,
            or the source deleted them.
    """

    sources: tuple[tuple[PlannedQueue, int], ...]
    span: QueueSpan
    offset: int
    repeated_count: int
    missed_count: int


def translate_offsets(
    clusters: TransferClusters, plan: TopicPlan, committed: Mapping[SourceQueue, int]
) -> list[TranslatedQueue]:
    """Translate the group's offset on each source queue of a topic to each target queue with copies."""
    queues: dict[tuple[str, int], list[PlannedQueue]] = {}
    for planned in plan.queues:
        target = (planned.send_queue.broker_name, planned.send_queue.queue_id)
        queues.setdefault(target, []).append(planned)
    translated_queues = []
    for span in list_copy_spans(clusters, plan):
        planned_queues = queues[span.broker_name, span.queue_id]
        sources = tuple((queue, committed[queue.source]) for queue in planned_queues)
        translated_queues.append(_TargetSearch(clusters, plan, span, sources).translate())
    return translated_queues


class _TargetSearch:
    """Searches one target queue."""

    def __init__(
        self,
        clusters: TransferClusters,
        plan: TopicPlan,
        span: QueueSpan,
        sources: Sequence[tuple[PlannedQueue, int]],
    ) -> None:
        self._clusters, self._topic, self._span = clusters, plan.topic_pair.target_topic, span
        self._sources = tuple(sources)
        self._offset_by_source = {queue.source: offset for queue, offset in sources}
        self._is_plain = not plan.rules and len(sources) == 1 and not sources[0][0].record.lost_count

    def translate(self) -> TranslatedQueue:
        copy_offset = min(self._find_first_copy(queue, offset) for queue, offset in self._sources)
        offset = self._find_foreign(copy_offset)
        not_copied = sum(max(0, end - queue.record.next_offset) for queue, end in self._sources)
        missed_count = sum(
            max(0, queue.record.begin_offset - end) + queue.record.lost_count for queue, end in self._sources
        )
        repeated = self._count_repeated(offset) + not_copied
        return TranslatedQueue(self._sources, self._span, offset, repeated, missed_count)

    def _find_first_copy(self, planned: PlannedQueue, wanted_offset: int) -> int:
        """Return the target offset of the first copy that is not consumed, by binary search.

        Messages of other producers lie between copies: a probe takes the next copy after its place. A batch
        that was sent again is a step back, and every later message comes again after it. So each place where
        the copies pass the wanted offset is right.
        """
        low_offset, high_offset = self._span.begin_offset, self._span.end_offset
        while low_offset < high_offset:
            middle_offset = (low_offset + high_offset) // 2
            position = self._find_next_copy(planned.source, middle_offset, high_offset)
            if position is None or position[1] >= wanted_offset:
                high_offset = middle_offset
            else:
                low_offset = position[0] + 1
        return low_offset

    def _find_next_copy(
        self, source_queue: SourceQueue, begin_offset: int, end_offset: int
    ) -> tuple[int, int] | None:
        """Return the target offset and the source offset of the next copy of a source queue."""
        span = self._span._replace(begin_offset=begin_offset, end_offset=end_offset)
        for _, message in read_messages(self._clusters.target, self._topic, [span]):
            source = find_source(message)
            if source is not None and source.queue == source_queue:
                return message.queue_offset, source.offset
        return None

    def _find_foreign(self, end_offset: int) -> int:
        """Return the first message of another producer before an offset, or this offset.

        If the copies before it account for every message, none is of another producer.
        """
        planned, wanted_offset = self._sources[0]
        record = planned.record
        copied_count = min(max(wanted_offset, record.begin_offset), record.next_offset) - record.begin_offset
        is_whole = self._span.begin_offset == record.target_begin
        if self._is_plain and is_whole and end_offset - self._span.begin_offset == copied_count:
            return end_offset
        span = self._span._replace(end_offset=end_offset)
        for _, message in read_messages(self._clusters.target, self._topic, [span]):
            source = find_source(message)
            if source is None or source.queue not in self._offset_by_source:
                return message.queue_offset
        return end_offset

    def _count_repeated(self, begin_offset: int) -> int:
        """Count the copies from an offset on that the group consumed in the source, or gets twice here."""
        planned, wanted_offset = self._sources[0]
        unconsumed = max(0, planned.record.next_offset - max(wanted_offset, planned.record.begin_offset))
        if self._is_plain and self._span.end_offset - begin_offset == unconsumed:
            return 0
        repeated, copied_messages = 0, set[tuple[SourceQueue, int]]()
        span = self._span._replace(begin_offset=begin_offset)
        for _, message in read_messages(self._clusters.target, self._topic, [span]):
            source = find_source(message)
            if source is None or source.queue not in self._offset_by_source:
                continue
            key = (source.queue, source.offset)
            repeated += source.offset < self._offset_by_source[source.queue] or key in copied_messages
            copied_messages.add(key)
        return repeated
