"""The grammar of durations."""

import pytest

from namesrv_core.durations import parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90), ("0.5", 0.5), ("500ms", 0.5), ("15s", 15), ("1h30m", 5400), ("2d", 172_800),
        ("1w", 604_800),
        ("", None), ("h", None), ("1 h", None), ("-1h", None), ("1h30", 3630), ("1y", None), ("1.s", None),
        ("٣s", None),
    ],
)  # fmt: skip
def test_durations(text: str, seconds: float | None) -> None:
    assert parse_duration(text) == seconds
