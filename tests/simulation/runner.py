"""Runs schedules, and shrinks those that break an invariant to a few faults."""

import sys
import warnings
from collections import Counter
from collections.abc import Iterable
from random import Random
from typing import Any, ClassVar, NamedTuple, Protocol
from unittest.mock import patch

from nsadmin.operations import process_lock
from tests.simulation.cluster import Cluster, plan_faults
from tests.simulation.repeated_reads import repeat_reads
from tests.simulation.virtual_disk import ProcessKilled, mount
from tests.simulation.world import START_MS, Fault, InvariantBroken, World


class Run(Protocol):
    """One simulated run of a procedure, made of a seed and the faults of its schedule."""

    world: World
    cluster: Cluster
    fault_kinds: ClassVar[tuple[str, ...]]
    step_count: ClassVar[int]

    def __init__(self, seed: int, faults: list[Fault]) -> None: ...

    def run(self) -> None:
        """Run it to its end. Raises InvariantBroken."""


MakeRun = type[Run]


class Failure(NamedTuple):
    """A schedule that broke an invariant, shrunk. `story` is what happened."""

    seed: int
    faults: list[Fault]
    problem: str
    story: list[str]

    def describe(self) -> str:
        """The seed, the faults and the story, for people."""
        faults = [f"  {fault}" for fault in self.faults] or ["  none"]
        return "\n".join(
            [
                f"seed {self.seed}: {self.problem}",
                "faults of the shrunk schedule:",
                *faults,
                "story, in seconds from the start:",
                *(f"  {line}" for line in self.story),
            ]
        )


class Coverage:
    """How many schedules ran, and which faults met which steps."""

    def __init__(self) -> None:
        self.schedules = 0
        self.virtual_ms = 0
        self.pairs: Counter[tuple[str, str]] = Counter()

    def count_run(self, world: World) -> None:
        self.schedules += 1
        self.virtual_ms += world.true_ms - START_MS
        self.pairs.update(world.steps_with_faults)

    def add(self, other: "Coverage") -> None:
        self.schedules += other.schedules
        self.virtual_ms += other.virtual_ms
        self.pairs += other.pairs

    def describe(self) -> str:
        """The pairs of fault and step, as a list by fault."""
        lines = [
            f"{self.schedules:,} schedules, {self.virtual_ms / 3_600_000:,.0f} hours of simulated time, "
            f"{len(self.pairs)} pairs of fault and step"
        ]
        for kind in sorted({kind for kind, _ in self.pairs}):
            steps = {step: times for (k, step), times in self.pairs.items() if k == kind}
            lines.append(f"  {kind}: {sum(steps.values()):,} times before {len(steps)} different steps")
        return "\n".join(lines)


def run_schedule(make_run: MakeRun, seed: int, faults: list[Fault]) -> tuple[str | None, World]:
    """Run one schedule. Return what it broke, or None, and its world."""
    run = make_run(seed, faults)
    show_unraisable = sys.unraisablehook

    def hide_killed(unraisable: Any) -> None:
        # A generator of a killed process cannot release its lock when it is collected.
        if not isinstance(unraisable.exc_value, ProcessKilled):
            show_unraisable(unraisable)

    with (
        mount(lambda: run.world.disk),
        repeat_reads(run.cluster),
        # The wait for a lock that a process holds for a moment: here it holds it for long.
        patch.object(process_lock, "_RETRY_PAUSE_SECONDS", 0),
        patch.object(sys, "unraisablehook", hide_killed),
        warnings.catch_warnings(record=True) as run.world.warnings,
    ):
        warnings.simplefilter("always", RuntimeWarning)
        try:
            run.run()
        except InvariantBroken as error:
            return str(error), run.world
        except Exception as error:
            return f"{type(error).__name__}: {error}", run.world
    return None, run.world


def plan_seed(make_run: MakeRun, seed: int) -> list[Fault]:
    return plan_faults(Random(f"faults {seed}"), make_run.fault_kinds, make_run.step_count)


def run_seed(make_run: MakeRun, seed: int, coverage: Coverage) -> Failure | None:
    faults = plan_seed(make_run, seed)
    problem, world = run_schedule(make_run, seed, faults)
    coverage.count_run(world)
    return None if problem is None else shrink(make_run, seed, faults)


def shrink(make_run: MakeRun, seed: int, faults: list[Fault]) -> Failure:
    """Leave out faults as long as an invariant still breaks."""
    index = 0
    while index < len(faults):
        fewer = faults[:index] + faults[index + 1 :]
        if run_schedule(make_run, seed, fewer)[0] is not None:
            faults = fewer
        else:
            index += 1
    problem, world = run_schedule(make_run, seed, faults)
    story = [f"{(time_ms - START_MS) / 1000:9.3f} {text}" for time_ms, text in world.story]
    return Failure(seed, faults, problem or "the failure does not repeat", story)


def run_seeds(make_run: MakeRun, seeds: Iterable[int], coverage: Coverage) -> list[Failure]:
    """Run the schedules of seeds, and return the failures."""
    found = (run_seed(make_run, seed, coverage) for seed in seeds)
    return [failure for failure in found if failure is not None]
