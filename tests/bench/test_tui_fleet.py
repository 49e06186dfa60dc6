"""The measurement of the TUI on a large fleet works, and a small fleet under load raises no false alarm."""

from pathlib import Path

from tests.bench.tui_fleet import SMALL, measure


def test_a_small_fleet_on_a_busy_machine_is_complete_and_raises_no_alarm(tmp_path: Path) -> None:
    values, recorded_run = measure(SMALL, tmp_path)
    assert recorded_run.false_alarms == ()
    assert recorded_run.groups_seconds is not None
    assert recorded_run.poll_count > 2 * SMALL.broker_groups
    assert values["first screen, s"] <= values["all brokers known, s"]
