"""Levels the load of brokers: chooses write queues by topic and broker. Pure, and deterministic.

Producers spread the messages of a topic evenly over its write queues. So a broker's part of a topic's load is its
part of the topic's queues. The greedy search lowers the load above the target with few changed queues. If it
ends too far above the lower bound, topics are put on every broker, until the load is level.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

TARGET_EXCESS = 0.02
"""The search ends when no broker has more than the lower bound plus this part of it."""
ACCEPTED_EXCESS = 0.05
"""The search may end with so much above the lower bound before topics are put on every broker."""
MIN_BROKERS = 2
"""Brokers that a topic keeps, if it had so many."""
_RECEIVERS, _NEAR_CANDIDATES, _LARGE_CANDIDATES = 2, 12, 6
_MAX_DETOURS = 30
_EPSILON = 1e-9


class TopicLoad(NamedTuple):
    """A topic: its part of the cluster's load, its write queues by broker, and whether they must stay."""

    topic: str
    load: float
    queue_counts: Mapping[str, int]
    is_fixed: bool = False


class LevelLimits(NamedTuple):
    """Limits of the proposal. `queue_counts` are allowed for changed queues. `counts_queues` levels queues.

    `max_topics` limits the topics that change, `max_share` the part of the load that moves (1.0 is all).
    """

    queue_counts: tuple[int, ...] = (4, 8, 16)
    max_topics: int | None = None
    max_share: float | None = None
    counts_queues: bool = False


class LevelResult(NamedTuple):
    """The proposed write queues of the topics that change, by topic and broker, and how level the load is.

    `largest_load` is the load of the fullest remaining broker after the changes; no proposal can have less than
    `lower_bound`. `left_topics` could not leave the removed brokers.
    """

    queue_counts: Mapping[str, Mapping[str, int]]
    largest_load: float
    lower_bound: float
    left_topics: tuple[str, ...]


def level_load(
    topic_loads: Sequence[TopicLoad],
    broker_names: Sequence[str],
    added: Sequence[str] = (),
    removed: Sequence[str] = (),
    limits: LevelLimits = LevelLimits(),
) -> LevelResult:
    """Propose write queues for the brokers of a cluster.

    Args:
        topic_loads: All topics of the cluster; their load is a part of the cluster's load.
        broker_names: All brokers, with those of `added` and `removed`.
        added: Brokers that get a full part of the load, even if the others are not too full.
        removed: Brokers that lose all queues.
        limits: The limits of the proposal.
    """
    leveller = _Leveller(topic_loads, broker_names, added, removed, limits)
    leveller.empty_removed_brokers()
    leveller.lower_excess()
    leveller.undo_needless_changes()
    leveller.spread_evenly()
    return leveller.build_result()


Counts = dict[int, int]


class _Candidate(NamedTuple):
    """A change of one topic. The best one has the smallest `rating`, which is negative for an improvement."""

    rating: float
    topic_index: int
    counts: tuple[tuple[int, int], ...]


class _Leveller:
    """The state of the search. Brokers and topics are numbered in the order of their names."""

    def __init__(
        self,
        topic_loads: Sequence[TopicLoad],
        broker_names: Sequence[str],
        added: Sequence[str],
        removed: Sequence[str],
        limits: LevelLimits,
    ) -> None:
        self._limits = limits
        self._allowed_counts = tuple(sorted(set(limits.queue_counts)))
        self._broker_names = sorted(broker_names)
        self._topic_loads = sorted(topic_loads, key=lambda topic_load: topic_load.topic)
        broker_numbers = {broker_name: number for number, broker_name in enumerate(self._broker_names)}
        self._removed = frozenset(broker_numbers[broker_name] for broker_name in removed)
        self._kept = [number for number in range(len(self._broker_names)) if number not in self._removed]
        self._added = frozenset(broker_numbers[broker_name] for broker_name in added)
        self._counts: list[Counts] = [
            {
                broker_numbers[broker_name]: count
                for broker_name, count in sorted(topic_load.queue_counts.items())
                if count and broker_name in broker_numbers
            }
            for topic_load in self._topic_loads
        ]
        self._counts_before = [dict(counts) for counts in self._counts]
        total_queues = sum(sum(counts.values()) for counts in self._counts) or 1
        self._unit_loads = [
            sum(counts.values()) / total_queues if limits.counts_queues else topic_load.load
            for topic_load, counts in zip(self._topic_loads, self._counts, strict=True)
        ]
        self._broker_loads = [0.0] * len(self._broker_names)
        self._parts_by_broker: list[list[tuple[float, int]]] = [[] for _ in self._broker_names]
        self._changed_topics: set[int] = set()
        self._detour_topics: set[int] = set()
        self._moved_load = 0.0
        self._lower_bound = self._compute_lower_bound()
        self._target = self._lower_bound * (1 + TARGET_EXCESS)
        movable_mean = sum(self._broker_loads) / len(self._kept)
        self._least_of_added = min(movable_mean, self._target) * (1 - TARGET_EXCESS)

    def _compute_lower_bound(self) -> float:
        """The load that the fullest remaining broker has at least: the mean, or what must stay there."""
        fixed_loads = [0.0] * len(self._broker_names)
        for topic_index, counts in enumerate(self._counts):
            is_fixed = self._topic_loads[topic_index].is_fixed
            for broker, part in self._parts(topic_index, counts).items():
                self._broker_loads[broker] += part
                if is_fixed:
                    fixed_loads[broker] += part
                else:
                    self._parts_by_broker[broker].append((-part, topic_index))
        for broker_parts in self._parts_by_broker:
            broker_parts.sort()
        kept_load = sum(self._broker_loads) - sum(fixed_loads[broker] for broker in self._removed)
        return max(kept_load / len(self._kept), *(fixed_loads[broker] for broker in self._kept))

    def _parts(self, topic_index: int, counts: Mapping[int, int]) -> dict[int, float]:
        """The topic's load on each of its brokers."""
        unit_load, total_count = self._unit_loads[topic_index], sum(counts.values())
        return {broker: unit_load * count / total_count for broker, count in counts.items()}

    def empty_removed_brokers(self) -> None:
        """Move the topics away from the removed brokers, those with the largest load first."""
        leaving_topics = {topic for broker in self._removed for _, topic in self._parts_by_broker[broker]}
        for topic_index in sorted(leaving_topics, key=lambda index: (-self._unit_loads[index], index)):
            counts = dict(self._counts[topic_index])
            for broker in sorted(self._removed & counts.keys()):
                lost_count = counts.pop(broker)
                receivers = [receiver for receiver in self._kept if receiver not in counts]
                if receivers:
                    receiver = min(receivers, key=lambda number: (self._broker_loads[number], number))
                    counts[receiver] = self._allowed_from(lost_count) or self._allowed_counts[-1]
            if counts and self._is_within_limits(topic_index, counts):
                self._change_topic(topic_index, counts)

    def lower_excess(self) -> None:
        """Search until no broker is too full; leave dead ends by a few changes that make it worse first."""
        best_excess, best_counts = self._search_downhill(), self._changed_counts()
        for _ in range(_MAX_DETOURS):
            if best_excess <= _EPSILON:
                return
            candidate = min(self._candidates(self._hot_brokers()[0]), default=None)
            if candidate is None:
                break
            self._detour_topics.add(candidate.topic_index)
            self._change_topic(candidate.topic_index, dict(candidate.counts))
            excess = self._search_downhill()
            if excess < best_excess - _EPSILON:
                best_excess, best_counts = excess, self._changed_counts()
        for topic_index in self._changed_topics | best_counts.keys():
            counts_before = self._counts_before[topic_index]
            self._change_topic(topic_index, dict(best_counts.get(topic_index, counts_before)))

    def undo_needless_changes(self) -> None:
        """Undo changes, those of most queues first, if no broker gets too full without them."""
        for topic_index in sorted(
            self._changed_topics,
            key=lambda index: (-self._count_changes(index, self._counts[index]), index),
        ):
            counts_before = self._counts_before[topic_index]
            if not self._removed & counts_before.keys():
                if self._excess_change(topic_index, counts_before) <= _EPSILON * self._lower_bound:
                    self._change_topic(topic_index, counts_before)

    def _changed_counts(self) -> dict[int, Counts]:
        return {topic_index: self._counts[topic_index] for topic_index in sorted(self._changed_topics)}

    def _search_downhill(self) -> float:
        """Make the best changes of topics of the fullest broker, while changes lower the excess."""
        stuck_brokers: set[int] = set()
        while True:
            hot_brokers = [broker for broker in self._hot_brokers() if broker not in stuck_brokers]
            if not hot_brokers:
                return sum(self._excess(broker, self._broker_loads[broker]) for broker in self._kept)
            if self._make_best_changes(hot_brokers[0]):
                stuck_brokers.clear()
            else:
                stuck_brokers.add(hot_brokers[0])

    def _make_best_changes(self, hot_broker: int) -> bool:
        """Make the best change of a topic of the broker, and those that are still half as good after it."""
        candidates = sorted(self._candidates(hot_broker))
        if not candidates or candidates[0].rating > -_EPSILON * self._lower_bound:
            return False
        done_topics: set[int] = set()
        for candidate in candidates:
            topic_index, counts = candidate.topic_index, dict(candidate.counts)
            if candidate.rating > candidates[0].rating / 2 or not self._is_hot(hot_broker):
                break
            if topic_index not in done_topics and self._is_within_limits(topic_index, counts):
                if self._rate_change(topic_index, counts) <= candidates[0].rating / 2:
                    self._change_topic(topic_index, counts)
                    done_topics.add(topic_index)
        return True

    def _hot_brokers(self) -> list[int]:
        """The brokers to take load from, the fullest first."""
        ordered_brokers = sorted(self._kept, key=lambda broker: (-self._broker_loads[broker], broker))
        return list(filter(self._is_hot, ordered_brokers))

    def _is_hot(self, broker: int) -> bool:
        """Whether to take load from the broker: it is too full, or an added broker lacks load."""
        is_lacking = any(self._broker_loads[added] < self._least_of_added for added in self._added)
        return self._broker_loads[broker] > (self._least_of_added if is_lacking else self._target)

    def _candidates(self, hot_broker: int) -> Iterator[_Candidate]:
        """Changes that take load from a broker: moved queues, more queues on other brokers."""
        cool_brokers = sorted(self._kept, key=lambda broker: (self._broker_loads[broker], broker))
        for topic_index in self._choose_topics(hot_broker, cool_brokers[0]):
            counts = self._counts[topic_index]
            receivers = [broker for broker in cool_brokers if broker not in counts][:_RECEIVERS]
            hot_count = counts[hot_broker]
            moved_count = self._allowed_from(hot_count)
            for receiver in receivers:
                if moved_count is not None:
                    moved_counts = {**counts, receiver: moved_count}
                    del moved_counts[hot_broker]
                    yield from self._rate_candidate(topic_index, moved_counts)
                if not self._limits.counts_queues:
                    for added_count in self._allowed_counts:
                        yield from self._rate_candidate(topic_index, {**counts, receiver: added_count})
            if not self._limits.counts_queues:
                yield from self._grown_candidates(topic_index, cool_brokers)

    def _grown_candidates(self, topic_index: int, cool_brokers: Sequence[int]) -> Iterator[_Candidate]:
        """More queues of the topic on the emptiest broker that has it."""
        counts = self._counts[topic_index]
        receiver = next(broker for broker in cool_brokers if broker in counts)
        for grown_count in self._allowed_counts:
            if grown_count > counts[receiver]:
                yield from self._rate_candidate(topic_index, {**counts, receiver: grown_count})

    def _choose_topics(self, hot_broker: int, cool_broker: int) -> list[int]:
        """A few topics of the broker: the largest ones, and those whose part is about what should move."""
        wanted_load = max(
            self._broker_loads[hot_broker] - self._target,
            min(
                self._broker_loads[hot_broker] - self._least_of_added,
                self._least_of_added - self._broker_loads[cool_broker],
            ),
        )
        parts = self._parts_by_broker[hot_broker]
        first_fitting = bisect_left(parts, (-wanted_load, -1))
        near_parts = parts[max(0, first_fitting - _NEAR_CANDIDATES) : first_fitting + _NEAR_CANDIDATES]
        chosen_topics = (topic_index for _, topic_index in [*parts[:_LARGE_CANDIDATES], *near_parts])
        return [
            topic_index
            for topic_index in dict.fromkeys(chosen_topics)
            if topic_index not in self._detour_topics
        ]

    def _rate_candidate(self, topic_index: int, counts: Counts) -> Iterator[_Candidate]:
        """The candidate with its effect, if the limits allow it."""
        if len(counts) < self._min_brokers(topic_index) or not self._is_within_limits(topic_index, counts):
            return
        rating = self._rate_change(topic_index, counts)
        yield _Candidate(rating, topic_index, tuple(sorted(counts.items())))

    def _rate_change(self, topic_index: int, counts: Counts) -> float:
        """The effect on the excess per changed queue; worse the more queues, if the excess grows."""
        excess_change = self._excess_change(topic_index, counts)
        added_changes = self._count_changes(topic_index, counts) - self._count_changes(
            topic_index, self._counts[topic_index]
        )
        queue_change = max(1, added_changes)
        return excess_change / queue_change if excess_change < 0 else excess_change * queue_change

    def _excess_change(self, topic_index: int, counts: Counts) -> float:
        """The effect of these queue counts on the excess of all brokers."""
        old_parts = self._parts(topic_index, self._counts[topic_index])
        new_parts = self._parts(topic_index, counts)
        excess_change = 0.0
        for broker in sorted(old_parts.keys() | new_parts.keys()):
            load = self._broker_loads[broker]
            new_load = load - old_parts.get(broker, 0.0) + new_parts.get(broker, 0.0)
            excess_change += self._excess(broker, new_load) - self._excess(broker, load)
        return excess_change

    def _excess(self, broker: int, load: float) -> float:
        """How far the load is above the target; for an added broker, also how much of its part it lacks."""
        lacking_load = max(0.0, self._least_of_added - load) if broker in self._added else 0.0
        return max(0.0, load - self._target) + lacking_load

    def _count_changes(self, topic_index: int, counts: Counts) -> int:
        """The queues that are added or removed, compared with the state before."""
        counts_before = self._counts_before[topic_index]
        return sum(
            abs(counts.get(broker, 0) - counts_before.get(broker, 0))
            for broker in counts.keys() | counts_before.keys()
        )

    def _min_brokers(self, topic_index: int) -> int:
        return min(MIN_BROKERS, len(self._counts_before[topic_index]), len(self._kept))

    def _allowed_from(self, queue_count: int) -> int | None:
        """The smallest allowed count that is not less."""
        return next((allowed for allowed in self._allowed_counts if allowed >= queue_count), None)

    def _is_within_limits(self, topic_index: int, counts: Counts) -> bool:
        if (
            self._limits.max_topics is not None
            and topic_index not in self._changed_topics
            and len(self._changed_topics) >= self._limits.max_topics
        ):
            return False
        if self._limits.max_share is None:
            return True
        moved_load = self._moved_load - self._moved_part(topic_index, self._counts[topic_index])
        return moved_load + self._moved_part(topic_index, counts) <= self._limits.max_share + _EPSILON

    def _moved_part(self, topic_index: int, counts: Counts) -> float:
        """The topic's load that is on another broker than before."""
        parts_before = self._parts(topic_index, self._counts_before[topic_index])
        new_parts = self._parts(topic_index, counts)
        return sum(max(0.0, part - parts_before.get(broker, 0.0)) for broker, part in new_parts.items())

    def _change_topic(self, topic_index: int, counts: Counts) -> None:
        old_counts = self._counts[topic_index]
        self._moved_load += self._moved_part(topic_index, counts) - self._moved_part(topic_index, old_counts)
        for broker, part in self._parts(topic_index, old_counts).items():
            self._broker_loads[broker] -= part
            broker_parts = self._parts_by_broker[broker]
            del broker_parts[bisect_left(broker_parts, (-part, topic_index))]
        for broker, part in self._parts(topic_index, counts).items():
            self._broker_loads[broker] += part
            insort(self._parts_by_broker[broker], (-part, topic_index))
        self._counts[topic_index] = counts
        if counts == self._counts_before[topic_index]:
            self._changed_topics.discard(topic_index)
        else:
            self._changed_topics.add(topic_index)

    def spread_evenly(self) -> None:
        """Put topics on every broker, the largest first, until the fullest broker is near the lower bound."""
        if self._limits.counts_queues or self._limits.max_topics or self._limits.max_share:
            return
        for topic_index in sorted(
            range(len(self._counts)), key=lambda index: (-self._unit_loads[index], index)
        ):
            if self._largest_load() <= self._lower_bound * (1 + ACCEPTED_EXCESS):
                return
            if self._topic_loads[topic_index].is_fixed or not self._counts[topic_index]:
                continue
            mean_count = -(-sum(self._counts_before[topic_index].values()) // len(self._kept))
            even_count = self._allowed_from(mean_count) or self._allowed_counts[-1]
            even_counts = dict.fromkeys(self._kept, even_count)
            if self._is_within_limits(topic_index, even_counts):
                self._change_topic(topic_index, even_counts)

    def _largest_load(self) -> float:
        return max(self._broker_loads[broker] for broker in self._kept)

    def build_result(self) -> LevelResult:
        """The result of the search."""
        return LevelResult(
            {
                self._topic_loads[topic_index].topic: {
                    self._broker_names[broker]: count
                    for broker, count in sorted(self._counts[topic_index].items())
                }
                for topic_index in sorted(self._changed_topics)
            },
            self._largest_load(),
            self._lower_bound,
            tuple(
                topic_load.topic
                for topic_load, counts in zip(self._topic_loads, self._counts, strict=True)
                if self._removed & counts.keys()
            ),
        )
