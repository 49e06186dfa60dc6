"""The log of the server: its format and level, and events as log lines."""

import logging
import os
import sys

from namesrv_core.events import Event, MappingChange, TopicChanges, count_changed_topics, limit_topic_changes
from namesrv_core.printable_text import cut_text, escape_unsafe
from namesrv_core.server import log_json
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
        log_writer.setFormatter(JsonFormatter() if log_format == "json" else TextFormatter())
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


class TextFormatter(logging.Formatter):
    """Formats each record as one line. The lines of a traceback follow, indented.

    No text of a peer can look like a line of the log, because all control characters are escaped.
    """

    def format(self, log_record: logging.LogRecord) -> str:
        message = cut_text(log_record.getMessage(), log_json.MAX_MESSAGE_LENGTH)
        line_text = f"{log_json.format_record_time(log_record)} {log_record.levelname:<5} {message}"
        traceback_lines = []
        if log_record.exc_info:
            traceback_text = self.formatException(log_record.exc_info)
            traceback_lines = cut_text(traceback_text, log_json.MAX_TRACEBACK_LENGTH).split("\n")
        return "\n  ".join(map(escape_unsafe, [line_text, *traceback_lines]))


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
    shown_fields = [
        (field_name, getattr(event, field_name))
        for field_name in type(event).__annotations__
        if field_name != "info" and not log_json.is_kv_value(event, field_name)
    ]
    field_texts = (
        f"{field_name}={cut_text(_format_value(field_value), log_json.MAX_VALUE_LENGTH)}"
        for field_name, field_value in [*shown_fields, *log_json.measure_kv_values(event)]
        if field_value is not None
    )
    return f"{type(event).__name__} {' '.join(field_texts)} ({cause})"


def _format_value(field_value: object) -> str:
    if isinstance(field_value, tuple) and field_value and isinstance(field_value[0], TopicChanges):
        change_texts = (
            _format_topic_change(topic, change_group)
            for change_group in limit_topic_changes(field_value, _MAX_SHOWN_CHANGES)
            for topic in change_group.topics
        )
        return ", ".join(change_texts) + _format_more(count_changed_topics(field_value))
    if isinstance(field_value, tuple) and field_value and isinstance(field_value[0], MappingChange):
        return str(field_value[:_MAX_SHOWN_CHANGES]) + _format_more(len(field_value))
    return str(field_value)


def _format_more(change_count: int) -> str:
    more_count = change_count - _MAX_SHOWN_CHANGES
    return f" and {more_count} more" if more_count > 0 else ""


def _format_topic_change(topic: str, change_group: TopicChanges) -> str:
    queue_before, queue_after = (
        "none"
        if queue_data is None
        else f"r{queue_data.read_queue_nums}/w{queue_data.write_queue_nums}/perm{queue_data.perm}"
        for queue_data in (change_group.before, change_group.after)
    )
    return f"{topic} {queue_before}->{queue_after}"
