"""The log: events as lines of it, in which form and from which level on."""

import logging
import os
import sys
import time

from namesrv_core.events import Event, TopicChanges, count_topics, first_topics
from namesrv_core.server.log_json import Happened, JsonFormatter
from namesrv_core.server.log_writer import LogWriter

_SHOWN = 3

LEVELS = {"DEBUG": logging.DEBUG, "INFO": logging.INFO, "WARN": logging.WARNING, "ERROR": logging.ERROR}

log = logging.getLogger("namesrv")


class _Holding(logging.Handler):
    """What is said before it is known in what form. (`logging.handlers` would take half a megabyte.)"""

    def __init__(self) -> None:
        super().__init__()
        self.held: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.held.append(record)


def set_up() -> None:
    """Log to stderr, what the event loop has to say too; hold it until `arrange` tells in what form."""
    holding = _Holding()
    for logger in _loggers():
        logger.addHandler(holding)
    log.setLevel(logging.INFO)


def arrange(form: str = "text", level: str = "INFO") -> None:
    """Say what was held, and go on, in the form "text" or "json", from that level on."""
    for holding in [handler for handler in log.handlers if isinstance(handler, _Holding)]:
        writer = LogWriter(_to_stderr)
        writer.setFormatter(JsonFormatter() if form == "json" else _text_formatter())
        for logger in _loggers():
            logger.removeHandler(holding)
            logger.addHandler(writer)
        for record in holding.held:
            writer.handle(record)
    set_level(level)


def set_level(level: str) -> None:
    """Say no more than that: DEBUG, INFO, WARN or ERROR."""
    log.setLevel(LEVELS[level])


def _loggers() -> tuple[logging.Logger, ...]:
    return log, logging.getLogger("asyncio")


def _text_formatter() -> logging.Formatter:
    formatter = logging.Formatter("%(asctime)s.%(msecs)03dZ %(levelname)-5s %(message)s", "%Y-%m-%dT%H:%M:%S")
    formatter.converter = time.gmtime
    return formatter


def _to_stderr(text: str) -> None:
    # Past Python's own buffer: a thread that is stuck holding that one breaks the end of the process.
    data = text.encode("utf-8", "backslashreplace")
    while data:
        data = data[os.write(sys.stderr.fileno(), data) :]


def say(event: Event, cause: str, client: str | None = None) -> None:
    """An event happened: a line, unless nobody wants to know."""
    if log.isEnabledFor(logging.INFO):
        text = line(event, cause if client is None else f"{cause} from {client}")
        log.info(Happened(event, cause, client, text))


def line(event: Event, cause: str) -> str:
    """One event in one line: its name, its fields, what caused it."""
    shown = ((name, getattr(event, name)) for name in type(event).__annotations__ if name != "info")
    texts = (f"{name}={_text(value)}" for name, value in shown if value is not None)
    return f"{type(event).__name__} {' '.join(texts)} ({cause})"


def _text(value: object) -> str:
    if isinstance(value, tuple) and value and isinstance(value[0], TopicChanges):
        more = count_topics(value) - _SHOWN
        texts = (_change(topic, group) for group in first_topics(value, _SHOWN) for topic in group.topics)
        return ", ".join(texts) + (f" and {more} more" if more > 0 else "")
    return str(value)


def _change(topic: str, group: TopicChanges) -> str:
    before, after = (
        "none" if queue is None else f"r{queue.read_queue_nums}/w{queue.write_queue_nums}/perm{queue.perm}"
        for queue in (group.before, group.after)
    )
    return f"{topic} {before}->{after}"
