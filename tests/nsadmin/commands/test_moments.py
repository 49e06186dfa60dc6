"""Moments, however they are written."""

import pytest

from nsadmin.commands.moments import moment
from nsadmin.diagnostics import UsageError


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        (None, 7),
        ("0", 0),
        ("1795231107422", 1795231107422),
        ("2026-11-21T03:18:27.422Z", 1795231107422),
        ("2026-11-21T04:18:27+01:00", 1795231107000),
        ("2026-11-21 03:18Z", 1795231080000),
    ],
)
def test_what_a_text_means(text: str | None, milliseconds: int) -> None:
    assert moment("c", "-b", text, 7) == milliseconds


def test_without_a_zone_it_is_this_machines() -> None:
    assert moment("c", "-b", "2026-11-21#03:18:27:422", 0) == moment("c", "-b", "2026-11-21T03:18:27.422", 0)


def test_now() -> None:
    assert moment("c", "-b", "now", 0) > 1_700_000_000_000


@pytest.mark.parametrize("text", ["", "yesterday", "-5", "9" * 20, "2026-13-01"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(UsageError, match=r"c: -b .*is no time: give ms since 1970"):
        moment("c", "-b", text, 0)
