"""The clock of the client's calls, in a test's hand: a loaded machine then changes nothing."""

from collections.abc import Callable

import pytest


def calls_clock(monkeypatch: pytest.MonkeyPatch, now: Callable[[], float]) -> None:
    """Time-outs of calls are reckoned with this clock; the selector still waits in real time."""
    for module in ("calls", "exchange"):
        monkeypatch.setattr(f"namesrv_core.transport.{module}.monotonic", now)


def timeouts_wait_for(monkeypatch: pytest.MonkeyPatch, happened: Callable[[], bool]) -> None:
    """No time passes until that has happened, and then every time-out is over."""
    calls_clock(monkeypatch, lambda: 1000.0 if happened() else 0.0)
