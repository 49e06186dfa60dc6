"""Turns: streams that have much to do get a little time one after the other, so that nobody waits for them.

Whoever asks for little is answered at once, as it comes, and does not queue up here.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Protocol

AT_ONCE = 0.001
"""Seconds that a stream may take at a time; one request may take longer."""

_TOGETHER = 0.002


class Busy(Protocol):
    """What takes turns."""

    def take_turn(self) -> bool:
        """Do a part of what there is to do; whether there is more."""


class Turns:
    """Between two looks at the sockets those that wait have `_TOGETHER` seconds, or one longer turn."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._waiting: deque[Busy] = deque()
        self._is_due = False

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, busy: Busy) -> None:
        self._waiting.append(busy)
        self._schedule()

    def _schedule(self) -> None:
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._run)

    def _run(self) -> None:
        self._is_due = False
        until = self._clock() + _TOGETHER
        while self._waiting:
            busy = self._waiting.popleft()
            if busy.take_turn():
                self._waiting.append(busy)
            if self._clock() > until:
                break
        if self._waiting:
            self._schedule()
