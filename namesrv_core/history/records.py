"""A record: one event with its sequence number, when, where, and on whose request; one line of a journal.

A line is a JSON object in UTF-8. Names are those of the event's fields in the wire's spelling, and what is
null is left out.
"""

import json
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, NamedTuple

from namesrv_core import events
from namesrv_core.errors import RocketMQError
from namesrv_core.events import SCHEMA_VERSION, Event, TopicChange, TopicChanges

Json = Any

KINDS: dict[str, type[Event]] = {
    name: kind for name, kind in vars(events).items() if isinstance(kind, type) and Event in kind.__bases__
}
"""Every kind of event by its name, which is the record's `type`."""

_LONG = 256
_PLAIN = frozenset({str, int, bool, type(None)})

ENVELOPE = ("v", "seq", "time", "server", "type", "cause", "client", "source")


class BadRecord(RocketMQError):
    """A line that is no record of a version that is understood; the text says why."""


class OtherVersion(BadRecord):
    """A record of another schema version: whoever wrote it knows more than this program."""


class Origin(NamedTuple):
    """When (UTC, ms since 1970) and why something happened, and at which address the one sits who asked.

    `source` is who saw it, where that is not the name server itself.
    """

    time: int
    cause: str
    client: str | None = None
    source: str | None = None


class Record(NamedTuple):
    """One line; `fields` are those of the event, as JSON has them."""

    seq: int
    server: str
    origin: Origin
    type: str
    fields: Mapping[str, Json]

    @property
    def time(self) -> int:
        return self.origin.time


def line(seq: int, server: str, origin: Origin, event: Event) -> bytes:
    """An event as a line, with its end."""
    head = {
        "v": SCHEMA_VERSION,
        "seq": seq,
        "time": origin.time,
        "server": server,
        "type": type(event).__name__,
        "cause": origin.cause,
    }
    if origin.client is not None:
        head["client"] = origin.client
    if origin.source is not None:
        head["source"] = origin.source
    members = (_dumps(name) + b":" + _dumps(value) for name, value in (head | to_json(event)).items())
    return b"{" + b",".join(members) + b"}\n"


def _dumps(value: Json) -> bytes:
    if isinstance(value, (list, tuple)) and len(value) > _LONG:
        # Other threads come to their turn between the parts, and not while the encoder runs.
        parts = (value[at : at + _LONG] for at in range(0, len(value), _LONG))
        return b"[" + b",".join(_dumps(part)[1:-1] for part in parts) + b"]"
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        # Half a surrogate pair, which a client can make in JSON and UTF-8 cannot say.
        return json.dumps(value, separators=(",", ":")).encode()


def parse(text: bytes) -> Record:
    """The record of a line. BadRecord for another schema version, and for what is no record."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise BadRecord(f"no JSON: {error}") from None
    if not isinstance(value, dict) or not isinstance(value.get("seq"), int):
        raise BadRecord("no record: it has no seq")
    if value.get("v") != SCHEMA_VERSION:
        raise OtherVersion(f"schema version {value.get('v')}, and this program knows {SCHEMA_VERSION}")
    try:
        origin = Origin(value["time"], value["cause"], value.get("client"), value.get("source"))
        own = {name: item for name, item in value.items() if name not in ENVELOPE}
        return Record(value["seq"], value["server"], origin, value["type"], own)
    except KeyError as error:
        raise BadRecord(f"no record: it has no {error.args[0]}") from None


def event_of(record: Record) -> Event | None:
    """The event of a record; None for a type that is not known here (a newer server wrote it)."""
    kind: Any = KINDS.get(record.type)
    if kind is None:
        return None
    try:
        event: Event = _members(kind)(record.fields)
        return event
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadRecord(f"{record.type} {record.seq}: {type(error).__name__}: {error}") from None


def camel(name: str) -> str:
    """A field's name as the wire spells it: broker_name is brokerName."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def to_json(value: object) -> Json:
    """An event, a record in it or a plain value, as JSON has it."""
    if isinstance(value, Event):
        named = ((camel(item.name), getattr(value, item.name)) for item in fields(value))
        return {name: to_json(item) for name, item in named if item is not None}
    if isinstance(value, tuple):
        names = getattr(value, "_fields", None)
        if names is not None:
            named = ((camel(name), item) for name, item in zip(names, value, strict=True))
            return {name: to_json(item) for name, item in named if item is not None}
        if _PLAIN.issuperset(map(type, value)):
            return value
        return [to_json(item) for item in (_alike(value) if _are_changes(value) else value)]
    if isinstance(value, Mapping):
        return {key: to_json(item) for key, item in value.items()}
    return value


def _are_changes(value: tuple[object, ...]) -> bool:
    return bool(value) and isinstance(value[0], TopicChange)


def _alike(changes: tuple[TopicChange, ...]) -> list[TopicChanges]:
    """Topics that changed alike, together; equal queues are usually the same object."""
    found: dict[tuple[int, int], list[str]] = {}
    sample: dict[tuple[int, int], TopicChange] = {}
    for change in changes:
        topic, before, after = change
        key = (id(before), id(after))
        topics = found.get(key)
        if topics is None:
            topics, sample[key] = found.setdefault(key, []), change
        topics.append(topic)
    return [
        TopicChanges(tuple(topics), sample[key].before, sample[key].after) for key, topics in found.items()
    ]


Reader = Callable[[Json], Any]


@cache
def _members(kind: Any) -> Reader:
    """How an event or a record in one is read."""
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
    """What makes a value of that type of what JSON has."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        (inner,) = (reader(item) for item in args if item is not type(None))
        return lambda value: None if value is None else inner(value)
    if hint == tuple[TopicChange, ...]:
        return _apart
    if origin is tuple and args[-1] is Ellipsis:
        each = reader(args[0])
        return lambda value: tuple(each(item) for item in value)
    if origin is tuple:
        parts = tuple(reader(item) for item in args)
        return lambda value: tuple(one(item) for one, item in zip(parts, value, strict=True))
    if hasattr(hint, "_fields"):
        return _members(hint)
    return lambda value: value


def _apart(value: Json) -> tuple[TopicChange, ...]:
    one = _members(TopicChanges)
    return tuple(
        TopicChange(topic, group.before, group.after) for group in map(one, value) for topic in group.topics
    )
