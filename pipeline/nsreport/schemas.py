"""Schemas: the Spark schemas of events, computed from `namesrv_core.events`, with the journal's names."""

import types
import typing
from collections.abc import Mapping
from typing import Any

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DateType,
    DoubleType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from namesrv_core import events
from namesrv_core.events import Event

_PLAIN: dict[Any, DataType] = {
    str: StringType(),
    int: LongType(),
    float: DoubleType(),
    bool: BooleanType(),
}

TEXT, WHOLE, REAL = StringType(), LongType(), DoubleType()


def shape(**columns: DataType) -> StructType:
    """Build a schema; the keyword arguments are the columns in order."""
    return StructType([StructField(name, kind) for name, kind in columns.items()])


ENVELOPE = shape(v=WHOLE, seq=WHOLE, time=WHOLE, server=TEXT, type=TEXT, cause=TEXT, client=TEXT, source=TEXT)
"""The fields of every record; times are in ms since 1970, UTC."""


def record() -> StructType:
    """Return the schema of a journal record: the envelope, then every field of any event type.

    A field has the same meaning in all event types, so they share its column. The items of an array with
    mixed types (the pairs of `TopicMappings`) become JSON text.
    """
    hints = {
        name: hint
        for kind in vars(events).values()
        if isinstance(kind, type) and Event in kind.__bases__
        for name, hint in _members(kind).items()
    }
    return StructType([*ENVELOPE.fields, *(StructField(name, of(hint)) for name, hint in hints.items())])


BRONZE = shape(
    file=TEXT,
    line=WHOLE,
    hash=TEXT,
    ingestTime=TimestampType(),
    text=TEXT,
    server=TEXT,
    kind=TEXT,
    date=DateType(),
)
"""A line as read; `server` is the name that the operator gave to its file, `date` the day (UTC) of the line.

The same line of the same server has the same `hash` in every file.
"""


def ns_event() -> StructType:
    """Return the schema of an event from any source: a record and its origin.

    `ts` is `time` as a timestamp. `dialect` is the source: "journal", "collector", "4.x" or "5.x".
    `confidence` is 1.0 for journals, and less if a log gives only hints. `cluster` is `clusterName`, else the
    broker's cluster if it is known, else "-". `sourceFile` and `sourceLine` locate the line. `changesWrite`
    is set for TopicsChanged: whether the event closed a topic to writes or opened one. Few of them do.
    """
    own = shape(
        ts=TimestampType(),
        dialect=TEXT,
        confidence=REAL,
        changesWrite=BooleanType(),
        sourceFile=TEXT,
        sourceLine=WHOLE,
        hash=TEXT,
        date=DateType(),
        cluster=TEXT,
    )
    return StructType([*record().fields, *own.fields])


def of(hint: Any) -> DataType:
    """Return the Spark type for a Python type hint."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return next(of(item) for item in args if item is not type(None))
    if origin is tuple and args[-1] is Ellipsis:
        return ArrayType(of(args[0]))
    if origin is tuple:
        return ArrayType(of(args[0]) if len(set(args)) == 1 else StringType())
    if origin is Mapping:
        return MapType(StringType(), of(args[1]))
    if hint in _PLAIN:
        return _PLAIN[hint]
    return StructType([StructField(name, of(inner)) for name, inner in _members(hint).items()])


def _members(kind: Any) -> dict[str, Any]:
    return {_camel(name): hint for name, hint in typing.get_type_hints(kind).items()}


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)
