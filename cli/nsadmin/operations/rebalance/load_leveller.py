"""Levels the load of brokers: chooses write queues by topic and broker. Pure, and deterministic.

Producers spread the messages of a topic evenly over its write queues. So a broker's part of a topic's load is
its part of the topic's queues. The greedy search lowers the load above the target with few changed queues. If
it ends too far above the lower bound, topics are put on every broker, until the load is level.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nsadmin.operations.rebalance.load_state import (
    DEFAULT_LIMITS,
    EPSILON,
    MIN_BROKERS,
    Counts,
    LevelLimits,
    LevelResult,
    LoadState,
    TopicLoad,
)

ACCEPTED_EXCESS = 0.05
"""The search may end with so much above the lower bound before topics are put on every broker."""
_RECEIVERS, _NEAR_CANDIDATES, _LARGE_CANDIDATES = 2, 12, 6
_MAX_DETOURS = 30


def level_load(
    loads: Sequence[TopicLoad],
    brokers: Sequence[str],
    added: Sequence[str] = (),
    removed: Sequence[str] = (),
    limits: LevelLimits = DEFAULT_LIMITS,
) -> LevelResult:
    """Propose write queues for the brokers of a cluster.

    `loads` has all topics, with their part of the cluster's load, and `brokers` all brokers. Those that were
    `added` get a full part of the load, even if the others are not too full. `removed` ones lose all queues.
    """
    leveller = _Leveller(loads, brokers, added, removed, limits)
    leveller.empty_removed_brokers()
    leveller.lower_excess()
    leveller.undo_needless_changes()
    leveller.spread_evenly()
    return leveller.build_result()


class _Candidate(NamedTuple):
    """A change of one topic. The best one has the smallest `rating`, which is negative for an improvement."""

    rating: float
    topic_index: int
    counts: tuple[tuple[int, int], ...]


class _Leveller(LoadState):
    """The search."""

    def empty_removed_brokers(self) -> None:
        """Move the topics away from the removed brokers, those with the largest load first."""
        leaving_topics = {topic for broker in self._removed for _, topic in self._parts_by_broker[broker]}
        for index in sorted(leaving_topics, key=lambda index: (-self._unit_loads[index], index)):
            counts = dict(self._counts[index])
            for broker in sorted(self._removed & counts.keys()):
                lost_count = counts.pop(broker)
                receivers = [receiver for receiver in self._kept_brokers if receiver not in counts]
                if receivers:
                    receiver = min(receivers, key=lambda number: (self._broker_loads[number], number))
                    counts[receiver] = self._allowed_from(lost_count) or self._allowed_counts[-1]
            if counts and self._is_within_limits(index, counts):
                self._change_topic(index, counts)

    def lower_excess(self) -> None:
        """Search until no broker is too full; leave dead ends by a few changes that make it worse first."""
        best_excess, best_counts = self._search_downhill(), self._changed_counts()
        for _ in range(_MAX_DETOURS):
            hot_brokers = self._hot_brokers()
            candidates = self._candidates(hot_brokers[0]) if best_excess > EPSILON and hot_brokers else ()
            candidate = min(candidates, default=None)
            if candidate is None:
                break
            self._detour_topics.add(candidate.topic_index)
            self._change_topic(candidate.topic_index, dict(candidate.counts))
            excess = self._search_downhill()
            if excess < best_excess - EPSILON:
                best_excess, best_counts = excess, self._changed_counts()
        for index in self._changed_topics | best_counts.keys():
            before = self._counts_before[index]
            self._change_topic(index, dict(best_counts.get(index, before)))

    def undo_needless_changes(self) -> None:
        """Undo changes, those of most queues first, if no broker gets too full without them."""
        for index in sorted(
            self._changed_topics, key=lambda index: (-self._count_changes(index, self._counts[index]), index)
        ):
            before = self._counts_before[index]
            excess_change = self._excess_change(index, before)
            if not self._removed & before.keys() and excess_change <= EPSILON * self._lower_bound:
                self._change_topic(index, before)

    def _changed_counts(self) -> dict[int, Counts]:
        return {index: self._counts[index] for index in sorted(self._changed_topics)}

    def _search_downhill(self) -> float:
        """Make the best changes of topics of the fullest broker, while changes lower the excess."""
        stuck_brokers: set[int] = set()
        while True:
            hot_brokers = [broker for broker in self._hot_brokers() if broker not in stuck_brokers]
            if not hot_brokers:
                return sum(self._excess_load(b, self._broker_loads[b]) for b in self._kept_brokers)
            if self._make_best_changes(hot_brokers[0]):
                stuck_brokers.clear()
            else:
                stuck_brokers.add(hot_brokers[0])

    def _make_best_changes(self, hot_broker: int) -> bool:
        """Make the best change of a topic of the broker, and those that are still half as good after it."""
        candidates = sorted(self._candidates(hot_broker))
        if not candidates or candidates[0].rating > -EPSILON * self._lower_bound:
            return False
        done_topics: set[int] = set()
        for candidate in candidates:
            index, counts = candidate.topic_index, dict(candidate.counts)
            if candidate.rating > candidates[0].rating / 2 or not self._is_hot(hot_broker):
                break
            if index in done_topics or not self._is_within_limits(index, counts):
                continue
            if self._rate_change(index, counts) <= candidates[0].rating / 2:
                self._change_topic(index, counts)
                done_topics.add(index)
        return True

    def _hot_brokers(self) -> list[int]:
        """The brokers to take load from, the fullest first."""
        ordered_brokers = sorted(self._kept_brokers, key=lambda broker: (-self._broker_loads[broker], broker))
        return list(filter(self._is_hot, ordered_brokers))

    def _is_hot(self, broker: int) -> bool:
        """Whether to take load from the broker: it is too full, or an added broker lacks load."""
        is_lacking = any(self._broker_loads[added] < self._least_of_added for added in self._added)
        return self._broker_loads[broker] > (self._least_of_added if is_lacking else self._target)

    def _candidates(self, hot_broker: int) -> Iterator[_Candidate]:
        """Changes that take load from a broker: moved queues, more queues on other brokers."""
        cool_brokers = sorted(self._kept_brokers, key=lambda broker: (self._broker_loads[broker], broker))
        for index in self._choose_topics(hot_broker, cool_brokers[0]):
            counts = self._counts[index]
            receivers = [broker for broker in cool_brokers if broker not in counts][:_RECEIVERS]
            hot_count = counts[hot_broker]
            moved_count = self._allowed_from(hot_count)
            for receiver in receivers:
                if moved_count is not None:
                    moved_counts = {**counts, receiver: moved_count}
                    del moved_counts[hot_broker]
                    yield from self._rate_candidate(index, moved_counts)
                if not self._limits.counts_queues:
                    for added_count in self._allowed_counts:
                        yield from self._rate_candidate(index, {**counts, receiver: added_count})
            if not self._limits.counts_queues:
                yield from self._grown_candidates(index, cool_brokers)

    def _grown_candidates(self, index: int, cool_brokers: Sequence[int]) -> Iterator[_Candidate]:
        """More queues of the topic on the emptiest broker that has it."""
        counts = self._counts[index]
        receiver = next(broker for broker in cool_brokers if broker in counts)
        for grown_count in self._allowed_counts:
            if grown_count > counts[receiver]:
                yield from self._rate_candidate(index, {**counts, receiver: grown_count})

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
        chosen_topics = (index for _, index in [*parts[:_LARGE_CANDIDATES], *near_parts])
        return [index for index in dict.fromkeys(chosen_topics) if index not in self._detour_topics]

    def _rate_candidate(self, index: int, counts: Counts) -> Iterator[_Candidate]:
        """The candidate with its effect, if the limits allow it."""
        min_brokers = min(MIN_BROKERS, len(self._counts_before[index]), len(self._kept_brokers))
        if len(counts) < min_brokers or not self._is_within_limits(index, counts):
            return
        rating = self._rate_change(index, counts)
        yield _Candidate(rating, index, tuple(sorted(counts.items())))

    def _rate_change(self, index: int, counts: Counts) -> float:
        """The effect on the excess per changed queue; worse the more queues, if the excess grows."""
        excess_change = self._excess_change(index, counts)
        added_changes = self._count_changes(index, counts) - self._count_changes(index, self._counts[index])
        queue_change = max(1, added_changes)
        return excess_change / queue_change if excess_change < 0 else excess_change * queue_change

    def spread_evenly(self) -> None:
        """Put topics on every broker, the largest first, until the fullest broker is near the lower bound."""
        if self._limits.counts_queues or self._limits.max_topics or self._limits.max_share:
            return
        for index in sorted(range(len(self._counts)), key=lambda index: (-self._unit_loads[index], index)):
            if self._largest_load() <= self._lower_bound * (1 + ACCEPTED_EXCESS):
                return
            if self._topic_loads[index].is_fixed or not self._counts[index]:
                continue
            mean_count = -(-sum(self._counts_before[index].values()) // len(self._kept_brokers))
            even_count = self._allowed_from(mean_count) or self._allowed_counts[-1]
            even_counts = dict.fromkeys(self._kept_brokers, even_count)
            if self._is_within_limits(index, even_counts):
                self._change_topic(index, even_counts)

    def build_result(self) -> LevelResult:
        """The result of the search."""
        return LevelResult(
            {
                self._topic_loads[index].topic: {
                    self._broker_names[broker]: count for broker, count in sorted(self._counts[index].items())
                }
                for index in sorted(self._changed_topics)
            },
            self._largest_load(),
            self._final_lower_bound(),
            tuple(
                load.topic
                for load, counts in zip(self._topic_loads, self._counts, strict=True)
                if self._removed & counts.keys()
            ),
            self._largest_before,
        )
