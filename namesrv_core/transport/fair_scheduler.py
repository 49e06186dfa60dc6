"""FairScheduler, which gives busy streams short turns one after the other, so that they do not delay others.

Streams with little to do are answered at once and do not queue here.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from typing import Protocol

TURN_SECONDS = 0.001
"""The length of a turn. A single request can take longer."""

_ROUND_SECONDS = 0.002


class TurnTaker(Protocol):
    """Work that runs in turns."""

    def take_turn(self) -> bool:
        """Do a part of the work. Return whether more is left."""


class _SteppedWork:
    """Work in short steps. Each turn does as many of them as fit into it."""

    def __init__(self, steps: Iterator[None], work_clock: Callable[[], float]) -> None:
        self._work_steps = steps
        self._work_clock = work_clock

    def take_turn(self) -> bool:
        turn_ends_at = self._work_clock() + TURN_SECONDS
        return any(self._work_clock() > turn_ends_at for _ in self._work_steps)


class FairScheduler:
    """Between two polls of the sockets, turns take `_ROUND_SECONDS` in total, or one longer turn."""

    def __init__(self, work_clock: Callable[[], float]) -> None:
        self._work_clock = work_clock
        self._takers: deque[TurnTaker] = deque()
        self._is_round_due = False

    def __len__(self) -> int:
        return len(self._takers)

    def add_turn_taker(self, turn_taker: TurnTaker) -> None:
        self._takers.append(turn_taker)
        self._schedule_round()

    def add_steps(self, steps: Iterator[None]) -> None:
        """Add work in steps of at most a millisecond."""
        self.add_turn_taker(_SteppedWork(steps, self._work_clock))

    def _schedule_round(self) -> None:
        if not self._is_round_due:
            self._is_round_due = True
            asyncio.get_running_loop().call_soon(self._run_round)

    def _run_round(self) -> None:
        self._is_round_due = False
        round_ends_at = self._work_clock() + _ROUND_SECONDS
        while self._takers:
            turn_taker = self._takers.popleft()
            if turn_taker.take_turn():
                self._takers.append(turn_taker)
            if self._work_clock() > round_ends_at:
                break
        if self._takers:
            self._schedule_round()
