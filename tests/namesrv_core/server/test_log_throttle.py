"""Lines that peers can cause: one of a kind for a while, then how many there were."""

import logging

import pytest

from namesrv_core.server.log_throttle import LogThrottle


def test_one_line_of_a_kind_for_a_while_and_then_how_many_were_left_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = [0.0]
    sparing = LogThrottle(10, lambda: now[0])
    with caplog.at_level(logging.WARNING, "namesrv"):
        for number in range(5):
            sparing.log_warning("a", f"a{number}")
        sparing.log_warning("b", "b0")
        now[0] = 9.9
        sparing.log_warning("a", "a5")
        now[0] = 10
        sparing.log_warning("a", "a6")
        now[0] = 20
        sparing.log_warning("a", "a7")
    assert [record.message for record in caplog.records] == [
        "a0",
        "b0",
        "a6 (and 5 similar ones since the last such line)",
        "a7",
    ]
