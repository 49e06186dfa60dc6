"""SystemdNotifier, which tells systemd that this process is ready, alive or about to end (sd_notify(3)).

systemd sets NOTIFY_SOCKET, and WATCHDOG_USEC for the watchdog. Without NOTIFY_SOCKET nothing is sent.
"""

import asyncio
import os
import socket
from collections.abc import Mapping

from namesrv_core.printable_text import escape_unsafe
from namesrv_core.server.log import log

_CLOSE_SECONDS = 15.0


class SystemdNotifier:
    """Notifies systemd. `environment` is the environment of this process."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        socket_path = environment.get("NOTIFY_SOCKET", "")
        self._socket_path = "\0" + socket_path[1:] if socket_path.startswith("@") else socket_path
        self._watchdog_seconds = _read_watchdog_seconds(environment) if socket_path else 0.0
        self._watchdog_timer: asyncio.TimerHandle | None = None

    def notify_ready(self, status: str) -> None:
        """Report that the server is ready. From now on notify the watchdog twice per timeout."""
        self._send_lines("READY=1", f"STATUS={status}", f"MAINPID={os.getpid()}")
        if self._watchdog_seconds:
            self._notify_watchdog()

    def _notify_watchdog(self) -> None:
        self._send_lines("WATCHDOG=1")
        self._watchdog_timer = asyncio.get_running_loop().call_later(
            self._watchdog_seconds, self._notify_watchdog
        )

    def notify_stopping(self, status: str, max_seconds: float) -> None:
        """Report that the server is stopping, and extend systemd's timeout accordingly."""
        extension_us = int((max_seconds + _CLOSE_SECONDS) * 1_000_000)
        self._send_lines("STOPPING=1", f"STATUS={status}", f"EXTEND_TIMEOUT_USEC={extension_us}")

    def stop_watchdog(self) -> None:
        if self._watchdog_timer is not None:
            self._watchdog_timer.cancel()

    def _send_lines(self, *lines: str) -> None:
        if not self._socket_path:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
                sock.setblocking(False)
                sock.sendto("\n".join(map(escape_unsafe, lines)).encode(), self._socket_path)
        except OSError as error:
            log.warning("could not notify systemd (%s): %s", lines[0], error)


def _read_watchdog_seconds(environment: Mapping[str, str]) -> float:
    """Seconds between watchdog notifications: half the timeout; 0 if none are wanted from this process."""
    timeout_us = environment.get("WATCHDOG_USEC", "")
    is_for_this_process = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
    return int(timeout_us) / 2_000_000 if timeout_us.isdecimal() and is_for_this_process else 0.0
