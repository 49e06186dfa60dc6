"""VirtualLoop: an event loop whose time goes on only while nobody has anything to do.

It then jumps to the next timer, at `speed` times the pace of real time at most. Work takes no time at all,
so a busy machine changes nothing that is told by this clock. Sockets are real ones of this machine.
"""

import asyncio
import contextvars
import selectors
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_GRACE = 0.0005
"""Real seconds that a peer's bytes may take to arrive, once some have been under way."""


class _Selector(selectors.DefaultSelector):
    """Where the loop waits: here it is decided whether time goes on."""

    loop: "VirtualLoop"
    _was_busy = True

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = self._look(0)
        if ready or timeout == 0:
            return ready
        if self._was_busy:
            self._was_busy = False
            ready = self._look(_GRACE)
        while not ready and self.loop.threads:
            ready = self._look(None)
        return ready or self._wait(timeout)

    def _wait(self, timeout: float | None) -> list[tuple[selectors.SelectorKey, int]]:
        """Until a peer says something, or for `timeout` virtual seconds."""
        if timeout is None:
            return self._look(None)
        pause = self.loop.real_seconds(timeout)
        ready = self._look(pause) if pause > 0 else []
        self.loop.go_on(timeout, is_over=not ready)
        return ready

    def _look(self, seconds: float | None) -> list[tuple[selectors.SelectorKey, int]]:
        ready: list[tuple[selectors.SelectorKey, int]] = super().select(seconds)
        self._was_busy = self._was_busy or bool(ready)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """`speed` None: as fast as it goes. `time()` begins at 0."""

    def __init__(self, speed: float | None = None) -> None:
        selector = _Selector()
        selector.loop = self
        self._speed = speed
        self._now = 0.0
        self._began = time.monotonic()
        self.threads = 0
        super().__init__(selector)

    def time(self) -> float:
        return self._now

    def real_seconds(self, ahead: float) -> float:
        """How long it is until this many virtual seconds from now may be over."""
        if self._speed is None:
            return 0
        return self._began + (self._now + ahead) / self._speed - time.monotonic()

    def go_on(self, ahead: float, *, is_over: bool) -> None:
        """`ahead` seconds are over, or as many of them as real time lets have gone by."""
        if not is_over:
            passed = (time.monotonic() - self._began) * (self._speed or 0) - self._now
            ahead = min(max(passed, 0), ahead)
        self._now += ahead

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., T], *args: Any
    ) -> "asyncio.Future[T]":
        """What a thread does takes no virtual time either."""
        self.threads += 1
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(self._thread_ended, context=contextvars.Context())
        return future

    def _thread_ended(self, future: "asyncio.Future[Any]") -> None:
        self.threads -= 1


def run(main: Coroutine[Any, Any, T], speed: float | None = None) -> T:
    """Run `main` to its end in virtual time."""
    with asyncio.Runner(loop_factory=lambda: VirtualLoop(speed)) as runner:
        return runner.run(main)
