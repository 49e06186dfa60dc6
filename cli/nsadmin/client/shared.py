"""ThreadSafeConnections, connections that threads share and that survive a fork."""

import os
from _thread import RLock
from collections.abc import Callable, Iterable
from typing import Any

from namesrv_core.protocol.command import Command
from namesrv_core.transport.calls import CallError, Calls, Observer


class SharedCalls:
    """Connections that one thread at a time uses. A forked process opens its own.

    Args:
        make_connections: Creates the connections; called once per process.
    """

    def __init__(self, make: Callable[[], Calls]) -> None:
        self._make = make
        self._calls: Calls | None = make()
        self._turn, self._pid = RLock(), os.getpid()

    def ask(
        self, calls: Iterable[tuple[str, Command]], timeout: float, observer: Observer | None = None
    ) -> list[Command | CallError]:
        """Send requests to several servers at once and wait for the answers.

        Args:
            calls: Pairs of (server address, request).
            timeout_seconds: The time limit of each request.
            observer: Called with an Exchange after each request.

        Returns:
            One answer or CallError per request, in the same order.

        Raises:
            RuntimeError: The connections are closed.
        """
        if self._pid != os.getpid():
            self._begin_anew()
        with self._turn:
            if self._calls is None:
                raise RuntimeError("this client is closed: make another one")
            return self._calls.ask(calls, timeout, observer)

    def place(self, addr: str) -> Any:
        """Return the socket address of the peer that is connected at an address; None if not connected."""
        return None if self._calls is None else self._calls.place(addr)

    def _begin_anew(self) -> None:
        # Parent and child would read each other's answers from the inherited sockets, and the state of the
        # inherited lock is unknown.
        self._turn, self._pid = RLock(), os.getpid()
        if self._calls is not None:
            self._calls.close()
            self._calls = self._make()

    def close(self) -> None:
        """Close the connections; later requests raise RuntimeError. Do not call it during a request."""
        calls, self._calls = self._calls, None
        if calls is not None:
            calls.close()
