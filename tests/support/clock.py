"""The clock of the client's calls, in a test's hand: a loaded machine then changes nothing."""

import time
from collections.abc import Callable

import pytest

from nsadmin.commands.procedures import signals
from nsadmin.operations.procedure_clock import ProcedureClock


def set_calls_clock(monkeypatch: pytest.MonkeyPatch, now: Callable[[], float]) -> None:
    """Time-outs of calls are reckoned with this clock; the selector still waits in real time."""
    for module in ("multiplexed_client", "exchange"):
        monkeypatch.setattr(f"namesrv_core.transport.{module}.monotonic", now)


def hold_timeouts_until(monkeypatch: pytest.MonkeyPatch, happened: Callable[[], bool]) -> None:
    """No time passes until that has happened, and then every time-out is over."""
    set_calls_clock(monkeypatch, lambda: 1000.0 if happened() else 0.0)


def speed_up_drains(monkeypatch: pytest.MonkeyPatch, speed: int = 50) -> None:
    """For drains time goes so much faster, as clients of a lab can be had to look at routes more often."""
    began = time.monotonic()

    def now() -> int:
        return int((time.time() + (time.monotonic() - began) * (speed - 1)) * 1000)

    monkeypatch.setattr(
        signals,
        "SYSTEM_CLOCK",
        ProcedureClock(now, lambda seconds: time.sleep(seconds / speed), lambda: now() / 1000),
    )
