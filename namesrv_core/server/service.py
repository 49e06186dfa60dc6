"""What systemd is told of this process (sd_notify(3)): that it is ready, alive, and about to end.

Nothing is told where nobody listens: NOTIFY_SOCKET says who does, WATCHDOG_USEC how often he wants to hear.
"""

import asyncio
import os
import socket
from collections.abc import Mapping

from namesrv_core.server.log import log

_PATIENCE = 15.0


class Service:
    """`environ` is that of this process."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        path = environ.get("NOTIFY_SOCKET", "")
        self._path = "\0" + path[1:] if path.startswith("@") else path
        self._pause = _pause(environ) if path else 0.0
        self._timer: asyncio.TimerHandle | None = None

    def ready(self, status: str) -> None:
        """It serves; from now on the loop says that it is alive, twice in the time it may be silent."""
        self._say("READY=1", f"STATUS={status}", f"MAINPID={os.getpid()}")
        if self._pause:
            self._watch()

    def _watch(self) -> None:
        self._say("WATCHDOG=1")
        self._timer = asyncio.get_running_loop().call_later(self._pause, self._watch)

    def stopping(self, status: str, seconds: float) -> None:
        """It will have ended within `seconds`, and some more to close everything."""
        patience = int((seconds + _PATIENCE) * 1_000_000)
        self._say("STOPPING=1", f"STATUS={status}", f"EXTEND_TIMEOUT_USEC={patience}")

    def stop(self) -> None:
        """Say no more."""
        if self._timer is not None:
            self._timer.cancel()

    def _say(self, *lines: str) -> None:
        if not self._path:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
                notify.setblocking(False)
                notify.sendto("\n".join(lines).encode(), self._path)
        except OSError as error:
            log.warning("could not tell the service manager %s: %s", lines[0], error)


def _pause(environ: Mapping[str, str]) -> float:
    """Seconds from one sign of life to the next; 0 where none is wanted of this process."""
    wanted = environ.get("WATCHDOG_USEC", "")
    is_for_us = environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
    return int(wanted) / 2_000_000 if wanted.isdecimal() and is_for_us else 0.0
