"""From which figures on something deserves a look."""

import pytest

from nsadmin.operations.checks.lag import CHECK
from nsadmin.tui.views import alert_levels


@pytest.mark.parametrize(
    ("name", "number", "found"),
    [("latency", None, ""), ("latency", 100, ""), ("latency", 101, "warn"), ("latency", 1001, "bad"),
     ("sendWait", 201, "bad")],
)  # fmt: skip
def test_a_level_is_reached_above_its_figure(name: str, number: float | None, found: str) -> None:
    assert alert_levels.figure_tone(name, number) == found


def test_a_disk_is_a_part_of_the_whole() -> None:
    assert [alert_levels.disk_tone(ratio) for ratio in (None, 0.75, 0.76, 0.86)] == ["", "", "warn", "bad"]


def test_lag_and_heartbeats_are_those_of_the_checks() -> None:
    [lag] = [measure for measure in CHECK.measures if measure.name == "lag"]
    assert (lag.warning, lag.critical) == ("10000", "100000")
    assert [alert_levels.lag_tone(number) for number in (None, 10_000, 10_001, 100_001)] == [
        "",
        "",
        "warn",
        "bad",
    ]
    assert [alert_levels.heartbeat_tone(part) for part in (None, 0.5, 0.6, 0.8)] == ["", "", "warn", "bad"]


def test_every_figure_has_both_limits() -> None:
    assert all(measure.warning and measure.critical for measure in alert_levels.FIGURE_MEASURES)
