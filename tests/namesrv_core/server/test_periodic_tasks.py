"""Tasks that come round again."""

import asyncio
import time

import pytest

from namesrv_core.server import periodic_tasks
from namesrv_core.server.counters import Histogram
from namesrv_core.server.periodic_tasks import LoopLagMonitor, PeriodicTasks, begin_with_pause
from tests.support.name_servers import wait_until


async def test_every_task_comes_round_at_its_own_pace() -> None:
    quick: list[float] = []
    slow: list[float] = []
    clock = asyncio.get_running_loop().time
    housekeeping = PeriodicTasks(
        (lambda: 0.001, lambda: quick.append(clock())), (lambda: 0.02, lambda: slow.append(clock()))
    )
    housekeeping.start()
    await wait_until(lambda: len(slow) == 2)
    housekeeping.stop()
    assert len(quick) > len(slow)
    assert slow[1] - slow[0] > 0.015


async def test_nothing_is_done_before_the_first_pause_is_over() -> None:
    done: list[int] = []
    housekeeping = PeriodicTasks((lambda: 60.0, lambda: done.append(1)))
    housekeeping.start()
    await asyncio.sleep(0)
    assert done == []
    housekeeping.stop()


async def test_a_pause_is_asked_for_each_time() -> None:
    pauses = iter([0.001, 0.001, 60.0])
    done: list[int] = []
    housekeeping = PeriodicTasks((lambda: next(pauses), lambda: done.append(1)))
    housekeeping.start()
    await wait_until(lambda: len(done) == 2)
    housekeeping.stop()
    assert list(pauses) == []


async def test_nothing_is_done_after_the_stop() -> None:
    done: list[int] = []
    housekeeping = PeriodicTasks((lambda: 0.001, lambda: done.append(1)))
    housekeeping.start()
    await wait_until(lambda: done)
    housekeeping.stop()
    before = len(done)
    await asyncio.sleep(0.01)
    assert len(done) == before


def test_the_first_pause_may_be_another_one() -> None:
    interval = [7.0]
    pause = begin_with_pause(5.0, lambda: interval[0])
    first, second = pause(), pause()
    interval[0] = 9.0
    assert (first, second, pause()) == (5.0, 7.0, 9.0)


async def test_a_loop_that_was_busy_is_found_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(periodic_tasks, "_PERIOD_SECONDS", 0.001)
    seconds = Histogram((0.05,))
    lag = LoopLagMonitor(seconds)
    lag.start()
    await wait_until(lambda: sum(seconds.bucket_counts) > 3)
    before = seconds.bucket_counts[1]
    time.sleep(0.1)  # noqa: ASYNC251 - the loop is to be held up
    await wait_until(lambda: seconds.bucket_counts[1] > before)
    lag.stop()


async def test_it_ends_when_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(periodic_tasks, "_PERIOD_SECONDS", 0.001)
    seconds = Histogram((1.0,))
    lag = LoopLagMonitor(seconds)
    lag.start()
    lag.stop()
    await asyncio.sleep(0.02)
    assert sum(seconds.bucket_counts) == 0
    LoopLagMonitor(seconds).stop()
