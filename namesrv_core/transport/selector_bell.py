"""SelectorBell, which lets other threads wake a thread that waits in a selector."""

import selectors
import socket
from contextlib import suppress


class SelectorBell:
    """Registers a socket with the selector. Its events have no data."""

    def __init__(self, selector: selectors.BaseSelector) -> None:
        self._heard_socket, self._ringing_socket = socket.socketpair()
        self._heard_socket.setblocking(False)
        self._ringing_socket.setblocking(False)
        selector.register(self._heard_socket, selectors.EVENT_READ)

    def ring(self) -> None:
        """Wake the selector, from any thread. Does nothing if the bell is closed or already rings."""
        with suppress(OSError):
            self._ringing_socket.send(b"\0")

    def silence(self) -> None:
        """Stop the bell; a later `ring` wakes the selector again."""
        with suppress(BlockingIOError):
            self._heard_socket.recv(4096)

    def close(self) -> None:
        self._heard_socket.close()
        self._ringing_socket.close()
