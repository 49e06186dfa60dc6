"""Times as tables show them."""

import pytest

from nsadmin.console.output.timestamps import format_utc


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (None, None),
        (0, None),
        (-1, None),
        (1795231796713, "2026-11-21T03:29:56.713Z"),
        (1, "1970-01-01T00:00:00.001Z"),
        (2**63 - 1, "9223372036854775807"),
    ],
)
def test_utc(milliseconds: int | None, text: str | None) -> None:
    assert format_utc(milliseconds) == text
