"""Searches each planted fault: `python -m tests.simulation.planted_search --schedules 20000`."""

import argparse
import sys
import warnings

from tests.simulation.planted_faults import PLANTED_FAULTS, PlantedFault
from tests.simulation.procedures import PROCEDURES
from tests.simulation.runner import Failure, plan_seed, run_schedule, shrink


def search_fault(fault: PlantedFault, max_schedules: int, first_seed: int = 0) -> tuple[int, Failure | None]:
    """Run schedules until one finds the fault. Return their number, and the shrunk failure or None."""
    make_run = PROCEDURES[fault.procedure]
    with fault.plant(), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for count, seed in enumerate(range(first_seed, first_seed + max_schedules), 1):
            faults = plan_seed(make_run, seed)
            if run_schedule(make_run, seed, faults)[0] is not None:
                return count, shrink(make_run, seed, faults)
    return max_schedules, None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schedules", type=int, default=20_000)
    parser.add_argument("--title", help="only the faults with this text in their title")
    options = parser.parse_args()
    missed = 0
    for fault in PLANTED_FAULTS:
        if (options.title or "") in fault.title:
            count, failure = search_fault(fault, options.schedules)
            missed += failure is None
            print(
                f"{fault.title}: "
                + (
                    "MISSED"
                    if failure is None
                    else f"schedule {count}: {failure.problem}; {', '.join(f.kind for f in failure.faults) or 'no fault'}"
                ),
                flush=True,
            )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
