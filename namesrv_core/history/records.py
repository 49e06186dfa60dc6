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

KINDS: dict[str, type[Event]] = {
    name: kind for name, kind in vars(events).items() if isinstance(kind, type) and Event in kind.__bases__
}
"""All event classes by name. The name is the `type` of a record."""

ENVELOPE = ("v", "seq", "time", "server", "type", "cause", "client", "source")


class BadRecord(RocketMQError):
    """A line is no record that this program can read. The message gives the reason."""


class OtherVersion(BadRecord):
    """A record has another schema version: another version of this program wrote it."""


class Origin(NamedTuple):
    """The time (ms since 1970, UTC) and the cause of an event, and the address of the requesting client.

    `source` is the observer if that is not the name server itself.
    """

    time: int
    cause: str
    client: str | None = None
    source: str | None = None


class Record(NamedTuple):
    """One line of a journal. `event_fields` has the fields of the event as JSON values."""

    seq: int
    server: str
    origin: Origin
    type: str
    fields: Mapping[str, Json]

    @property
    def time(self) -> int:
        return self.origin.time


def event_of(record: Record) -> Event | None:
    """The event of a record. None for an unknown type, which a newer server wrote."""
    kind: Any = KINDS.get(record.type)
    if kind is None:
        return None
    try:
        event: Event = _members(kind)(record.fields)
        return event
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadRecord(f"{record.type} {record.seq}: {type(error).__name__}: {error}") from None


def camel(name: str) -> str:
    """Convert a field's name to camel case: broker_name becomes brokerName."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


Writer = Callable[[Any], Json]


def to_json(event: Event) -> dict[str, Json]:
    """The fields of an event as JSON values, in their order. Sequences may be tuples."""
    kind: Any = type(event)
    found: dict[str, Json] = _object(kind)(event)
    return found


@cache
def _object(kind: Any) -> Writer:
    """The writer for an event, or for a record in an event. It leaves out fields that are None."""
    hints = typing.get_type_hints(kind)
    writers = [(camel(name), attrgetter(name), writer(hint)) for name, hint in hints.items()]

    def write(value: Any) -> Json:
        found = {}
        for key, get, one in writers:
            item = get(value)
            if item is not None:
                found[key] = item if one is None else one(item)
        return found

    return write


@cache
def writer(hint: Any) -> Writer | None:
    """The writer that converts a value of this type to JSON, or None if the value needs no conversion."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        (inner,) = (writer(item) for item in args if item is not type(None))
        return inner and (lambda value: None if value is None else inner(value))
    if origin is tuple and args[-1] is Ellipsis:
        each = writer(args[0])
        return each and (lambda value: [each(item) for item in value])
    if origin is tuple:
        parts = [writer(item) for item in args]
        if not any(parts):
            return None
        return lambda value: [one(item) if one else item for one, item in zip(parts, value, strict=True)]
    if origin is Mapping:
        of_each = writer(args[1])
        return dict if of_each is None else lambda value: {key: of_each(item) for key, item in value.items()}
    if hasattr(hint, "_fields"):
        return _object(hint)
    return None


Reader = Callable[[Json], Any]


@cache
def _members(kind: Any) -> Reader:
    """The reader for an event, or for a record in an event."""
    hints = typing.get_type_hints(kind)
    readers = [(camel(name), name, reader(hint)) for name, hint in hints.items()]
    optional = {name for name, hint in hints.items() if type(None) in typing.get_args(hint)}

    def read(value: Json) -> Any:
        given = {}
        for key, name, one in readers:
            if key in value:
                given[name] = one(value[key])
            elif name in optional:
                given[name] = None
        return kind(**given)

    return read


@cache
def reader(hint: Any) -> Reader:
    """The reader that converts JSON to a value of this type."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        (inner,) = (reader(item) for item in args if item is not type(None))
        return lambda value: None if value is None else inner(value)
    if origin is tuple and args[-1] is Ellipsis:
        each = reader(args[0])
        return lambda value: tuple(each(item) for item in value)
    if origin is tuple:
        parts = tuple(reader(item) for item in args)
        return lambda value: tuple(one(item) for one, item in zip(parts, value, strict=True))
    if hasattr(hint, "_fields"):
        return _members(hint)
    return lambda value: value
