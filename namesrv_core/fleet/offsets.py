"""ConsumerOffsets, the ends of a broker's queues, and its groups: a fixed time behind them unless reset.

After a reset and a pause, a group returns at a steady rate to the offset that it would have without the
reset. A group that was moved forward reads what arrives from then on. Offsets that no group reads stay
unchanged.
"""

from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import NamedTuple

from namesrv_core.fleet.traffic import BrokerTraffic

CONSUME_DELAY_MS = 1000
"""Milliseconds between the storing and the consumption of a message."""
LATE_GROUP = "analytics"
_LATE_GROUP_DELAY_MS = 20 * 60_000
_PAUSE_AFTER_MOVE_MS = 5000
_CATCH_UP_PER_SECOND = 500
_ENDLESS = 1 << 60

OffsetKey = tuple[str, str, int]
"""Group, topic, queue id."""


class _MovedOffset(NamedTuple):
    """An offset that an operator set, and when (ms)."""

    offset: int
    moved_at_ms: int


class _WritePeriod(NamedTuple):
    """The queues to which producers write from a message on. `places` are the turns of the topics."""

    first_number: int
    queue_counts: dict[str, int]
    topics: list[str]
    places: dict[str, int]

    @staticmethod
    def begin(first_number: int, queue_counts: dict[str, int]) -> "_WritePeriod":
        topics = list(queue_counts)
        return _WritePeriod(first_number, queue_counts, topics, {t: i for i, t in enumerate(topics)})

    def number_of(self, topic: str, index: int) -> int:
        """The number of a message of a topic, by its index in this period."""
        return self.first_number + index * len(self.topics) + self.places[topic]


class ConsumerOffsets:
    """Offsets of groups. Topics to which producers write share the traffic evenly, and so do their queues.

    `queues_by_topic` are the first write queues; `readers` are the groups of a topic. All times are in ms.
    """

    def __init__(
        self, traffic: BrokerTraffic, queues_by_topic: dict[str, int], readers: dict[str, tuple[str, ...]]
    ) -> None:
        self._traffic = traffic
        self._periods = [_WritePeriod.begin(0, queues_by_topic)]
        self.readers_by_topic = readers
        self._topics_by_group: dict[str, frozenset[str]] | None = None
        self._moved: dict[OffsetKey, _MovedOffset] = {}
        self._stopped: dict[str, frozenset[str]] = {}
        self._paused: set[str] = set()

    def write_to(self, queues_by_topic: dict[str, int], now_ms: int) -> None:
        """Let producers write to these queues from now on."""
        if queues_by_topic != self._periods[-1].queue_counts:
            first_number = self._traffic.stored_count(now_ms)
            self._periods.append(_WritePeriod.begin(first_number, queues_by_topic))

    def follow_master(self, offsets: "ConsumerOffsets") -> None:
        """Receive the messages of the master, and copy the offsets of its groups."""
        self._periods, self._moved = offsets._periods, dict(offsets._moved)
        self.readers_by_topic, self._topics_by_group = dict(offsets.readers_by_topic), None
        self._paused = set(offsets._paused)

    def has_traffic(self, topic: str) -> bool:
        return any(topic in period.places for period in self._periods)

    def last_stored_ms(self, topic: str, queue_id: int, end_offset: int, now_ms: int) -> int:
        """The store time of the last message of a queue; 0 if there is none."""
        if not end_offset or queue_id < self._periods[-1].queue_counts.get(topic, 0):
            return now_ms if end_offset else 0
        number = self.number_of_queue_message(topic, queue_id, end_offset - 1)
        return self._traffic.stored_time_ms(number, now_ms)

    def _shares(self, topic: str, message_total: int | None = None) -> Iterator[tuple[_WritePeriod, int]]:
        """The periods with messages of a topic, with their number; the last period is endless by default."""
        for period, following in zip_longest(self._periods, self._periods[1:]):
            if topic in period.places:
                end = message_total if following is None else following.first_number
                if end is not None and message_total is not None:
                    end = min(end, message_total)
                stored_count = _ENDLESS if end is None else max(end - period.first_number, 0)
                yield period, _even_part(stored_count, period.places[topic], len(period.topics))

    def number_of_topic_message(self, topic: str, topic_message_index: int) -> int:
        """The broker's number of a topic's message, counted from 0."""
        for period, message_count in self._shares(topic):
            if topic_message_index < message_count:
                return period.number_of(topic, topic_message_index)
            topic_message_index -= message_count
        return _ENDLESS

    def number_of_queue_message(self, topic: str, queue_id: int, offset: int) -> int:
        for period, message_count in self._shares(topic):
            queue_count = period.queue_counts[topic]
            in_queue = _even_part(message_count, queue_id, queue_count) if queue_id < queue_count else 0
            if offset < in_queue:
                return period.number_of(topic, offset * queue_count + queue_id)
            offset -= in_queue
        return _ENDLESS

    def _period_of(self, number: int) -> _WritePeriod:
        return next(period for period in reversed(self._periods) if period.first_number <= number)

    def topic_of_message(self, number: int) -> str:
        """The topic of a message; "" if no topic receives messages."""
        period = self._period_of(number)
        return period.topics[(number - period.first_number) % len(period.topics)] if period.topics else ""

    def index_in_topic(self, number: int) -> int:
        """The index of a message in its topic, counted from 0."""
        return self._topic_share(self.topic_of_message(number), number)

    def place_in_queue(self, number: int) -> tuple[int, int]:
        """The queue id and the queue offset of a message."""
        period, topic = self._period_of(number), self.topic_of_message(number)
        queue_id = (number - period.first_number) // len(period.topics) % period.queue_counts[topic]
        return queue_id, self._split_among_queues(topic, queue_id + 1, number)[queue_id]

    def count_recent_messages(self, topic: str, now_ms: int, window_ms: int) -> int:
        """Count the messages that the topic received in the last `window` ms."""
        now_count, earlier_count = (
            self._topic_share(topic, self._traffic.stored_count(time_ms))
            for time_ms in (now_ms, now_ms - window_ms)
        )
        return now_count - earlier_count

    def end_offsets(self, topic: str, queue_count: int, time_ms: int) -> list[int]:
        return self._split_among_queues(topic, queue_count, self._traffic.stored_count(time_ms))

    def begin_offsets(self, topic: str, queue_count: int, time_ms: int) -> list[int]:
        """The offset of the oldest message of each queue."""
        return self._split_among_queues(topic, queue_count, self._traffic.deleted_count(time_ms))

    def _split_among_queues(self, topic: str, queue_count: int, message_total: int) -> list[int]:
        offsets = [0] * queue_count
        for period, message_count in self._shares(topic, message_total):
            written = period.queue_counts[topic]
            for queue_id in range(min(written, queue_count)):
                offsets[queue_id] += _even_part(message_count, queue_id, written)
        return offsets

    def _topic_share(self, topic: str, message_total: int) -> int:
        return sum(message_count for _, message_count in self._shares(topic, message_total))

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

    def add_readers(self, topic: str, groups: tuple[str, ...]) -> None:
        self.readers_by_topic[topic] = groups
        self._topics_by_group = None

    def groups_of_topic(self, topic: str) -> list[str]:
        return sorted({*self.readers_by_topic.get(topic, ()), *(g for g, m, _ in self._moved if m == topic)})

    def committed_offset(self, offset_key: OffsetKey, queue_count: int, now_ms: int) -> int | None:
        group, topic, queue_id = offset_key
        is_reader = group in self.readers_by_topic.get(topic, ()) and queue_id < queue_count
        moved = self._moved.get(offset_key)
        if not is_reader or group in self._paused:
            return moved and moved.offset
        usual = self._usual_offset(offset_key, queue_count, now_ms)
        if moved is None:
            return usual
        if moved.offset > self._usual_offset(offset_key, queue_count, moved.moved_at_ms):
            newest = self.end_offsets(topic, queue_count, now_ms - CONSUME_DELAY_MS)[queue_id]
            arrived = newest - self.end_offsets(topic, queue_count, moved.moved_at_ms)[queue_id]
            return max(min(moved.offset + arrived, newest), usual, moved.offset)
        read = max(now_ms - moved.moved_at_ms - _PAUSE_AFTER_MOVE_MS, 0) * _CATCH_UP_PER_SECOND // 1000
        return max(min(moved.offset + read, usual), moved.offset)

    def _usual_offset(self, offset_key: OffsetKey, queue_count: int, now_ms: int) -> int:
        """The offset of a reader that was never moved."""
        group, topic, queue_id = offset_key
        return self.end_offsets(topic, queue_count, now_ms - group_delay_ms(group))[queue_id]

    def count_read_messages(
        self, group: str, topic: str, queue_count: int, now_ms: int, window_ms: int
    ) -> int:
        """Count the messages that a reader of the topic received in the last `window` ms, also again."""
        read = self.count_recent_messages(topic, now_ms - group_delay_ms(group), window_ms)
        for key, moved in self._moved.items():
            if key[:2] == (group, topic) and key[2] < queue_count:
                begin_ms = max(now_ms - window_ms, moved.moved_at_ms)
                for time_ms, sign in ((now_ms, 1), (begin_ms, -1)):
                    read += sign * (self.committed_offset(key, queue_count, time_ms) or 0)
                    read -= sign * self._usual_offset(key, queue_count, time_ms)
        return read

    def offset_count(self, group: str, topic: str, queue_count: int) -> int:
        """The queues of which the group can have an offset, also those that the topic lost."""
        return max([queue_count, *(q + 1 for g, t, q in self._moved if (g, t) == (group, topic))])

    def move_offset(self, offset_key: OffsetKey, offset: int, now_ms: int) -> None:
        self._moved[offset_key] = _MovedOffset(offset, now_ms)

    def stop_group(self, group: str, queue_count_of: Callable[[str], int], now_ms: int) -> None:
        """Stop a deleted group. Its offsets stay."""
        self._hold_offsets(group, queue_count_of, now_ms)
        self._stopped[group] = self.read_topics_of_group(group)
        self.readers_by_topic.update(
            {t: tuple(reader for reader in g if reader != group) for t, g in self.readers_by_topic.items()}
        )
        self._topics_by_group = None

    def forget_group(self, group: str) -> None:
        """Forget the offsets of a stopped group."""
        self._moved = {key: moved for key, moved in self._moved.items() if key[0] != group}

    def pause_group(self, group: str, queue_count_of: Callable[[str], int], now_ms: int) -> None:
        """Refuse the pulls of a group. Its clients stay connected."""
        self._hold_offsets(group, queue_count_of, now_ms)
        self._paused.add(group)

    def _hold_offsets(self, group: str, queue_count_of: Callable[[str], int], now_ms: int) -> None:
        for topic in self.topics_of_group(group):
            for queue_id in range(queue_count_of(topic)):
                offset = self.committed_offset((group, topic, queue_id), queue_count_of(topic), now_ms)
                if offset is not None:
                    self.move_offset((group, topic, queue_id), offset, now_ms)

    def resume_group(self, group: str, now_ms: int) -> None:
        """Let a paused group, or the clients of a stopped one, read again."""
        topics = self._stopped.pop(group, frozenset()) & self.readers_by_topic.keys()
        if not topics and group not in self._paused:
            return
        self._paused.discard(group)
        self.readers_by_topic.update({topic: (*self.readers_by_topic[topic], group) for topic in topics})
        self._topics_by_group = None
        self._moved.update(
            {k: moved._replace(moved_at_ms=now_ms) for k, moved in self._moved.items() if k[0] == group}
        )

    def forget_topic(self, topic: str) -> None:
        """Forget the offsets of a deleted topic. Its consumers stay subscribed, and read it if it returns."""
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
            self.number_of_queue_message(topic, queue_id, last_offset), now_ms
        )


def group_delay_ms(group: str) -> int:
    """The delay of the group in ms. One of the groups is always late."""
    return _LATE_GROUP_DELAY_MS if group == LATE_GROUP else CONSUME_DELAY_MS


def _even_part(message_total: int, part_index: int, part_count: int) -> int:
    """One of almost equal parts. No part shrinks when the total grows."""
    return (message_total + part_count - 1 - part_index) // part_count
