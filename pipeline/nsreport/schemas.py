"""What an event looks like to Spark: computed from the events, with the names that journals have."""

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
    """Columns of a table, by their names, in this order."""
    return StructType([StructField(name, kind) for name, kind in columns.items()])


ENVELOPE = shape(v=WHOLE, seq=WHOLE, time=WHOLE, server=TEXT, type=TEXT, cause=TEXT, client=TEXT, source=TEXT)
"""What all records have; times are in ms since 1970, UTC."""


def record() -> StructType:
    """A record of a journal: its envelope, then every field that any kind of event has.

    A field means the same wherever it stands, so that all kinds share a column. What stands in an array
    beside things of other types (the pairs of `TopicMappings`) is its JSON text.
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
"""A line as it was read; `server` is the name that the operator gave its file, `date` the day (UTC) it is of.

The same line of the same server has the same `hash`, in whatever file it stands.
"""


def ns_event() -> StructType:
    """An event whatever it was read from: a record, and where that is from.

    `ts` is `time` as a timestamp. `dialect` is what it was read from: "journal", "collector", "4.x" or "5.x".
    `confidence` is 1.0 in journals, less where a log only hints. `cluster` is `clusterName`, or that of the
    broker as far as it is known, else "-". `sourceFile` and `sourceLine` are where it was read.
    `changesWrite` is of TopicsChanged: whether a topic was closed to writes or opened; of many, few do so.
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
    """The type of a field, from its type in Python."""
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
