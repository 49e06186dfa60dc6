"""The moments to which a replay jumps."""

from nsadmin.tui.actions.moment_parser import parse_moment
from tests.support.screens import NOON


def test_moments_are_times_of_day_or_seconds_from_here(utc: None) -> None:
    begin, end = NOON, NOON + 86_400_000
    assert parse_moment("+60", NOON, begin, end) == NOON + 60_000
    assert parse_moment("-5", NOON, begin, end) == NOON - 5_000
    assert parse_moment("12:00:30", 0, begin, end) == NOON + 30_000
    assert parse_moment("12:01", 0, begin, end) == NOON + 60_000
    assert parse_moment("00:30", 0, begin, end) == NOON + 45_000_000
    assert [parse_moment(text, 0, begin, end) for text in ("25:99", "24:00", "12:60", "12:00:60")] == [
        None
    ] * 4
    assert parse_moment("noon", 0, begin, end) is parse_moment("+x", 0, begin, end) is None
