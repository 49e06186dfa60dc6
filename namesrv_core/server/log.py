"""The log of the server: its format and level, events as log lines, its writer thread and its throttle.

LogWriter writes in a separate thread, so that a slow reader cannot block the server.
"""

import logging
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable

from namesrv_core.events import Event, MappingChange, TopicChanges, count_changed_topics, limit_topic_changes
from namesrv_core.printable_text import cut_text, escape_unsafe
from namesrv_core.server import log_json
from namesrv_core.server.log_json import EventMessage, JsonFormatter

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
        self._lines: deque[str] = deque()
        self._lines_event = threading.Event()
        self._is_writing = False
        self.lost_lines = 0
        self._reported_lost_lines = 0
        # A daemon thread, so that a blocked reader does not prevent the process from ending.
        self._writer_thread = threading.Thread(target=self._run_thread, name="log", daemon=True)
        self._writer_thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        if len(self._lines) >= self._max_waiting_lines:
            self.lost_lines += 1
            return
        try:
            self._lines.append(self.format(record) + "\n")
        except Exception as error:
            self._lines.append(f"cannot format a log line: {type(error).__name__}\n")
        self._lines_event.set()

    def _run_thread(self) -> None:
        while True:
            self._lines_event.wait()
            self._lines_event.clear()
            self._is_writing = True
            while self._lines:
                self._write_batch()
            self._is_writing = False

    def _write_batch(self) -> None:
        # About as many lines as a pipe accepts at once. One call per line would cost more than the lines.
        lines = [self._lines.popleft() for _ in range(min(len(self._lines), 100))]
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
            (self._lines or self._is_writing)
            and time.monotonic() < flush_deadline
            and self._writer_thread.is_alive()
        ):
            time.sleep(0.001)


_MAX_SHOWN_CHANGES = 3

LEVELS_BY_NAME = {
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
}

log = logging.getLogger("namesrv")


class _HoldingHandler(logging.Handler):
    """Holds records until the log format is known. (`logging.handlers` would cost half a megabyte.)"""

    def __init__(self) -> None:
        super().__init__()
        self.held_records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.held_records.append(record)


def set_up_log() -> None:
    """Set up logging, also of asyncio, and hold all records until `configure_log`."""
    handler = _HoldingHandler()
    for logger in _all_loggers():
        logger.addHandler(handler)
    log.setLevel(logging.INFO)


def configure_log(log_format: str = "text", log_level: str = "INFO") -> None:
    """Log to stderr from now on, held records first. The format is "text" or "json"."""
    for handler in [handler for handler in log.handlers if isinstance(handler, _HoldingHandler)]:
        writer = LogWriter(_write_to_stderr)
        writer.setFormatter(JsonFormatter() if log_format == "json" else TextFormatter())
        for logger in _all_loggers():
            logger.removeHandler(handler)
            logger.addHandler(writer)
        for record in handler.held_records:
            writer.handle(record)
    set_level(log_level)


def set_level(log_level: str) -> None:
    log.setLevel(LEVELS_BY_NAME[log_level])


def _all_loggers() -> tuple[logging.Logger, ...]:
    return log, logging.getLogger("asyncio")


class TextFormatter(logging.Formatter):
    """Formats each record as one line. The lines of a traceback follow, indented.

    No text of a peer can look like a line of the log, because all control characters are escaped.
    """

    def format(self, record: logging.LogRecord) -> str:
        message = cut_text(record.getMessage(), log_json.MAX_MESSAGE_LENGTH)
        text = f"{log_json.format_record_time(record)} {record.levelname:<5} {message}"
        lines = []
        if record.exc_info:
            traceback_text = self.formatException(record.exc_info)
            lines = cut_text(traceback_text, log_json.MAX_TRACEBACK_LENGTH).split("\n")
        return "\n  ".join(map(escape_unsafe, [text, *lines]))


def _write_to_stderr(text: str) -> None:
    # Bypass Python's buffer: a thread that blocks while it holds the buffer's lock breaks the process's exit.
    unwritten = text.encode("utf-8", "backslashreplace")
    while unwritten:
        unwritten = unwritten[os.write(sys.stderr.fileno(), unwritten) :]


def log_event(event: Event, cause: str, client_addr: str | None = None) -> None:
    if log.isEnabledFor(logging.INFO):
        text = format_event(event, cause if client_addr is None else f"{cause} from {client_addr}")
        log.info(EventMessage(event, cause, client_addr, text))


def format_event(event: Event, cause: str) -> str:
    """Format an event as one line: its name, its fields and its cause."""
    shown = [
        (name, getattr(event, name))
        for name in type(event).__annotations__
        if name != "info" and not log_json.is_kv_value(event, name)
    ]
    texts = (
        f"{name}={cut_text(_format_value(value), log_json.MAX_VALUE_LENGTH)}"
        for name, value in [*shown, *log_json.measure_kv_values(event)]
        if value is not None
    )
    return f"{type(event).__name__} {' '.join(texts)} ({cause})"


def _format_value(value: object) -> str:
    if isinstance(value, tuple) and value and isinstance(value[0], TopicChanges):
        texts = (
            _format_topic_change(topic, group)
            for group in limit_topic_changes(value, _MAX_SHOWN_CHANGES)
            for topic in group.topics
        )
        return ", ".join(texts) + _format_more(count_changed_topics(value))
    if isinstance(value, tuple) and value and isinstance(value[0], MappingChange):
        return str(value[:_MAX_SHOWN_CHANGES]) + _format_more(len(value))
    return str(value)


def _format_more(change_count: int) -> str:
    more = change_count - _MAX_SHOWN_CHANGES
    return f" and {more} more" if more > 0 else ""


def _format_topic_change(topic: str, group: TopicChanges) -> str:
    before, after = (
        "none" if queue is None else f"r{queue.read_queue_nums}/w{queue.write_queue_nums}/perm{queue.perm}"
        for queue in (group.before, group.after)
    )
    return f"{topic} {before}->{after}"


INTERVAL_SECONDS = 10.0
"""The least interval between two lines of a kind."""


class LogThrottle:
    """Logs at most one line of a kind per interval. The next line states how many were left out."""

    def __init__(
        self, interval_seconds: float = INTERVAL_SECONDS, steady_clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._interval_seconds = interval_seconds
        self._steady_clock = steady_clock
        self._last_line_by_kind: dict[str, tuple[float, int]] = {}

    def log_warning(self, kind: str, text: str, *, with_traceback: bool = False) -> None:
        """Log a warning. There must be few kinds, so a kind must not contain text from a peer."""
        now = self._steady_clock()
        logged_at, left_out = self._last_line_by_kind.get(kind, (float("-inf"), 0))
        if now - logged_at < self._interval_seconds:
            self._last_line_by_kind[kind] = logged_at, left_out + 1
            return
        self._last_line_by_kind[kind] = now, 0
        more = f" (and {left_out} similar ones since the last such line)" if left_out else ""
        log.warning("%s%s", text, more, exc_info=with_traceback)
