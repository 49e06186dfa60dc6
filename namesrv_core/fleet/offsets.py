"""ConsumerOffsets, the offsets of a broker's consumer groups: a fixed time behind its traffic unless reset.

After a reset and a pause, a group returns at a steady rate to the offset that it would have without the
reset. A group that was moved forward waits for the traffic. Offsets that no group reads stay unchanged.
"""

from collections.abc import Callable
from typing import NamedTuple

from namesrv_core.fleet.topics import DLQ_PREFIX, RETRY_PREFIX
from namesrv_core.fleet.traffic import BrokerTraffic

CONSUME_DELAY_MS = 1000
"""Milliseconds between the storing and the consumption of a message."""
LATE_GROUP = "analytics"
_LATE_GROUP_DELAY_MS = 20 * 60_000
_PAUSE_AFTER_MOVE_MS = 5000
_CATCH_UP_PER_SECOND = 500

OffsetKey = tuple[str, str, int]
"""Group, topic, queue id."""


class _MovedOffset(NamedTuple):
    """An offset that an operator set, and when (ms)."""

    offset: int
    moved_at_ms: int


class ConsumerOffsets:
    """Offsets of groups. The topics `started_with` share the traffic evenly, and so do their `queues`.

    `readers` are the groups of a topic. All times are in ms.
    """

    def __init__(
        self, traffic: BrokerTraffic, topics: list[str], readers: dict[str, tuple[str, ...]]
    ) -> None:
        self._traffic = traffic
        self._topics = [topic for topic in topics if not topic.startswith((RETRY_PREFIX, DLQ_PREFIX))]
        self._indexes = {topic: topic_index for topic_index, topic in enumerate(self._topics)}
        self.readers_by_topic = readers
        self._topics_by_group: dict[str, frozenset[str]] | None = None
        self._moved: dict[OffsetKey, _MovedOffset] = {}
        self._stopped: dict[str, frozenset[str]] = {}

    def has_traffic(self, topic: str) -> bool:
        return topic in self._indexes

    def number_of_topic_message(self, topic: str, topic_message_index: int) -> int:
        """The broker's number of a topic's message, counted from 0."""
        return topic_message_index * len(self._topics) + self._indexes[topic]

    def number_of_queue_message(self, topic: str, queue_count: int, queue_id: int, offset: int) -> int:
        return self.number_of_topic_message(topic, offset * queue_count + queue_id)

    def topic_of_message(self, number: int) -> str:
        """The topic of a message; "" if no topic receives messages."""
        return self._topics[number % len(self._topics)] if self._topics else ""

    def index_in_topic(self, number: int) -> int:
        """The index of a message in its topic, counted from 0."""
        return number // len(self._topics)

    def place_in_queue(self, number: int, queue_count: int) -> tuple[int, int]:
        offset, queue_id = divmod(self.index_in_topic(number), queue_count)
        return queue_id, offset

    def count_recent_messages(self, topic: str, now_ms: int, window_ms: int) -> int:
        """Count the messages that the topic received in the last `window` ms."""
        share = self._topic_share(topic)
        return share(self._traffic.stored_count(now_ms)) - share(
            self._traffic.stored_count(now_ms - window_ms)
        )

    def end_offsets(self, topic: str, queue_count: int, time_ms: int) -> list[int]:
        return self._split_among_queues(topic, queue_count, self._traffic.stored_count(time_ms))

    def begin_offsets(self, topic: str, queue_count: int, time_ms: int) -> list[int]:
        """The offset of the oldest message of each queue."""
        return self._split_among_queues(topic, queue_count, self._traffic.deleted_count(time_ms))

    def _split_among_queues(self, topic: str, queue_count: int, message_total: int) -> list[int]:
        total = self._topic_share(topic)(message_total)
        return [_even_part(total, queue_id, queue_count) for queue_id in range(queue_count)]

    def _topic_share(self, topic: str) -> Callable[[int], int]:
        if topic not in self._indexes:
            return lambda total: 0
        topic_index = self._indexes[topic]
        return lambda total: _even_part(total, topic_index, len(self._topics))

    @property
    def moved_groups(self) -> list[str]:
        return [group for group, _, _ in self._moved]

    def topics_of_group(self, group: str) -> list[str]:
        """The topics that the group reads or has an offset of."""
        return sorted(self.read_topics_of_group(group) | {t for m, t, _ in self._moved if m == group})

    def read_topics_of_group(self, group: str) -> frozenset[str]:
        # A client subscribes on every broker of a fleet, so a search of all tables for each would take long.
        if self._topics_by_group is None:
            topics_by_group: dict[str, set[str]] = {}
            for topic, groups in self.readers_by_topic.items():
                for reader in groups:
                    topics_by_group.setdefault(reader, set()).add(topic)
            self._topics_by_group = {reader: frozenset(topics) for reader, topics in topics_by_group.items()}
        return self._topics_by_group.get(group, frozenset())

    def groups_of_topic(self, topic: str) -> list[str]:
        return sorted({*self.readers_by_topic.get(topic, ()), *(g for g, m, _ in self._moved if m == topic)})

    def committed_offset(self, offset_key: OffsetKey, queue_count: int, now_ms: int) -> int | None:
        group, topic, queue_id = offset_key
        is_reader = group in self.readers_by_topic.get(topic, ()) and queue_id < queue_count
        moved = self._moved.get(offset_key)
        if not is_reader:
            return moved and moved.offset
        usual = self.end_offsets(topic, queue_count, now_ms - group_delay_ms(group))[queue_id]
        if moved is None:
            return usual
        read = max(now_ms - moved.moved_at_ms - _PAUSE_AFTER_MOVE_MS, 0) * _CATCH_UP_PER_SECOND // 1000
        return max(min(moved.offset + read, usual), moved.offset)

    def move_offset(self, offset_key: OffsetKey, offset: int, now_ms: int) -> None:
        self._moved[offset_key] = _MovedOffset(offset, now_ms)

    def stop_group(
        self, group: str, queue_count_of: Callable[[str], int], now_ms: int, *, forget_offsets: bool
    ) -> None:
        """Stop a deleted group. Its offsets stay unless the request deletes them."""
        for topic in self.topics_of_group(group):
            for queue_id in range(queue_count_of(topic)):
                offset = self.committed_offset((group, topic, queue_id), queue_count_of(topic), now_ms)
                if offset is not None:
                    self.move_offset((group, topic, queue_id), offset, now_ms)
        self._stopped[group] = self.read_topics_of_group(group)
        self.readers_by_topic.update(
            {t: tuple(reader for reader in g if reader != group) for t, g in self.readers_by_topic.items()}
        )
        self._topics_by_group = None
        if forget_offsets:
            self._moved = {key: moved for key, moved in self._moved.items() if key[0] != group}

    def resume_group(self, group: str, now_ms: int) -> None:
        """Let the clients of a stopped group read again: brokers that know a group accept its heartbeats."""
        topics = self._stopped.pop(group, frozenset()) & self.readers_by_topic.keys()
        if not topics:
            return
        self.readers_by_topic.update({topic: (*self.readers_by_topic[topic], group) for topic in topics})
        self._topics_by_group = None
        self._moved.update(
            {k: moved._replace(moved_at_ms=now_ms) for k, moved in self._moved.items() if k[0] == group}
        )

    def forget_topic(self, topic: str) -> None:
        self.readers_by_topic.pop(topic, None)
        self._topics_by_group = None
        self._moved = {key: moved for key, moved in self._moved.items() if key[1] != topic}

    def last_consumed_ms(self, offset_key: OffsetKey, queue_count: int, now_ms: int) -> int:
        """The store time of the last message that the group consumed; 0 if there is none."""
        group, topic, queue_id = offset_key
        last_offset = (self.committed_offset(offset_key, queue_count, now_ms) or 0) - 1
        if last_offset < 0 or not self.has_traffic(topic):
            return 0
        if offset_key not in self._moved:
            return now_ms - group_delay_ms(group)
        return self._traffic.stored_time_ms(
            self.number_of_queue_message(topic, queue_count, queue_id, last_offset), now_ms
        )


def group_delay_ms(group: str) -> int:
    """The delay of the group in ms. One of the groups is always late."""
    return _LATE_GROUP_DELAY_MS if group == LATE_GROUP else CONSUME_DELAY_MS


def _even_part(message_total: int, part_index: int, part_count: int) -> int:
    """One of almost equal parts. No part shrinks when the total grows."""
    return (message_total + part_count - 1 - part_index) // part_count
