"""The journal's record: one event as JSON, with its sequence number, time, server, cause and client.

The names of an event's fields are in camel case, as on the wire. Null values are left out.
"""

import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple

from namesrv_core import events
from namesrv_core.errors import RocketMQError
from namesrv_core.events import Event

Json = Any

EVENT_TYPES_BY_NAME: dict[str, type[Event]] = {
    event_name: event_type
    for event_name, event_type in vars(events).items()
    if isinstance(event_type, type) and Event in event_type.__bases__
}
"""All event classes by name. The name is the `type` of a record."""

ENVELOPE_FIELDS = ("v", "seq", "time", "server", "type", "cause", "client", "source")


class InvalidRecordError(RocketMQError):
    """This program cannot read a line as a record. The message gives the reason."""


class OtherSchemaVersionError(InvalidRecordError):
    """A record has another schema version: another version of this program wrote it."""


class RecordOrigin(NamedTuple):
    """The time (ms since 1970, UTC) and the cause of an event, and the address of the requesting client.

    `source` is the observer if that is not the name server itself.
    """

    time_ms: int
    cause: str
    client_addr: str | None = None
    source: str | None = None


class JournalRecord(NamedTuple):
    """One line of a journal. `event_fields` has the fields of the event as JSON values."""

    seq: int
    server_name: str
    origin: RecordOrigin
    event_type: str
    event_fields: Mapping[str, Json]

    @property
    def time_ms(self) -> int:
        return self.origin.time_ms


def event_of_record(record: JournalRecord) -> Event | None:
    """The event of a record. None for an unknown type, which a newer server wrote."""
    event_type: Any = EVENT_TYPES_BY_NAME.get(record.event_type)
    if event_type is None:
        return None
    try:
        event: Event = _object_reader(event_type)(record.event_fields)
        return event
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidRecordError(
            f"{record.event_type} {record.seq}: {type(error).__name__}: {error}"
        ) from None


def to_camel_case(field_name: str) -> str:
    """Convert a field's name to camel case: broker_name becomes brokerName."""
    first_word, *other_words = field_name.split("_")
    return first_word + "".join(word.capitalize() for word in other_words)


JsonWriter = Callable[[Any], Json]


def event_to_json(event: Event) -> dict[str, Json]:
    """The fields of an event as JSON values, in their order. Sequences may be tuples."""
    event_type: Any = type(event)
    json_fields: dict[str, Json] = _object_writer(event_type)(event)
    return json_fields


@cache
def _object_writer(record_type: Any) -> JsonWriter:
    """The writer for an event, or for a record in an event. It leaves out fields that are None."""
    type_hints = typing.get_type_hints(record_type)
    field_writers = [
        (to_camel_case(field_name), attrgetter(field_name), json_writer(type_hint))
        for field_name, type_hint in type_hints.items()
    ]

    def write_object(written_record: Any) -> Json:
        json_fields = {}
        for json_name, get_field, write_field in field_writers:
            field_value = get_field(written_record)
            if field_value is not None:
                json_fields[json_name] = field_value if write_field is None else write_field(field_value)
        return json_fields

    return write_object


@cache
def json_writer(type_hint: Any) -> JsonWriter | None:
    """The writer that converts a value of this type to JSON, or None if the value needs no conversion."""
    type_origin, type_args = typing.get_origin(type_hint), typing.get_args(type_hint)
    if type_origin in (types.UnionType, typing.Union):
        (inner_writer,) = (json_writer(item) for item in type_args if item is not type(None))
        return inner_writer and (
            lambda plain_value: None if plain_value is None else inner_writer(plain_value)
        )
    if type_origin is tuple and type_args[-1] is Ellipsis:
        item_writer = json_writer(type_args[0])
        return item_writer and (lambda plain_value: [item_writer(item) for item in plain_value])
    if type_origin is tuple:
        part_writers = [json_writer(item) for item in type_args]
        if not any(part_writers):
            return None
        return lambda plain_value: [
            part_writer(item) if part_writer else item
            for part_writer, item in zip(part_writers, plain_value, strict=True)
        ]
    if type_origin is Mapping:
        value_writer = json_writer(type_args[1])
        return (
            dict
            if value_writer is None
            else lambda plain_value: {map_key: value_writer(item) for map_key, item in plain_value.items()}
        )
    if hasattr(type_hint, "_fields"):
        return _object_writer(type_hint)
    return None


JsonReader = Callable[[Json], Any]


@cache
def _object_reader(record_type: Any) -> JsonReader:
    """The reader for an event, or for a record in an event."""
    type_hints = typing.get_type_hints(record_type)
    field_readers = [
        (to_camel_case(field_name), field_name, json_reader(type_hint))
        for field_name, type_hint in type_hints.items()
    ]
    optional_fields = {
        field_name for field_name, type_hint in type_hints.items() if type(None) in typing.get_args(type_hint)
    }

    def read_object(json_fields: Json) -> Any:
        field_values = {}
        for json_name, field_name, read_field in field_readers:
            if json_name in json_fields:
                field_values[field_name] = read_field(json_fields[json_name])
            elif field_name in optional_fields:
                field_values[field_name] = None
        return record_type(**field_values)

    return read_object


@cache
def json_reader(type_hint: Any) -> JsonReader:
    """The reader that converts JSON to a value of this type."""
    type_origin, type_args = typing.get_origin(type_hint), typing.get_args(type_hint)
    if type_origin in (types.UnionType, typing.Union):
        (inner_reader,) = (json_reader(item) for item in type_args if item is not type(None))
        return lambda json_value: None if json_value is None else inner_reader(json_value)
    if type_origin is tuple and type_args[-1] is Ellipsis:
        item_reader = json_reader(type_args[0])
        return lambda json_value: tuple(item_reader(item) for item in json_value)
    if type_origin is tuple:
        part_readers = tuple(json_reader(item) for item in type_args)
        return lambda json_value: tuple(
            part_reader(item) for part_reader, item in zip(part_readers, json_value, strict=True)
        )
    if hasattr(type_hint, "_fields"):
        return _object_reader(type_hint)
    return lambda json_value: json_value
