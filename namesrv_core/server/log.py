"""The log of the server: its format and level, and events as log lines."""

import logging
import os
import sys
import time

from namesrv_core.events import Event, TopicChanges, count_changed_topics, limit_topic_changes
from namesrv_core.server.log_json import EventMessage, JsonFormatter
from namesrv_core.server.log_writer import LogWriter

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

    def emit(self, log_record: logging.LogRecord) -> None:
        self.held_records.append(log_record)


def set_up_log() -> None:
    """Set up logging, also of asyncio, and hold all records until `configure_log`."""
    holding_handler = _HoldingHandler()
    for logger in _all_loggers():
        logger.addHandler(holding_handler)
    log.setLevel(logging.INFO)


def configure_log(log_format: str = "text", log_level: str = "INFO") -> None:
    """Log to stderr from now on, held records first. The format is "text" or "json"."""
    for holding_handler in [
        log_handler for log_handler in log.handlers if isinstance(log_handler, _HoldingHandler)
    ]:
        log_writer = LogWriter(_write_to_stderr)
        log_writer.setFormatter(JsonFormatter() if log_format == "json" else _build_text_formatter())
        for logger in _all_loggers():
            logger.removeHandler(holding_handler)
            logger.addHandler(log_writer)
        for log_record in holding_handler.held_records:
            log_writer.handle(log_record)
    set_level(log_level)


def set_level(log_level: str) -> None:
    """Set the lowest level that is logged: DEBUG, INFO, WARN or ERROR."""
    log.setLevel(LEVELS_BY_NAME[log_level])


def _all_loggers() -> tuple[logging.Logger, ...]:
    return log, logging.getLogger("asyncio")


def _build_text_formatter() -> logging.Formatter:
    text_formatter = logging.Formatter(
        "%(asctime)s.%(msecs)03dZ %(levelname)-5s %(message)s", "%Y-%m-%dT%H:%M:%S"
    )
    text_formatter.converter = time.gmtime
    return text_formatter


def _write_to_stderr(log_text: str) -> None:
    # Bypass Python's buffer: a thread that blocks while it holds the buffer's lock breaks the process's exit.
    unwritten_bytes = log_text.encode("utf-8", "backslashreplace")
    while unwritten_bytes:
        unwritten_bytes = unwritten_bytes[os.write(sys.stderr.fileno(), unwritten_bytes) :]


def log_event(event: Event, cause: str, client_addr: str | None = None) -> None:
    """Log an event, unless the level excludes it."""
    if log.isEnabledFor(logging.INFO):
        event_text = format_event(event, cause if client_addr is None else f"{cause} from {client_addr}")
        log.info(EventMessage(event, cause, client_addr, event_text))


def format_event(event: Event, cause: str) -> str:
    """Format an event as one line: its name, its fields and its cause."""
    shown_fields = (
        (field_name, getattr(event, field_name))
        for field_name in type(event).__annotations__
        if field_name != "info"
    )
    field_texts = (
        f"{field_name}={_format_value(field_value)}"
        for field_name, field_value in shown_fields
        if field_value is not None
    )
    return f"{type(event).__name__} {' '.join(field_texts)} ({cause})"


def _format_value(field_value: object) -> str:
    if isinstance(field_value, tuple) and field_value and isinstance(field_value[0], TopicChanges):
        more_count = count_changed_topics(field_value) - _MAX_SHOWN_CHANGES
        change_texts = (
            _format_topic_change(topic, change_group)
            for change_group in limit_topic_changes(field_value, _MAX_SHOWN_CHANGES)
            for topic in change_group.topics
        )
        return ", ".join(change_texts) + (f" and {more_count} more" if more_count > 0 else "")
    return str(field_value)


def _format_topic_change(topic: str, change_group: TopicChanges) -> str:
    queue_before, queue_after = (
        "none"
        if queue_data is None
        else f"r{queue_data.read_queue_nums}/w{queue_data.write_queue_nums}/perm{queue_data.perm}"
        for queue_data in (change_group.before, change_group.after)
    )
    return f"{topic} {queue_before}->{queue_after}"
