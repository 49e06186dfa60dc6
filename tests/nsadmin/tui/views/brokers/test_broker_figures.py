"""What a broker tells about itself, with units."""

import pytest

from nsadmin.tui.views.brokers.broker_figures import format_with_unit, group_of_figure, list_figures
from tests.support.screens import NOON


@pytest.mark.parametrize(
    ("key", "value", "shown", "note"),
    [
        ("putTps", "12.5 1000.2 3", "12  1.0k  3.0", "per second, over 10 s, 1 min, 10 min"),
        ("bootTimestamp", str(NOON - 7_200_000), "2025-12-31 10:00:00", "2.0 h ago"),
        ("earliestMessageTimeStamp", "-1", "–", ""),
        ("pageCacheLockTimeMills", "7", "7 ms", ""),
        ("commitLogDiskRatio", "0.37", "37%", "of the disk"),
        ("dispatchBehindBytes", "2048", "2.0 KiB", "2,048 bytes"),
        ("timerDequeueTps", "0.5", "0.5", "per second"),
        ("msgPutTotalTodayNow", "1234567", "1,234,567", "1.2M"),
        ("brokerVersionDesc", "V5_5_0", "V5_5_0", ""),
        ("sendThreadPoolQueueSize", "3", "3", ""),
        ("scheduleMessageOffset_1", "1,2", "1,2", ""),
        ("putTps", "NaN Infinity 1", "NaN Infinity 1", ""),
        ("bootTimestamp", "1" + 17 * "0", "1" + 17 * "0", "no date"),
        ("bootTimestamp", str(NOON + 7_200_000), "2025-12-31 14:00:00", "in 2.0 h"),
    ],
)
def test_values_have_their_unit(key: str, value: str, shown: str, note: str, utc: None) -> None:
    assert format_with_unit(key, value, NOON) == (shown, note)


def test_groups_are_by_what_a_figure_is_about_and_each_is_named_once() -> None:
    figures = list_figures(
        {"putTps": "1 1 1", "zzz": "?", "getMissTps": "1 1 1", "timerReadBehind": "0"}, NOON
    )
    assert [(figure.group_label, figure.figure_key) for figure in figures] == [
        ("Messages", "getMissTps"), ("", "putTps"), ("Timers", "timerReadBehind"), ("Other", "zzz")
    ]  # fmt: skip
    assert group_of_figure("commitLogDiskRatio") == "Store"
