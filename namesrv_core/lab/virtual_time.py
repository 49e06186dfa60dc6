"""VirtualLoop, an event loop whose time advances only while no task has work to do.

It then jumps to the next timer, at most at `speed` times real time. Work takes no virtual time, so a busy
machine does not change the result. Sockets are real sockets of this machine.
"""

import asyncio
import contextvars
import selectors
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

ResultType = TypeVar("ResultType")

_GRACE_SECONDS = 0.0005
"""The real seconds to wait for bytes that a peer may have sent."""


class _VirtualSelector(selectors.DefaultSelector):
    """The selector of the loop, which decides whether virtual time advances."""

    virtual_loop: "VirtualLoop"
    _was_busy = True

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready_keys = self._poll_sockets(0)
        if ready_keys or timeout == 0:
            return ready_keys
        if self._was_busy:
            self._was_busy = False
            ready_keys = self._poll_sockets(_GRACE_SECONDS)
        while not ready_keys and self.virtual_loop.thread_count:
            ready_keys = self._poll_sockets(None)
        return ready_keys or self._wait_for_peer(timeout)

    def _wait_for_peer(self, timeout: float | None) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait for bytes from a peer, or for `timeout` virtual seconds."""
        if timeout is None:
            return self._poll_sockets(None)
        pause_seconds = self.virtual_loop.real_seconds_until(timeout)
        ready_keys = self._poll_sockets(pause_seconds) if pause_seconds > 0 else []
        self.virtual_loop.advance_time(timeout, is_over=not ready_keys)
        return ready_keys

    def _poll_sockets(self, seconds: float | None) -> list[tuple[selectors.SelectorKey, int]]:
        ready_keys: list[tuple[selectors.SelectorKey, int]] = super().select(seconds)
        self._was_busy = self._was_busy or bool(ready_keys)
        return ready_keys


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop with virtual time, which begins at 0. With `speed` None it runs as fast as possible."""

    def __init__(self, speed_limit: float | None = None) -> None:
        selector = _VirtualSelector()
        selector.virtual_loop = self
        self._speed_limit = speed_limit
        self._virtual_now = 0.0
        self._began_real = time.monotonic()
        self.thread_count = 0
        super().__init__(selector)

    def time(self) -> float:
        return self._virtual_now

    def real_seconds_until(self, virtual_seconds: float) -> float:
        """The real seconds until time may advance by this many virtual seconds."""
        if self._speed_limit is None:
            return 0
        return self._began_real + (self._virtual_now + virtual_seconds) / self._speed_limit - time.monotonic()

    def advance_time(self, virtual_seconds: float, *, is_over: bool) -> None:
        """Advance by `ahead` seconds, or by as many as the speed allows."""
        if not is_over:
            passed_seconds = (time.monotonic() - self._began_real) * (
                self._speed_limit or 0
            ) - self._virtual_now
            virtual_seconds = min(max(passed_seconds, 0), virtual_seconds)
        self._virtual_now += virtual_seconds

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., ResultType], *args: Any
    ) -> "asyncio.Future[ResultType]":
        """Run a function in a thread, which takes no virtual time either."""
        self.thread_count += 1
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(self._thread_ended, context=contextvars.Context())
        return future

    def _thread_ended(self, future: "asyncio.Future[Any]") -> None:
        self.thread_count -= 1


def run_virtual(
    main_coroutine: Coroutine[Any, Any, ResultType], speed_limit: float | None = None
) -> ResultType:
    with asyncio.Runner(loop_factory=lambda: VirtualLoop(speed_limit)) as runner:
        return runner.run(main_coroutine)
