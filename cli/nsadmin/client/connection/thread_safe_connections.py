"""ThreadSafeConnections, connections that threads share and that survive a fork."""

import os
from _thread import RLock
from collections.abc import Callable, Iterable
from typing import Any

from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.multiplexed_client import CallError, ExchangeObserver, MultiplexedClient


class ThreadSafeConnections:
    """Connections that one thread at a time uses. A forked process opens its own.

    Args:
        make_connections: Creates the connections; called once per process.
    """

    def __init__(self, make_connections: Callable[[], MultiplexedClient]) -> None:
        self._make_connections = make_connections
        self._connections: MultiplexedClient | None = make_connections()
        self._thread_lock, self._owner_pid = RLock(), os.getpid()

    def send_requests(
        self,
        calls: Iterable[tuple[str, RemotingCommand]],
        timeout_seconds: float,
        observer: ExchangeObserver | None = None,
    ) -> list[RemotingCommand | CallError]:
        """Send requests to several servers at once and wait for the answers.

        Args:
            calls: Pairs of (server address, request).
            timeout_seconds: The time limit of each request.
            observer: Called with an Exchange after each request. Default: none.

        Returns:
            One answer or CallError per request, in the same order.

        Raises:
            RuntimeError: The connections are closed.
        """
        if self._owner_pid != os.getpid():
            self._reset_after_fork()
        with self._thread_lock:
            if self._connections is None:
                raise RuntimeError("this client is closed: make another one")
            return self._connections.send_requests(calls, timeout_seconds, observer)

    def get_peer(self, server_addr: str) -> Any:
        """Return the socket address of the peer that is connected at an address; None if not connected.

        Args:
            server_addr: The address of the connection.

        Returns:
            The address as `socket.getpeername` returns it: a tuple that starts with (host, port).
        """
        return None if self._connections is None else self._connections.get_peer(server_addr)

    def _reset_after_fork(self) -> None:
        # Parent and child would read each other's answers from the inherited sockets, and the state of the
        # inherited lock is unknown.
        self._thread_lock, self._owner_pid = RLock(), os.getpid()
        if self._connections is not None:
            self._connections.close()
            self._connections = self._make_connections()

    def close(self) -> None:
        """Close the connections; later requests raise RuntimeError. Do not call it during a request."""
        connections, self._connections = self._connections, None
        if connections is not None:
            connections.close()
