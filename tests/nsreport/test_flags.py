"""Words of a command line."""

import argparse
import time
from collections.abc import Callable
from typing import Any

import pytest

from nsreport import flags


@pytest.mark.parametrize(
    ("read", "text", "found"),
    [
        (flags.source, "ns-1=/a=b", ("ns-1", "/a=b")),
        (flags.source, "*=/logs/*/x", ("*", "/logs/*/x")),
        (flags.setting, "spark.x=a=b", ("spark.x", "a=b")),
        (flags.share, "1%", 0.01),
        (flags.share, "0.5", 0.5),
        (flags.share, "0", 0.0),
        (flags.moment, "1738400000123", 1_738_400_000_123),
        (flags.moment, "2025-02-01", 1_738_368_000_000),
        (flags.moment, "2025-02-01T01:00+01:00", 1_738_368_000_000),
        (flags.seconds, "30s", 30.0),
        (flags.seconds, "5m", 300.0),
        (flags.words, "a,,b", ("a", "b")),
    ],
)
def test_what_words_mean(read: Callable[[str], Any], text: str, found: Any) -> None:
    assert read(text) == found


def test_a_moment_may_be_that_long_ago() -> None:
    before = int(time.time() * 1000)
    week, minute = flags.moment("7d"), flags.moment("-1m")
    assert 0 <= week - (before - 7 * 86_400_000) < 60_000
    assert 0 <= minute - (before - 60_000) < 60_000


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (flags.source, "/a"), (flags.source, "=/a"), (flags.source, "x="), (flags.source, "*=/a"),
        (flags.setting, "x=1"), (flags.setting, "spark.x"), (flags.share, "much"), (flags.share, "200%"),
        (flags.share, "-1"), (flags.moment, "yesterday"), (flags.seconds, "0s"), (flags.seconds, "5"),
    ],
)  # fmt: skip
def test_what_means_nothing(read: Callable[[str], Any], text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=text.replace("*", r"\*")):
        read(text)
