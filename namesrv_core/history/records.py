"""The journal's record: one event as JSON, with its sequence number, time, server, cause and client.

The names of an event's fields are in camel case, as on the wire. Null values are left out. A line of a
journal is one record in UTF-8 with a newline.
"""

import json
import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from namesrv_core import events
from namesrv_core.errors import RocketMQError
from namesrv_core.events import SCHEMA_VERSION, Event

Json = Any

EVENT_TYPES_BY_NAME: dict[str, type[Event]] = {
    name: kind for name, kind in vars(events).items() if isinstance(kind, type) and Event in kind.__bases__
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


def to_camel_case(name: str) -> str:
    """Convert a field's name to camel case: broker_name becomes brokerName."""
    first_word, *words = name.split("_")
    return first_word + "".join(word.capitalize() for word in words)


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
        return lambda value: [
            writer(item) if writer else item for writer, item in zip(writers, value, strict=True)
        ]
    if origin is Mapping:
        value_writer = json_writer(args[1])
        return (
            dict
            if value_writer is None
            else lambda value: {key: value_writer(item) for key, item in value.items()}
        )
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


_encode_json = msgspec.json.Encoder().encode
_decode_json = msgspec.json.Decoder().decode


def encode_record_line(seq: int, server_name: str, origin: RecordOrigin, event: Event) -> bytes:
    """Encode an event as a line, with its newline."""
    head = {
        "v": SCHEMA_VERSION,
        "seq": seq,
        "time": origin.time_ms,
        "server": server_name,
        "type": type(event).__name__,
        "cause": origin.cause,
    }
    if origin.client_addr is not None:
        head["client"] = origin.client_addr
    if origin.source is not None:
        head["source"] = origin.source
    return _dump_json(head | event_to_json(event)) + b"\n"


def _dump_json(value: Mapping[str, Json]) -> bytes:
    try:
        return _encode_json(value)
    except (UnicodeEncodeError, OverflowError):
        # A huge number, or half a surrogate pair: clients can send that in JSON, but UTF-8 cannot encode it.
        return json.dumps(value, separators=(",", ":")).encode()


def parse_record_line(line: bytes) -> JournalRecord:
    """Parse a line. Raises InvalidRecordError if it is not a record, or has another schema version."""
    value = _load_json(line)
    if not isinstance(value, dict) or not isinstance(value.get("seq"), int):
        raise InvalidRecordError("not a journal record: seq is missing")
    if value.get("v") != SCHEMA_VERSION:
        raise OtherSchemaVersionError(
            f"schema version {value.get('v')}, but this nsadmin reads version {SCHEMA_VERSION}"
        )
    try:
        origin = RecordOrigin(value["time"], value["cause"], value.get("client"), value.get("source"))
        fields = {name: value for name, value in value.items() if name not in ENVELOPE_FIELDS}
        return JournalRecord(value["seq"], value["server"], origin, value["type"], fields)
    except KeyError as error:
        raise InvalidRecordError(f"not a journal record: {error.args[0]} is missing") from None


def _load_json(line: bytes) -> Json:
    try:
        return _decode_json(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        # Python's decoder accepts halves of surrogate pairs, and reports the position of an error.
        return json.loads(line)
    except ValueError as error:
        raise InvalidRecordError(f"invalid JSON: {error}") from None
    except RecursionError:
        raise InvalidRecordError("not a journal record: nested too deeply") from None
