"""Ctrl-C and SIGTERM, between two steps."""

import os
import signal
from threading import Thread

import pytest

from nsadmin.commands.procedures.signals import StopRequestedError, catch_stop_signals
from nsadmin.operations.procedure_clock import ProcedureClock

NUMBERS = (signal.SIGINT, signal.SIGTERM)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_signal_is_heard_at_the_next_step(number: int) -> None:
    waited: list[float] = []
    with catch_stop_signals(ProcedureClock(lambda: 7, waited.append)) as stop:
        stop.raise_if_requested()
        stop.stoppable_clock.pause_seconds(0.3)
        os.kill(os.getpid(), number)
        with pytest.raises(StopRequestedError):
            stop.raise_if_requested()
        with pytest.raises(StopRequestedError):
            stop.stoppable_clock.pause_seconds(9)
    assert sum(waited) == pytest.approx(0.3)
    assert stop.stoppable_clock.now_ms() == 7


def test_a_pause_ends_with_the_signal() -> None:
    waited: list[float] = []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 3:
            os.kill(os.getpid(), signal.SIGTERM)

    with catch_stop_signals(ProcedureClock(lambda: 0, wait)) as stop, pytest.raises(StopRequestedError):
        stop.stoppable_clock.pause_seconds(1000)
    assert len(waited) == 3


@pytest.mark.parametrize("number", NUMBERS)
def test_afterwards_signals_are_what_they_were(number: int) -> None:
    before = signal.getsignal(number)
    with catch_stop_signals(ProcedureClock(lambda: 0, lambda _: None)):
        assert signal.getsignal(number) is not before
        os.kill(os.getpid(), number)
        # A second one would end the process as usual.
        assert signal.getsignal(number) is before
    assert signal.getsignal(number) is before


def test_in_another_thread_nothing_is_heard() -> None:
    signals_seen: list[bool] = []

    def run() -> None:
        with catch_stop_signals(ProcedureClock(lambda: 0, lambda _: None)) as stop:
            stop.request_stop()
            try:
                stop.raise_if_requested()
            except StopRequestedError:
                signals_seen.append(True)

    thread = Thread(target=run)
    thread.start()
    thread.join()
    assert signals_seen == [True]
