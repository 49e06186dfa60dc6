"""The log in JSON format: one object per line, whose event fields have the same names as in the journal."""

import json
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from namesrv_core.events import Event, count_changed_topics, limit_topic_changes
from namesrv_core.history.records import event_to_json, to_camel_case

_MAX_SHOWN_CHANGES = 3
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
        seconds_text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(log_record.created))
        json_fields: dict[str, Any] = {
            "time": f"{seconds_text}.{int(log_record.msecs):03}Z",
            "level": log_record.levelname,
            "message": log_record.getMessage(),
        }
        if isinstance(log_record.msg, EventMessage):
            json_fields |= _event_fields(log_record.msg)
        if log_record.exc_info:
            json_fields["exception"] = self.formatException(log_record.exc_info)
        return json.dumps(json_fields, default=str)


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
    return event_identity | client_field | event_to_json(shortened_event) | left_out_counts
