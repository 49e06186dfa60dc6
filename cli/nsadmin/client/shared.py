"""Shared: connections that threads may share, and that a forked process does not take from its parent."""

import os
from _thread import RLock
from collections.abc import Callable, Iterable
from typing import Any

from namesrv_core.protocol.command import Command
from namesrv_core.transport.calls import CallError, Calls, Observer


class SharedCalls:
    """What `make` makes, one thread at a time; it is made anew in a process that was forked meanwhile."""

    def __init__(self, make: Callable[[], Calls]) -> None:
        self._make = make
        self._calls: Calls | None = make()
        self._turn, self._pid = RLock(), os.getpid()

    def ask(
        self, calls: Iterable[tuple[str, Command]], timeout: float, observer: Observer | None = None
    ) -> list[Command | CallError]:
        """As `Calls` do; RuntimeError once they are closed."""
        if self._pid != os.getpid():
            self._begin_anew()
        with self._turn:
            if self._calls is None:
                raise RuntimeError("this client is closed: make another one")
            return self._calls.ask(calls, timeout, observer)

    def place(self, addr: str) -> Any:
        """As `Calls` tell it."""
        return None if self._calls is None else self._calls.place(addr)

    def _begin_anew(self) -> None:
        """Both processes would read what is answered to either; and whose turn it is nobody knows here."""
        self._turn, self._pid = RLock(), os.getpid()
        if self._calls is not None:
            self._calls.close()
            self._calls = self._make()

    def close(self) -> None:
        """Nothing can be asked any more; not at the same time as another thread asks."""
        calls, self._calls = self._calls, None
        if calls is not None:
            calls.close()
