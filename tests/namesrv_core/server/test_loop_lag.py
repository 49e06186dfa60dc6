"""How late the loop is."""

import asyncio
import time

import pytest

from namesrv_core.server import loop_lag
from namesrv_core.server.counters import Histogram
from namesrv_core.server.loop_lag import LoopLagMonitor
from tests.support.name_servers import run_on_loop, wait_until


@run_on_loop
async def test_a_loop_that_was_busy_is_found_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_lag, "_PERIOD_SECONDS", 0.001)
    seconds = Histogram((0.05,))
    lag = LoopLagMonitor(seconds)
    lag.start()
    await wait_until(lambda: sum(seconds.bucket_counts) > 3)
    before = seconds.bucket_counts[1]
    time.sleep(0.1)  # noqa: ASYNC251 - the loop is to be held up
    await wait_until(lambda: seconds.bucket_counts[1] > before)
    lag.stop()


@run_on_loop
async def test_it_ends_when_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_lag, "_PERIOD_SECONDS", 0.001)
    seconds = Histogram((1.0,))
    lag = LoopLagMonitor(seconds)
    lag.start()
    lag.stop()
    await asyncio.sleep(0.02)
    assert sum(seconds.bucket_counts) == 0
    LoopLagMonitor(seconds).stop()
