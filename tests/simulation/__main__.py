"""Runs many schedules: `python -m tests.simulation --schedules 1000000`. Exits with 1 if one breaks a rule.

Prints each failure with its seed, the shrunk schedule and its story, and in the end which faults met which
steps. `--seed N` runs one schedule and tells its story.
"""

import argparse
import os
import random
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

from tests.simulation.procedures import PROCEDURES
from tests.simulation.runner import Coverage, Failure, plan_seed, run_seeds, shrink

_CHUNK = 50


def _run_chunk(procedure: str, first_seed: int, count: int) -> tuple[list[Failure], Coverage]:
    coverage = Coverage()
    return run_seeds(PROCEDURES[procedure], range(first_seed, first_seed + count), coverage), coverage


def run_many(procedure: str, first_seed: int, count: int) -> Iterator[tuple[list[Failure], Coverage]]:
    """Run the schedules on all processors, and yield the results of each part."""
    with ProcessPoolExecutor(os.cpu_count()) as executor:
        parts = [
            executor.submit(_run_chunk, procedure, seed, min(_CHUNK, first_seed + count - seed))
            for seed in range(first_seed, first_seed + count, _CHUNK)
        ]
        for part in parts:
            yield part.result()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--procedure", choices=sorted(PROCEDURES), action="append")
    parser.add_argument("--schedules", type=int, default=1_000)
    parser.add_argument("--first-seed", type=int, default=random.SystemRandom().randrange(1 << 40))
    parser.add_argument("--seed", type=int, help="run only this schedule")
    options = parser.parse_args()
    procedures = options.procedure or sorted(PROCEDURES)
    if options.seed is not None:
        make_run = PROCEDURES[procedures[0]]
        failure = shrink(make_run, options.seed, plan_seed(make_run, options.seed))
        print(failure.describe())
        return 0
    failure_count = 0
    for procedure in procedures:
        coverage, began = Coverage(), time.monotonic()
        for failures, part in run_many(procedure, options.first_seed, options.schedules):
            coverage.add(part)
            for failure in failures:
                failure_count += 1
                print(f"{procedure}: {failure.describe()}\n", flush=True)
        seconds = time.monotonic() - began
        print(f"{procedure}: {coverage.describe()}\n{coverage.schedules / seconds:,.0f} schedules a second")
    return 1 if failure_count else 0


if __name__ == "__main__":
    sys.exit(main())
