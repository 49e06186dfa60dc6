"""The log as JSON: an object a line, with the fields of events as the journal spells them."""

import json
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from namesrv_core.events import Event, count_topics, first_topics
from namesrv_core.history.records import camel, to_json

_SHOWN = 3
_LONG: tuple[tuple[str, Callable[..., int], Callable[..., object]], ...] = (
    ("changes", count_topics, first_topics),
    ("mapping_changes", len, lambda changes, most: changes[:most]),
)


@dataclass(frozen=True, slots=True)
class Happened:
    """An event, what caused it, and the address of whoever asked for it; `text` says the same in one line."""

    event: Event
    cause: str
    client: str | None
    text: str

    def __str__(self) -> str:
        return self.text


class JsonFormatter(logging.Formatter):
    """`time`, `level` and `message` of each record; an event also has its name and fields."""

    def format(self, record: logging.LogRecord) -> str:
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        found: dict[str, Any] = {
            "time": f"{seconds}.{int(record.msecs):03}Z",
            "level": record.levelname,
            "message": record.getMessage(),
        }
        if isinstance(record.msg, Happened):
            found |= _fields(record.msg)
        if record.exc_info:
            found["exception"] = self.formatException(record.exc_info)
        return json.dumps(found, default=str)


def _fields(happened: Happened) -> Mapping[str, Any]:
    """Of many changes the first three, and how many more there are."""
    event: Any = happened.event
    left_out = {}
    for name, count, first in _LONG:
        changes = getattr(event, name, ())
        more = count(changes) - _SHOWN
        if more > 0:
            event = type(event)(**vars(event) | {name: first(changes, _SHOWN)})
            left_out[f"{camel(name)}LeftOut"] = more
    told = {"event": type(event).__name__, "cause": happened.cause}
    client = {} if happened.client is None else {"client": happened.client}
    return told | client | to_json(event) | left_out
