"""Words of a command line."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from nsreport.runtime import flags


@pytest.mark.parametrize(
    ("read", "text", "found"),
    [
        (flags.parse_source, "ns-1=/a=b", ("ns-1", "/a=b")),
        (flags.parse_source, "*=/logs/*/x", ("*", "/logs/*/x")),
        (flags.parse_setting, "spark.x=a=b", ("spark.x", "a=b")),
        (flags.parse_share, "1%", 0.01),
        (flags.parse_share, "0.5", 0.5),
        (flags.parse_share, "0", 0.0),
        (flags.parse_moment, "1738400000123", 1_738_400_000_123),
        (flags.parse_moment, "2025-02-01", 1_738_368_000_000),
        (flags.parse_moment, "2025-02-01T01:00+01:00", 1_738_368_000_000),
        (flags.parse_seconds, "30s", 30.0),
        (flags.parse_seconds, "5m", 300.0),
        (flags.parse_words, "a,,b", ("a", "b")),
    ],
)
def test_what_words_mean(read: Callable[[str], Any], text: str, found: Any) -> None:
    assert read(text) == found


def test_a_moment_may_be_that_long_ago() -> None:
    before = int(time.time() * 1000)
    week, minute = flags.parse_moment("7d"), flags.parse_moment("-1m")
    assert 0 <= week - (before - 7 * 86_400_000) < 60_000
    assert 0 <= minute - (before - 60_000) < 60_000


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (flags.parse_source, "/a"), (flags.parse_source, "=/a"), (flags.parse_source, "x="),
        (flags.parse_source, "*=/a"),
        (flags.parse_setting, "x=1"), (flags.parse_setting, "spark.x"), (flags.parse_share, "much"),
        (flags.parse_share, "200%"),
        (flags.parse_share, "-1"), (flags.parse_moment, "yesterday"), (flags.parse_seconds, "0s"),
        (flags.parse_seconds, "5"),
    ],
)  # fmt: skip
def test_what_means_nothing(read: Callable[[str], Any], text: str) -> None:
    with pytest.raises(flags.InvalidFlagError, match=text.replace("*", r"\*")):
        read(text)
