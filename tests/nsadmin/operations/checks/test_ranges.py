"""Ranges, as the examples of the Monitoring Plugins Development Guidelines have them."""

import pytest

from nsadmin.operations.checks.ranges import InvalidRangeError, parse_range


@pytest.mark.parametrize(
    ("text", "fine", "not_fine"),
    [
        ("10", (0, 10, 5.5), (-0.1, 10.1)),
        ("10:", (10, 1e12), (9.9, -1)),
        ("~:10", (-1e12, 10), (10.1,)),
        ("10:20", (10, 20), (9.9, 20.1)),
        ("@10:20", (9.9, 20.1), (10, 20, 15)),
        ("@10", (-1, 11), (0, 10)),
        ("~:", (-1e12, 0, 1e12), ()),
        (":3", (0, 3), (-1, 4)),
        ("-5:-1", (-3,), (0,)),
        ("0.5", (0.5,), (0.6,)),
    ],
)
def test_what_a_range_says_is_fine(text: str, fine: tuple[float, ...], not_fine: tuple[float, ...]) -> None:
    limits = parse_range(text)
    assert not any(map(limits.is_alert, fine))
    assert all(map(limits.is_alert, not_fine))
    assert limits.range_text == text


@pytest.mark.parametrize("text", ["", "@", "x", "10:x", "1:2:3", "10:5", "nan", "inf", "~", "5m"])
def test_what_is_no_range(text: str) -> None:
    with pytest.raises(InvalidRangeError, match="invalid range"):
        parse_range(text)


def test_a_limit_below_0_says_what_it_means() -> None:
    with pytest.raises(InvalidRangeError, match='"-1": it means 0 to -1, and 0 is more than -1: use'):
        parse_range("-1")
