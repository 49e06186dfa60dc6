"""Searches each planted fault: `python -m tests.simulation.planted_search --schedules 20000`."""

import argparse
import sys

from tests.simulation.planted_faults import PLANTED_FAULTS, PlantedFault
from tests.simulation.procedures import PROCEDURES
from tests.simulation.runner import Failure, run_schedule, shrink


def search_fault(fault: PlantedFault, max_schedules: int) -> tuple[int, Failure | None]:
    """Run schedules until one finds the fault. Return its seed, and the shrunk failure or None."""
    make_run = PROCEDURES[fault.procedure]
    with fault.plant():
        for seed in range(max_schedules):
            faults = fault.plan(seed)
            if run_schedule(make_run, seed, faults)[0] is not None:
                return seed, shrink(make_run, seed, faults)
    return 0, None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schedules", type=int, default=20_000)
    parser.add_argument("--title", help="only the faults with this text in their title")
    options = parser.parse_args()
    missed = 0
    for fault in PLANTED_FAULTS:
        if (options.title or "") not in fault.title:
            continue
        seed, failure = search_fault(fault, options.schedules)
        missed += failure is None
        kinds = ", ".join(f.kind for f in failure.faults) if failure else ""
        found = "MISSED" if failure is None else f"seed {seed}: {failure.problem} ({kinds or 'no fault'})"
        print(f"{fault.title}: {found}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
