"""LogWriter, which writes the log in a separate thread, so that a slow reader cannot block the server."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable

MAX_WAITING_LINES = 10_000
"""The limit of waiting lines. Further lines are lost and counted."""

_FLUSH_SECONDS = 1.0


class LogWriter(logging.Handler):
    """Writes whole lines with `write_text`, which may block. `lost_lines` counts lines that did not fit."""

    def __init__(
        self, write_text: Callable[[str], object], max_waiting_lines: int = MAX_WAITING_LINES
    ) -> None:
        super().__init__()
        self._write_text = write_text
        self._max_waiting_lines = max_waiting_lines
        self._waiting_lines: deque[str] = deque()
        self._lines_event = threading.Event()
        self._is_writing = False
        self.lost_lines = 0
        self._reported_lost_lines = 0
        # A daemon thread, so that a blocked reader does not prevent the process from ending.
        self._writer_thread = threading.Thread(target=self._run_thread, name="log", daemon=True)
        self._writer_thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        if len(self._waiting_lines) >= self._max_waiting_lines:
            self.lost_lines += 1
            return
        try:
            self._waiting_lines.append(self.format(record) + "\n")
        except Exception as error:
            self._waiting_lines.append(f"cannot format a log line: {type(error).__name__}\n")
        self._lines_event.set()

    def _run_thread(self) -> None:
        while True:
            self._lines_event.wait()
            self._lines_event.clear()
            self._is_writing = True
            while self._waiting_lines:
                self._write_batch()
            self._is_writing = False

    def _write_batch(self) -> None:
        # About as many lines as a pipe accepts at once. One call per line would cost more than the lines.
        lines = [self._waiting_lines.popleft() for _ in range(min(len(self._waiting_lines), 100))]
        lost = self.lost_lines
        if lost > self._reported_lost_lines:
            text = (
                f"{lost - self._reported_lost_lines} log lines were lost, "
                f"because the reader of the log was too slow"
            )
            record = logging.LogRecord("log", logging.WARNING, "", 0, text, None, None)
            lines.append(self.format(record) + "\n")
            self._reported_lost_lines = lost
        try:
            self._write_text("".join(lines))
        except (OSError, ValueError):
            # stderr is closed, so this cannot be reported anywhere.
            self.lost_lines += len(lines)
            self._reported_lost_lines = self.lost_lines

    def flush(self) -> None:
        """Wait until all lines are written, for at most a second."""
        flush_deadline = time.monotonic() + _FLUSH_SECONDS
        while (
            (self._waiting_lines or self._is_writing)
            and time.monotonic() < flush_deadline
            and self._writer_thread.is_alive()
        ):
            time.sleep(0.001)
