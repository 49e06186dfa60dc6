"""The journal's record: one event as JSON, with its sequence number, time, server, cause and client.

The names of an event's fields are in camel case, as on the wire. Null values are left out.
"""

import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.events import EVENT_TYPES_BY_NAME, Event, to_camel_case

Json = Any

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
    kind: Any = EVENT_TYPES_BY_NAME.get(record.event_type)
    if kind is None:
        return None
    try:
        event: Event = _object_reader(kind)(record.event_fields)
        return event
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidRecordError(
            f"{record.event_type} {record.seq}: {type(error).__name__}: {error}"
        ) from None


JsonWriter = Callable[[Any], Json]


def event_to_json(event: Event) -> dict[str, Json]:
    """The fields of an event as JSON values, in their order. Sequences may be tuples."""
    kind: Any = type(event)
    fields: dict[str, Json] = _object_writer(kind)(event)
    return fields


@cache
def _object_writer(record_type: Any) -> JsonWriter:
    """The writer for an event, or for a record in an event. It leaves out fields that are None."""
    hints = typing.get_type_hints(record_type)
    writers = [(to_camel_case(name), attrgetter(name), json_writer(hint)) for name, hint in hints.items()]

    def write_object(record: Any) -> Json:
        fields = {}
        for name, get_field, write_field in writers:
            value = get_field(record)
            if value is not None:
                fields[name] = value if write_field is None else write_field(value)
        return fields

    return write_object


@cache
def json_writer(hint: Any) -> JsonWriter | None:
    """The writer that converts a value of this type to JSON, or None if the value needs no conversion."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        (write,) = (json_writer(item) for item in args if item is not type(None))
        return write and (lambda value: None if value is None else write(value))
    if origin is tuple and args[-1] is Ellipsis:
        item_writer = json_writer(args[0])
        return item_writer and (lambda value: [item_writer(item) for item in value])
    if origin is tuple:
        writers = [json_writer(item) for item in args]
        if not any(writers):
            return None
        return lambda value: [w(i) if w else i for w, i in zip(writers, value, strict=True)]
    if origin is Mapping:
        writer = json_writer(args[1])
        return dict if writer is None else lambda value: {key: writer(i) for key, i in value.items()}
    if hasattr(hint, "_fields"):
        return _object_writer(hint)
    return None


JsonReader = Callable[[Json], Any]


@cache
def _object_reader(record_type: Any) -> JsonReader:
    """The reader for an event, or for a record in an event."""
    hints = typing.get_type_hints(record_type)
    readers = [(to_camel_case(name), name, json_reader(hint)) for name, hint in hints.items()]
    optional_fields = {name for name, hint in hints.items() if type(None) in typing.get_args(hint)}

    def read_object(fields: Json) -> Any:
        values = {}
        for name, field, read_field in readers:
            if name in fields:
                values[field] = read_field(fields[name])
            elif field in optional_fields:
                values[field] = None
        return record_type(**values)

    return read_object


@cache
def json_reader(hint: Any) -> JsonReader:
    """The reader that converts JSON to a value of this type."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        (read,) = (json_reader(item) for item in args if item is not type(None))
        return lambda value: None if value is None else read(value)
    if origin is tuple and args[-1] is Ellipsis:
        item_reader = json_reader(args[0])
        return lambda value: tuple(item_reader(item) for item in value)
    if origin is tuple:
        readers = tuple(json_reader(item) for item in args)
        return lambda value: tuple(reader(item) for reader, item in zip(readers, value, strict=True))
    if hasattr(hint, "_fields"):
        return _object_reader(hint)
    return lambda value: value
