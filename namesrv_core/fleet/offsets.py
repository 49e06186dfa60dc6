"""How far the readers of a simulated broker are: a while behind its traffic, unless somebody moved them.

A group that was moved goes on after a pause: back to where it would be without the move, at a steady rate;
moved forward, it waits until the traffic has come so far. What nobody reads stays where it was put.
"""

from collections.abc import Callable
from typing import NamedTuple

from namesrv_core.fleet.topics import DLQ_PREFIX, RETRY_PREFIX
from namesrv_core.fleet.traffic import Traffic

BEHIND = 1000
"""Milliseconds between a message and its being consumed."""
LATE_GROUP = "analytics"
_LATE = 20 * 60_000
_PAUSE = 5000
_PER_SECOND = 500

Key = tuple[str, str, int]
"""Group, topic, queue id."""


class _Moved(NamedTuple):
    """An offset that was committed by hand, and when (ms)."""

    offset: int
    at: int


class Offsets:
    """`started_with` are the topics that share the traffic evenly, and so do the `queues` of each.

    `readers` are the groups of a topic. All times are ms.
    """

    def __init__(
        self, traffic: Traffic, started_with: list[str], readers: dict[str, tuple[str, ...]]
    ) -> None:
        self._traffic = traffic
        self._shared = [name for name in started_with if not name.startswith((RETRY_PREFIX, DLQ_PREFIX))]
        self._place_of = {name: place for place, name in enumerate(self._shared)}
        self.readers = readers
        self._moved: dict[Key, _Moved] = {}

    def counts(self, topic: str) -> bool:
        """Whether the topic gets messages."""
        return topic in self._place_of

    def nth(self, topic: str, count: int) -> int:
        """The number that the broker gave to a topic's message, counted from 0."""
        return count * len(self._shared) + self._place_of[topic]

    def number(self, topic: str, queues: int, queue: int, offset: int) -> int:
        """The number of the message at a place of a queue."""
        return self.nth(topic, offset * queues + queue)

    def topic_of(self, number: int) -> str:
        """Whose message it is; "" where no topic gets messages."""
        return self._shared[number % len(self._shared)] if self._shared else ""

    def count_of(self, number: int) -> int:
        """Which message of its topic it is, counted from 0."""
        return number // len(self._shared)

    def place(self, number: int, queues: int) -> tuple[int, int]:
        """The queue and the offset of a message."""
        offset, queue = divmod(self.count_of(number), queues)
        return queue, offset

    def put(self, topic: str, now: int, window: int) -> int:
        """Messages of the topic that came in the last `window` ms."""
        share = self._share(topic)
        return share(self._traffic.stored(now)) - share(self._traffic.stored(now - window))

    def ends(self, topic: str, queues: int, at: int) -> list[int]:
        """The offset that the next message of each queue got at that time."""
        return self._parts(topic, queues, self._traffic.stored(at))

    def begins(self, topic: str, queues: int, at: int) -> list[int]:
        """The offset of the oldest message of each queue."""
        return self._parts(topic, queues, self._traffic.deleted(at))

    def _parts(self, topic: str, queues: int, total: int) -> list[int]:
        share = self._share(topic)(total)
        return [_part(share, queue, queues) for queue in range(queues)]

    def _share(self, topic: str) -> Callable[[int], int]:
        """How many of so many messages are the topic's."""
        if topic not in self._place_of:
            return lambda total: 0
        at = self._place_of[topic]
        return lambda total: _part(total, at, len(self._shared))

    def topics_of(self, group: str) -> list[str]:
        """What the group reads or has an offset of."""
        reads = {topic for topic, groups in self.readers.items() if group in groups}
        return sorted(reads | {topic for owner, topic, _ in self._moved if owner == group})

    def groups_of(self, topic: str) -> list[str]:
        return sorted(
            {*self.readers.get(topic, ()), *(group for group, name, _ in self._moved if name == topic)}
        )

    def committed(self, key: Key, queues: int, now: int) -> int | None:
        """Where the group goes on; None where it never was."""
        group, topic, queue = key
        reads = group in self.readers.get(topic, ()) and queue < queues
        moved = self._moved.get(key)
        if not reads:
            return moved and moved.offset
        usual = self.ends(topic, queues, now - behind(group))[queue]
        if moved is None:
            return usual
        read = max(now - moved.at - _PAUSE, 0) * _PER_SECOND // 1000
        return max(min(moved.offset + read, usual), moved.offset)

    def move(self, key: Key, offset: int, now: int) -> None:
        self._moved[key] = _Moved(offset, now)

    def stop(self, group: str, queues: Callable[[str], int], now: int, *, forget: bool) -> None:
        """The group is no more; its offsets stay, unless they are to be forgotten."""
        for topic in self.topics_of(group):
            for queue in range(queues(topic)):
                offset = self.committed((group, topic, queue), queues(topic), now)
                if offset is not None:
                    self.move((group, topic, queue), offset, now)
        self.readers.update(
            {topic: tuple(name for name in groups if name != group) for topic, groups in self.readers.items()}
        )
        if forget:
            self._moved = {key: moved for key, moved in self._moved.items() if key[0] != group}

    def forget_topic(self, topic: str) -> None:
        self.readers.pop(topic, None)
        self._moved = {key: moved for key, moved in self._moved.items() if key[1] != topic}

    def last_consumed(self, key: Key, queues: int, now: int) -> int:
        """When the last message that the group consumed was stored; 0 where there was none."""
        group, topic, queue = key
        offset = (self.committed(key, queues, now) or 0) - 1
        if offset < 0 or not self.counts(topic):
            return 0
        if key not in self._moved:
            return now - behind(group)
        return self._traffic.stored_time(self.number(topic, queues, queue, offset), now)


def behind(group: str) -> int:
    """How far the group is behind, in ms: one of them is always late."""
    return _LATE if group == LATE_GROUP else BEHIND


def _part(total: int, at: int, parts: int) -> int:
    """One of almost equal parts; none shrinks when the total grows."""
    return (total + parts - 1 - at) // parts
