"""FairScheduler, which gives busy streams short turns one after the other, so that they do not delay others.

Streams with little to do are answered at once and do not queue here.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator

TURN_SECONDS = 0.001
"""The length of a turn. A single request can take longer."""

_ROUND_SECONDS = 0.002


TakeTurn = Callable[[], bool]
"""Does a part of some work. Returns whether more is left."""


class FairScheduler:
    """Between two polls of the sockets, turns take `_ROUND_SECONDS` in total, or one longer turn."""

    def __init__(self, work_clock: Callable[[], float]) -> None:
        self._work_clock = work_clock
        self._waiting_turns: deque[TakeTurn] = deque()
        self._is_round_due = False

    def __len__(self) -> int:
        return len(self._waiting_turns)

    def add_work(self, take_turn: TakeTurn) -> None:
        self._waiting_turns.append(take_turn)
        self._schedule_round()

    def add_steps(self, steps: Iterator[None]) -> None:
        """Add work in steps of at most a millisecond. Each turn does as many of them as fit into it."""

        def take_turn() -> bool:
            turn_ends_at = self._work_clock() + TURN_SECONDS
            return any(self._work_clock() > turn_ends_at for _ in steps)

        self.add_work(take_turn)

    def _schedule_round(self) -> None:
        if not self._is_round_due:
            self._is_round_due = True
            asyncio.get_running_loop().call_soon(self._run_round)

    def _run_round(self) -> None:
        self._is_round_due = False
        round_ends_at = self._work_clock() + _ROUND_SECONDS
        while self._waiting_turns:
            take_turn = self._waiting_turns.popleft()
            if take_turn():
                self._waiting_turns.append(take_turn)
            if self._work_clock() > round_ends_at:
                break
        if self._waiting_turns:
            self._schedule_round()
