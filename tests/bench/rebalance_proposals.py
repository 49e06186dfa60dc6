"""Compares the greedy search of `rebalance plan` with an exact integer program, and measures large clusters.

`python -m tests.bench.rebalance_proposals` prints one line for each cluster. The integer program (scipy's
HiGHS) chooses among all permitted queue counts of each topic. It is exact, so it needs small clusters.
"""

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, product
from typing import NamedTuple

from nsadmin.operations.rebalance.load_leveller import level_load
from nsadmin.operations.rebalance.load_state import MIN_BROKERS, LevelResult, TopicLoad

ALLOWED = (4, 8, 16)
SOLVER_SECONDS = 60


class ExactProposal(NamedTuple):
    """The smallest possible largest share, and the fewest changed queues for the share of the greedy search.

    None if the solver did not prove it in its time.
    """

    largest_load: float | None
    changed_queues: int | None
    seconds: float


def make_cluster(
    broker_count: int, topic_count: int, seed: int, exponent: float = 1.0
) -> tuple[list[TopicLoad], list[str]]:
    """Topics with a Zipf load on two to eight random brokers each."""
    generator = random.Random(seed)
    broker_names = [f"broker-{number:03d}" for number in range(broker_count)]
    weights = [1 / (number + 1) ** exponent for number in range(topic_count)]
    generator.shuffle(weights)
    return [
        TopicLoad(
            f"topic-{number:05d}",
            weight / sum(weights),
            dict.fromkeys(
                generator.sample(broker_names, min(broker_count, generator.choice((2, 2, 4, 8)))),
                generator.choice(ALLOWED),
            ),
        )
        for number, weight in enumerate(weights)
    ], broker_names


def count_changed_queues(topic_loads: Sequence[TopicLoad], result: LevelResult) -> int:
    """The queues that the proposal adds or removes."""
    return sum(
        _count_changes(topic_load, result.queue_counts[topic_load.topic])
        for topic_load in topic_loads
        if topic_load.topic in result.queue_counts
    )


def _count_changes(topic_load: TopicLoad, counts: Mapping[str, int]) -> int:
    before = topic_load.queue_counts
    return sum(abs(counts.get(name, 0) - before.get(name, 0)) for name in {*counts, *before})


def solve_exactly(
    topic_loads: Sequence[TopicLoad], broker_names: Sequence[str], share_limit: float
) -> ExactProposal:
    """Solve both steps: the smallest largest share, then the fewest changed queues within `share_limit`."""
    import numpy
    from scipy.optimize import Bounds, LinearConstraint, milp  # type: ignore[import-untyped]

    choices = [
        (topic_load, counts)
        for topic_load in topic_loads
        for counts in _list_choices(topic_load, broker_names)
    ]
    choice_count = len(choices)
    is_of_topic = numpy.array(
        [[float(choice[0] is topic_load) for choice in choices] + [0.0] for topic_load in topic_loads]
    )
    loads = numpy.array(
        [
            [
                topic_load.load * counts.get(broker_name, 0) / sum(counts.values())
                for topic_load, counts in choices
            ]
            + [-1.0]
            for broker_name in broker_names
        ]
    )
    changes = [float(_count_changes(topic_load, counts)) for topic_load, counts in choices]
    constraints = [LinearConstraint(is_of_topic, 1, 1), LinearConstraint(loads, -numpy.inf, 0)]
    integrality = numpy.array([1] * choice_count + [0])
    started = time.perf_counter()

    def solve(costs: list[float], largest_load: float) -> float | None:
        bounds = Bounds([0.0] * (choice_count + 1), [1.0] * choice_count + [largest_load])
        solution = milp(
            costs,
            constraints=constraints,
            integrality=integrality,
            bounds=bounds,
            options={"time_limit": SOLVER_SECONDS, "mip_rel_gap": 1e-4},
        )
        return float(solution.fun) if solution.status == 0 else None

    largest_load = solve([0.0] * choice_count + [1.0], 1.0)
    changed_queues = solve([*changes, 0.0], share_limit + 1e-9)
    return ExactProposal(
        largest_load,
        None if changed_queues is None else round(changed_queues),
        time.perf_counter() - started,
    )


def _list_choices(topic_load: TopicLoad, broker_names: Sequence[str]) -> Iterator[dict[str, int]]:
    """All queue counts of a topic that the greedy search may choose, too."""
    before = topic_load.queue_counts
    for counts in product(
        *(sorted({0, before.get(broker_name, 0), *ALLOWED}) for broker_name in broker_names)
    ):
        chosen = {name: count for name, count in zip(broker_names, counts, strict=True) if count}
        if len(chosen) >= min(MIN_BROKERS, len(before)) and sum(counts) >= sum(before.values()):
            yield chosen


def compare_small_clusters() -> Iterator[str]:
    """A line for each small cluster: the greedy search next to the integer program."""
    for broker_count, topic_count, seed in (
        *((3, 8, seed) for seed in range(4)),
        *((3, 20, seed) for seed in range(4)),
        *((4, 10, seed) for seed in range(4)),
    ):
        topic_loads, broker_names = make_cluster(broker_count, topic_count, seed)
        started = time.perf_counter()
        result = level_load(topic_loads, broker_names)
        greedy_seconds = time.perf_counter() - started
        exact = solve_exactly(topic_loads, broker_names, result.largest_load)
        exact_share = "-" if exact.largest_load is None else f"{100 * exact.largest_load:.2f} %"
        yield (
            f"{broker_count} brokers, {topic_count} topics, seed {seed}: "
            f"bound {100 * result.lower_bound:.2f} %, greedy {100 * result.largest_load:.2f} % "
            f"with {count_changed_queues(topic_loads, result)} queues in {greedy_seconds:.3f} s; "
            f"exact {exact_share}, and {exact.changed_queues} queues for the greedy share, "
            f"in {exact.seconds:.1f} s"
        )


def measure_large_clusters() -> Iterator[str]:
    """A line for each large cluster: time, and the largest share next to its lower bound."""
    for exponent in (0.8, 1.0, 1.2):
        topic_loads, broker_names = make_cluster(100, 10_000, 1, exponent)
        for name, added, removed in (
            ("level", [], []),
            ("add", ["broker-new"], []),
            ("remove", [], ["broker-000"]),
        ):
            started = time.perf_counter()
            result = level_load(topic_loads, [*broker_names, *added], added, removed)
            yield (
                f"100 brokers, 10,000 topics, Zipf {exponent}, {name}: "
                f"{time.perf_counter() - started:.2f} s, "
                f"{100 * (result.largest_load / result.lower_bound - 1):.1f} % above the bound, "
                f"{len(result.queue_counts)} topics, "
                f"{count_changed_queues(topic_loads, result)} queues change"
            )


if __name__ == "__main__":
    for report_line in chain(measure_large_clusters(), compare_small_clusters()):
        print(report_line, flush=True)
