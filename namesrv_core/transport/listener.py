"""Listener: accepts connections on one address.

Whoever waits is let in at once: uvloop's own server accepts one connection in a turn of the loop, so that
after a restart the last of a thousand clients would wait for a thousand turns of a busy server.
"""

import asyncio
import logging
import socket
from collections.abc import Callable

from namesrv_core.transport.allowance import Allowance
from namesrv_core.transport.doorway import Doorway, Terms
from namesrv_core.transport.stream import Owner, Shortcut, Stream

# As whatever else an event loop has to say.
log = logging.getLogger("asyncio")

_AT_ONCE = 24
"""So many may be on their way in: with those on their way out less than a server keeps files for itself."""
_PAUSE = 1.0


class Listener:
    """`await Listener.open(...)`; `address` and `port` are those really bound."""

    def __init__(self, listening: socket.socket, peer: Callable[[], asyncio.Protocol]) -> None:
        self.address, self.port = listening.getsockname()[:2]
        self._listening = listening
        self._peer = peer
        self._loop = asyncio.get_running_loop()
        self._arriving: set[asyncio.Task[object]] = set()
        self._pause: asyncio.TimerHandle | None = None
        self._loop.add_reader(listening, self._accept)

    @classmethod
    async def open(
        cls,
        owner: Owner,
        host: str,
        port: int,
        backlog: int = 1024,
        shortcut: Shortcut | None = None,
        terms: Terms | None = None,
        allowance: Allowance | None = None,
    ) -> "Listener":
        """Listen on `host`:`port`; port 0 takes a free one. OSError where the address cannot be bound.

        With `terms` TLS is spoken there, too, or nothing but TLS.
        """

        granted = allowance or Allowance()

        def peer() -> Stream | Doorway:
            stream = Stream(owner, shortcut, granted)
            return stream if terms is None else Doorway(stream, terms)

        listening = bound(host, port)
        listening.listen(backlog)
        listening.setblocking(False)
        return cls(listening, peer)

    def _accept(self) -> None:
        for _ in range(_AT_ONCE - len(self._arriving)):
            try:
                accepted, _ = self._listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                log.error("no connection can be accepted for %g s: %s", _PAUSE, error)
                self._loop.remove_reader(self._listening)
                self._pause = self._loop.call_later(_PAUSE, self._resume)
                return
            accepted.setblocking(False)
            arriving = self._loop.create_task(self._arrive(accepted))
            # The loop itself keeps no task alive.
            self._arriving.add(arriving)
            arriving.add_done_callback(self._arriving.discard)

    async def _arrive(self, accepted: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(self._peer, accepted)
        except OSError:
            # It has gone again.
            accepted.close()

    def _resume(self) -> None:
        self._pause = None
        self._loop.add_reader(self._listening, self._accept)

    def close(self) -> None:
        """No more connections; those that are open stay open."""
        if self._listening.fileno() < 0:
            return
        if self._pause is not None:
            self._pause.cancel()
        else:
            self._loop.remove_reader(self._listening)
        self._listening.close()


def bound(host: str, port: int) -> socket.socket:
    """A socket that has the address, not yet listening; OSError where it cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named: asyncio looks for it before it switches Nagle's algorithm off, and an answer
    # that follows another one would wait for the acknowledgement of that, 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except OverflowError as error:
        listening.close()
        raise OSError(str(error)) from None
    except BaseException:
        listening.close()
        raise
    return listening
