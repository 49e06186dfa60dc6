"""LogWriter: the log goes out from a thread of its own, so that no reader of it can stop the server."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable

ROOM = 10_000
"""Lines that wait to be written; what comes when there are so many is lost, and counted."""

_PATIENCE = 1.0


class LogWriter(logging.Handler):
    """`write` is given whole lines and may take its time. `lost` counts the lines that had no room."""

    def __init__(self, write: Callable[[str], object], room: int = ROOM) -> None:
        super().__init__()
        self._write = write
        self._room = room
        self._lines: deque[str] = deque()
        self._there = threading.Event()
        self._is_writing = False
        self.lost = 0
        self._told = 0
        # A daemon: a reader that never reads does not keep the server from ending either.
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        if len(self._lines) >= self._room:
            self.lost += 1
            return
        try:
            self._lines.append(self.format(record) + "\n")
        except Exception as error:
            self._lines.append(f"a line of the log could not be made: {error!r}\n")
        self._there.set()

    def _run(self) -> None:
        while True:
            self._there.wait()
            self._there.clear()
            self._is_writing = True
            while self._lines:
                self._take()
            self._is_writing = False

    def _take(self) -> None:
        # As many as a pipe takes at once: one call for each line would cost more than the lines do.
        lines = [self._lines.popleft() for _ in range(min(len(self._lines), 100))]
        lost = self.lost
        if lost > self._told:
            told = f"{lost - self._told} lines of the log were lost, as nobody read them in time"
            record = logging.LogRecord("log", logging.WARNING, "", 0, told, None, None)
            lines.append(self.format(record) + "\n")
            self._told = lost
        try:
            self._write("".join(lines))
        except (OSError, ValueError):
            # Nobody is there any more to whom this could be said.
            self.lost += len(lines)
            self._told = self.lost

    def flush(self) -> None:
        """Wait until all is written, for a second at most."""
        patience = time.monotonic() + _PATIENCE
        while (self._lines or self._is_writing) and time.monotonic() < patience and self._thread.is_alive():
            time.sleep(0.001)
