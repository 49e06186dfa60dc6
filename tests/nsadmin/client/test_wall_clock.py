"""The clock of everything that reads a cluster."""

from time import time

from nsadmin.client import wall_clock


def test_the_clock_runs_until_it_is_frozen_and_then_again() -> None:
    assert abs(wall_clock.time() - time()) < 60
    wall_clock.freeze_clock(1_700_000_000.5)
    try:
        assert wall_clock.time() == 1_700_000_000.5
    finally:
        wall_clock.freeze_clock(None)
    assert abs(wall_clock.time() - time()) < 60
