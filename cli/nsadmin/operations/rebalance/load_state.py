"""The state of a search for level load: queues and load of each broker, and the limits of changes. Pure."""

from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence
from typing import NamedTuple

TARGET_EXCESS = 0.02
"""The search ends when no broker has more than the lower bound plus this part of it."""
MIN_BROKERS = 2
"""The minimum number of brokers of a topic, unless it had fewer before."""
EPSILON = 1e-9


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


DEFAULT_LIMITS = LevelLimits()


class LevelResult(NamedTuple):
    """The proposed write queues of the topics that change, by topic and broker, and how level the load is.

    `largest_load` is the load of the fullest remaining broker after the changes. No proposal can have less
    than `lower_bound`. `left_topics` could not leave the removed brokers. `largest_before` is the load of the
    fullest broker now.
    """

    queue_counts: Mapping[str, Mapping[str, int]]
    largest_load: float
    lower_bound: float
    left_topics: tuple[str, ...]
    largest_before: float


Counts = dict[int, int]
"""The write queues of a topic by broker number."""


class LoadState:
    """Brokers and topics are numbered in the order of their names. Loads are parts of the cluster's load."""

    def __init__(
        self,
        loads: Sequence[TopicLoad],
        brokers: Sequence[str],
        added: Sequence[str],
        removed: Sequence[str],
        limits: LevelLimits,
    ) -> None:
        self._limits = limits
        self._allowed_counts = tuple(sorted(set(limits.queue_counts)))
        self._broker_names = sorted(brokers)
        self._topic_loads = sorted(loads, key=lambda load: load.topic)
        broker_numbers = {broker: number for number, broker in enumerate(self._broker_names)}
        self._removed = frozenset(broker_numbers[broker] for broker in removed)
        self._kept_brokers = [
            number for number in range(len(self._broker_names)) if number not in self._removed
        ]
        self._added = frozenset(broker_numbers[broker] for broker in added)
        self._counts: list[Counts] = [
            {
                broker_numbers[broker]: count
                for broker, count in sorted(load.queue_counts.items())
                if count and broker in broker_numbers
            }
            for load in self._topic_loads
        ]
        self._counts_before = [dict(counts) for counts in self._counts]
        total_queues = sum(sum(counts.values()) for counts in self._counts) or 1
        self._unit_loads = [
            sum(counts.values()) / total_queues if limits.counts_queues else load.load
            for load, counts in zip(self._topic_loads, self._counts, strict=True)
        ]
        self._broker_loads = [0.0] * len(self._broker_names)
        self._parts_by_broker: list[list[tuple[float, int]]] = [[] for _ in self._broker_names]
        self._changed_topics: set[int] = set()
        self._detour_topics: set[int] = set()
        self._moved_load = 0.0
        self._fixed_loads = [0.0] * len(self._broker_names)
        self._lower_bound = self._compute_lower_bound()
        self._largest_before = max(self._broker_loads)
        self._target = self._lower_bound * (1 + TARGET_EXCESS)
        movable_mean = sum(self._broker_loads) / len(self._kept_brokers)
        self._least_of_added = min(movable_mean, self._target) * (1 - TARGET_EXCESS)

    def _compute_lower_bound(self) -> float:
        """The lowest load that the fullest remaining broker can get: the mean, or its immovable load."""
        fixed_loads = self._fixed_loads
        for index, counts in enumerate(self._counts):
            is_fixed = self._topic_loads[index].is_fixed
            for broker, part in self._loads_by_broker(index, counts).items():
                self._broker_loads[broker] += part
                if is_fixed:
                    fixed_loads[broker] += part
                else:
                    self._parts_by_broker[broker].append((-part, index))
        for broker_parts in self._parts_by_broker:
            broker_parts.sort()
        kept_load = sum(self._broker_loads) - sum(fixed_loads[broker] for broker in self._removed)
        return max(
            kept_load / len(self._kept_brokers), *(fixed_loads[broker] for broker in self._kept_brokers)
        )

    def _final_lower_bound(self) -> float:
        """The bound for the load that remains; limits can leave load on removed brokers."""
        mean_load = sum(self._broker_loads[broker] for broker in self._kept_brokers) / len(self._kept_brokers)
        return max(mean_load, *(self._fixed_loads[broker] for broker in self._kept_brokers))

    def _loads_by_broker(self, index: int, counts: Mapping[int, int]) -> dict[int, float]:
        """The topic's load on each of its brokers."""
        unit_load, total = self._unit_loads[index], sum(counts.values())
        return {broker: unit_load * count / total for broker, count in counts.items()}

    def _excess_change(self, index: int, counts: Counts) -> float:
        """The effect of these queue counts on the excess of all brokers."""
        old_parts = self._loads_by_broker(index, self._counts[index])
        new_parts = self._loads_by_broker(index, counts)
        excess_change = 0.0
        for broker in sorted(old_parts.keys() | new_parts.keys()):
            load = self._broker_loads[broker]
            new_load = load - old_parts.get(broker, 0.0) + new_parts.get(broker, 0.0)
            excess_change += self._excess_load(broker, new_load) - self._excess_load(broker, load)
        return excess_change

    def _excess_load(self, broker: int, load: float) -> float:
        """How far the load is above the target; for an added broker, also how much of its part it lacks."""
        lacking_load = max(0.0, self._least_of_added - load) if broker in self._added else 0.0
        return max(0.0, load - self._target) + lacking_load

    def _count_changes(self, index: int, counts: Counts) -> int:
        """The queues that are added or removed, compared with the state before."""
        before = self._counts_before[index]
        return sum(abs(counts.get(b, 0) - before.get(b, 0)) for b in counts.keys() | before.keys())

    def _allowed_from(self, queue_count: int) -> int | None:
        """The smallest allowed count that is not less."""
        return next((allowed for allowed in self._allowed_counts if allowed >= queue_count), None)

    def _is_within_limits(self, index: int, counts: Counts) -> bool:
        if (
            self._limits.max_topics is not None
            and index not in self._changed_topics
            and len(self._changed_topics) >= self._limits.max_topics
        ):
            return False
        if self._limits.max_share is None:
            return True
        moved_load = self._moved_load - self._moved_part(index, self._counts[index])
        return moved_load + self._moved_part(index, counts) <= self._limits.max_share + EPSILON

    def _moved_part(self, index: int, counts: Counts) -> float:
        """The topic's load that is on another broker than before."""
        parts_before = self._loads_by_broker(index, self._counts_before[index])
        new_parts = self._loads_by_broker(index, counts)
        return sum(max(0.0, part - parts_before.get(broker, 0.0)) for broker, part in new_parts.items())

    def _change_topic(self, index: int, counts: Counts) -> None:
        old_counts = self._counts[index]
        self._moved_load += self._moved_part(index, counts) - self._moved_part(index, old_counts)
        for broker, part in self._loads_by_broker(index, old_counts).items():
            self._broker_loads[broker] -= part
            broker_parts = self._parts_by_broker[broker]
            del broker_parts[bisect_left(broker_parts, (-part, index))]
        for broker, part in self._loads_by_broker(index, counts).items():
            self._broker_loads[broker] += part
            insort(self._parts_by_broker[broker], (-part, index))
        self._counts[index] = counts
        if counts == self._counts_before[index]:
            self._changed_topics.discard(index)
        else:
            self._changed_topics.add(index)

    def _largest_load(self) -> float:
        return max(self._broker_loads[broker] for broker in self._kept_brokers)
