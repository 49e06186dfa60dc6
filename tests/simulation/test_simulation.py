"""Schedules that CI runs: fixed ones, new ones, and those that find planted faults."""

import os
from collections.abc import Iterator, Mapping
from random import SystemRandom

import pytest

from tests.simulation.planted_faults import PLANTED_FAULTS, PlantedFault
from tests.simulation.procedures import PROCEDURES
from tests.simulation.runner import Coverage, plan_seed, run_schedule, run_seeds

FIXED_SCHEDULES = {
    "apply": 40,
    "copy": 30,
    "drain": 800,
    "offsets": 50,
    "ordered": 4,
    "rebalance": 10,
    "removal": 6,
    "replay": 150,
    "restart": 60,
    "restore": 40,
    "scale-in": 20,
    "transfer": 30,
}
NEW_SCHEDULES = {
    "apply": 10,
    "copy": 15,
    "drain": 250,
    "offsets": 10,
    "ordered": 3,
    "rebalance": 5,
    "removal": 3,
    "replay": 50,
    "restart": 30,
    "restore": 20,
    "scale-in": 5,
    "transfer": 15,
}
_SCHEDULES_PER_TEST = 250


@pytest.fixture(autouse=True)
def audit_file_of_simulation() -> Iterator[None]:
    """A run writes its audit to its own disk."""
    before = os.environ["NSADMIN_AUDIT"]
    yield
    os.environ["NSADMIN_AUDIT"] = before


def list_parts(counts: Mapping[str, int]) -> list[tuple[str, range]]:
    """The schedules of each procedure, in parts that processes of pytest share."""
    return [
        (procedure, range(first, min(first + _SCHEDULES_PER_TEST, count)))
        for procedure, count in sorted(counts.items())
        for first in range(0, count, _SCHEDULES_PER_TEST)
    ]


def require_no_failure(procedure: str, seeds: range) -> None:
    failures = run_seeds(PROCEDURES[procedure], seeds, Coverage())
    assert not failures, "\n\n".join(failure.describe() for failure in failures)


@pytest.mark.parametrize(("procedure", "seeds"), list_parts(FIXED_SCHEDULES))
def test_fixed_schedules_break_no_invariant(procedure: str, seeds: range) -> None:
    require_no_failure(procedure, seeds)


@pytest.mark.parametrize(("procedure", "seeds"), list_parts(NEW_SCHEDULES))
def test_new_schedules_break_no_invariant(procedure: str, seeds: range) -> None:
    first = SystemRandom().randrange(1 << 40)
    require_no_failure(procedure, range(first, first + len(seeds)))


def test_a_schedule_has_the_same_story_each_time() -> None:
    run_class = PROCEDURES["drain"]
    stories = [run_schedule(run_class, 7, plan_seed(run_class, 7))[1].story for _ in range(2)]
    assert stories[0] == stories[1]
    assert len(stories[0]) > 10


@pytest.mark.parametrize("fault", PLANTED_FAULTS, ids=lambda fault: fault.title.replace(" ", "_"))
def test_a_planted_fault_is_found(fault: PlantedFault) -> None:
    run_class = PROCEDURES[fault.procedure]
    faults = fault.plan(fault.seed)
    with fault.plant():
        assert run_schedule(run_class, fault.seed, faults)[0] is not None
    assert run_schedule(run_class, fault.seed, faults)[0] is None
