"""Events as lines of the log."""

import logging
import sys
import time
from dataclasses import fields

from namesrv_core.events import Event, TopicChange

_SHOWN = 3

log = logging.getLogger("namesrv")


def set_up(level: int = logging.INFO) -> None:
    """Log to stderr, with times in UTC."""
    handler = logging.StreamHandler(sys.stderr)
    formatter = logging.Formatter("%(asctime)s.%(msecs)03dZ %(levelname)-5s %(message)s", "%Y-%m-%dT%H:%M:%S")
    formatter.converter = time.gmtime
    handler.setFormatter(formatter)
    log.addHandler(handler)
    log.setLevel(level)


def line(event: Event, cause: str) -> str:
    """One event in one line: its name, its fields, what caused it."""
    shown = ((item.name, getattr(event, item.name)) for item in fields(event) if item.name != "info")
    texts = (f"{name}={_text(value)}" for name, value in shown if value is not None)
    return f"{type(event).__name__} {' '.join(texts)} ({cause})"


def _text(value: object) -> str:
    if isinstance(value, tuple) and value and isinstance(value[0], TopicChange):
        more = f" and {len(value) - _SHOWN} more" if len(value) > _SHOWN else ""
        return ", ".join(_change(change) for change in value[:_SHOWN]) + more
    return str(value)


def _change(change: TopicChange) -> str:
    before, after = (
        "none" if queue is None else f"r{queue.read_queue_nums}/w{queue.write_queue_nums}/perm{queue.perm}"
        for queue in change[1:]
    )
    return f"{change.topic} {before}->{after}"
