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

from namesrv_core.events import Event, KvDeleted, KvPut, count_changed_topics, limit_topic_changes
from namesrv_core.history.records import event_to_json, to_camel_case
from namesrv_core.printable_text import cut_text

MAX_MESSAGE_LENGTH = 4096
MAX_TRACEBACK_LENGTH = 8192
MAX_VALUE_LENGTH = 1024
_MAX_SHOWN_CHANGES = 3
_MAX_SHOWN_ITEMS = 100
_KV_VALUE_FIELDS = ("before", "value")
_LONG_FIELDS: tuple[tuple[str, Callable[..., int], Callable[..., object]], ...] = (
    ("changes", count_changed_topics, limit_topic_changes),
    ("mapping_changes", len, lambda mapping_changes, max_changes: mapping_changes[:max_changes]),
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

    def format(self, log_record: logging.LogRecord) -> str:
        json_fields: dict[str, Any] = {
            "time": format_record_time(log_record),
            "level": log_record.levelname,
            "message": cut_text(log_record.getMessage(), MAX_MESSAGE_LENGTH),
        }
        if isinstance(log_record.msg, EventMessage):
            json_fields |= _event_fields(log_record.msg)
        if log_record.exc_info:
            json_fields["exception"] = cut_text(
                self.formatException(log_record.exc_info), MAX_TRACEBACK_LENGTH
            )
        # In ASCII, so that every control character and mark of writing direction is an escape sequence.
        return json.dumps(json_fields, default=str, ensure_ascii=True)


def format_record_time(log_record: logging.LogRecord) -> str:
    """The time of a record in UTC, with milliseconds."""
    seconds_text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(log_record.created))
    return f"{seconds_text}.{int(log_record.msecs):03}Z"


def _event_fields(event_message: EventMessage) -> Mapping[str, Any]:
    """The fields of an event. A long list is cut to three changes, with the count of the others."""
    shortened_event: Any = event_message.event
    left_out_counts = {}
    for field_name, count_changes, first_changes in _LONG_FIELDS:
        all_changes = getattr(shortened_event, field_name, ())
        more_count = count_changes(all_changes) - _MAX_SHOWN_CHANGES
        if more_count > 0:
            shortened_event = type(shortened_event)(
                **vars(shortened_event) | {field_name: first_changes(all_changes, _MAX_SHOWN_CHANGES)}
            )
            left_out_counts[f"{to_camel_case(field_name)}LeftOut"] = more_count
    event_identity = {"event": type(shortened_event).__name__, "cause": event_message.cause}
    client_field = {} if event_message.client_addr is None else {"client": event_message.client_addr}
    json_fields = {
        field_name: _shorten_value(field_value)
        for field_name, field_value in event_to_json(shortened_event).items()
        if not is_kv_value(shortened_event, field_name)
    }
    kv_sizes = {to_camel_case(field_name): size for field_name, size in measure_kv_values(shortened_event)}
    return event_identity | client_field | json_fields | kv_sizes | left_out_counts


def is_kv_value(event: Event, field_name: str) -> bool:
    """Whether a field has a value of the KV config, which must not be in the log."""
    return isinstance(event, (KvPut, KvDeleted)) and field_name in _KV_VALUE_FIELDS


def measure_kv_values(event: Event) -> Iterator[tuple[str, int]]:
    """The sizes of an event's values of the KV config, in bytes, each with the name of its field."""
    for field_name in type(event).__annotations__:
        if is_kv_value(event, field_name) and (kv_value := getattr(event, field_name)) is not None:
            yield f"{field_name}_bytes", len(str(kv_value).encode("utf-8", "surrogatepass"))


def _shorten_value(json_value: Any) -> Any:
    if isinstance(json_value, str):
        return cut_text(json_value, MAX_VALUE_LENGTH)
    if isinstance(json_value, Mapping):
        return {
            str(item_key): _shorten_value(item_value)
            for item_key, item_value in islice(json_value.items(), _MAX_SHOWN_ITEMS)
        }
    if isinstance(json_value, (list, tuple)):
        return [_shorten_value(item_value) for item_value in json_value[:_MAX_SHOWN_ITEMS]]
    return json_value
