"""The log in JSON format: one object per line, whose event fields have the same names as in the journal.

No line has a value of the KV config, which may be a secret, and no line is long.
"""

import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from namesrv_core.events import (
    Event,
    KvDeleted,
    KvPut,
    count_changed_topics,
    limit_topic_changes,
    to_camel_case,
)
from namesrv_core.history.records import event_to_json
from namesrv_core.printable_text import cut_text

MAX_MESSAGE_LENGTH = 4096
MAX_TRACEBACK_LENGTH = 8192
MAX_VALUE_LENGTH = 1024
_MAX_SHOWN_CHANGES = 3
_MAX_SHOWN_ITEMS = 100
_KV_VALUE_FIELDS = ("before", "value")
_LONG_FIELDS: tuple[tuple[str, Callable[..., int], Callable[..., object]], ...] = (
    ("changes", count_changed_topics, limit_topic_changes),
    ("mapping_changes", len, lambda changes, max_changes: changes[:max_changes]),
)


@dataclass(frozen=True, slots=True)
class EventMessage:
    """An event, its cause and the client that caused it. `event_text` is the same as one line of text."""

    event: Event
    cause: str
    client_addr: str | None
    event_text: str

    def __str__(self) -> str:
        return self.event_text


class JsonFormatter(logging.Formatter):
    """Formats `time`, `level` and `message` of each record, for an event also its name and fields."""

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = {
            "time": format_record_time(record),
            "level": record.levelname,
            "message": cut_text(record.getMessage(), MAX_MESSAGE_LENGTH),
        }
        if isinstance(record.msg, EventMessage):
            fields |= _event_fields(record.msg)
        if record.exc_info:
            fields["exception"] = cut_text(self.formatException(record.exc_info), MAX_TRACEBACK_LENGTH)
        # In ASCII, so that every control character and mark of writing direction is an escape sequence.
        return json.dumps(fields, default=str, ensure_ascii=True)


def format_record_time(record: logging.LogRecord) -> str:
    """The time of a record in UTC, with milliseconds."""
    seconds_text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    return f"{seconds_text}.{int(record.msecs):03}Z"


def _event_fields(message: EventMessage) -> Mapping[str, Any]:
    """The fields of an event. A long list is cut to three changes, with the count of the others."""
    shortened: Any = message.event
    left_out_counts = {}
    for name, count_changes, first in _LONG_FIELDS:
        changes = getattr(shortened, name, ())
        more = count_changes(changes) - _MAX_SHOWN_CHANGES
        if more > 0:
            shortened = type(shortened)(**vars(shortened) | {name: first(changes, _MAX_SHOWN_CHANGES)})
            left_out_counts[f"{to_camel_case(name)}LeftOut"] = more
    identity = {"event": type(shortened).__name__, "cause": message.cause}
    client_field = {} if message.client_addr is None else {"client": message.client_addr}
    fields = {
        n: _shorten_value(v) for n, v in event_to_json(shortened).items() if not is_kv_value(shortened, n)
    }
    kv_sizes = {to_camel_case(name): size for name, size in measure_kv_values(shortened)}
    return identity | client_field | fields | kv_sizes | left_out_counts


def is_kv_value(event: Event, name: str) -> bool:
    """Whether a field has a value of the KV config, which must not be in the log."""
    return isinstance(event, (KvPut, KvDeleted)) and name in _KV_VALUE_FIELDS


def measure_kv_values(event: Event) -> Iterator[tuple[str, int]]:
    """The sizes of an event's values of the KV config, in bytes, each with the name of its field."""
    for name in type(event).__annotations__:
        if is_kv_value(event, name) and (kv_value := getattr(event, name)) is not None:
            yield f"{name}_bytes", len(str(kv_value).encode("utf-8", "surrogatepass"))


def _shorten_value(value: Any) -> Any:
    if isinstance(value, str):
        return cut_text(value, MAX_VALUE_LENGTH)
    if isinstance(value, Mapping):
        return {str(key): _shorten_value(value) for key, value in islice(value.items(), _MAX_SHOWN_ITEMS)}
    if isinstance(value, (list, tuple)):
        return [_shorten_value(value) for value in value[:_MAX_SHOWN_ITEMS]]
    return value
