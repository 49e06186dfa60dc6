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

from namesrv_core.events import EVENT_TYPES_BY_NAME, to_camel_case

_SPARK_TYPES: dict[Any, DataType] = {
    str: StringType(),
    int: LongType(),
    float: DoubleType(),
    bool: BooleanType(),
}

TEXT_TYPE, WHOLE_TYPE, REAL_TYPE = StringType(), LongType(), DoubleType()


def build_schema(**column_types: DataType) -> StructType:
    """Build a schema; the keyword arguments are the columns in order."""
    return StructType(
        [StructField(column_name, column_type) for column_name, column_type in column_types.items()]
    )


ENVELOPE_SCHEMA = build_schema(
    v=WHOLE_TYPE,
    seq=WHOLE_TYPE,
    time=WHOLE_TYPE,
    server=TEXT_TYPE,
    type=TEXT_TYPE,
    cause=TEXT_TYPE,
    client=TEXT_TYPE,
    source=TEXT_TYPE,
)
"""The fields of every record; times are in ms since 1970, UTC."""


def record_schema() -> StructType:
    """Return the schema of a journal record: the envelope, then every field of any event type.

    A field has the same meaning in all event types, so they share its column. The items of an array with
    mixed types (the pairs of `TopicMappings`) become JSON text.
    """
    field_hints = {
        field_name: type_hint
        for event_class in EVENT_TYPES_BY_NAME.values()
        for field_name, type_hint in _member_hints(event_class).items()
    }
    return StructType(
        [
            *ENVELOPE_SCHEMA.fields,
            *(
                StructField(field_name, spark_type_of(type_hint))
                for field_name, type_hint in field_hints.items()
            ),
        ]
    )


def list_event_fields() -> dict[str, list[str]]:
    """Return the names of the fields of each event type."""
    return {name: list(_member_hints(event_class)) for name, event_class in EVENT_TYPES_BY_NAME.items()}


BRONZE_SCHEMA = build_schema(
    file=TEXT_TYPE,
    line=WHOLE_TYPE,
    hash=TEXT_TYPE,
    ingestTime=TimestampType(),
    text=TEXT_TYPE,
    server=TEXT_TYPE,
    kind=TEXT_TYPE,
    date=DateType(),
)
"""A line as read; `server` is the name that the operator gave to its file, `date` the day (UTC) of the line.

The same line of the same server has the same `hash` in every file.
"""


def event_schema() -> StructType:
    """Return the schema of an event from any source: a record and its origin.

    `ts` is `time` as a timestamp. `dialect` is the source: "journal", "collector", "4.x" or "5.x".
    `confidence` is 1.0 for journals, and less if a log gives only hints. `cluster` is `clusterName`, else the
    broker's cluster if it is known, else "-". `sourceFile` and `sourceLine` locate the line. `changesWrite`
    is set for TopicsChanged: whether the event closed a topic to writes or opened one. Few of them do.
    """
    added_columns = build_schema(
        ts=TimestampType(),
        dialect=TEXT_TYPE,
        confidence=REAL_TYPE,
        changesWrite=BooleanType(),
        sourceFile=TEXT_TYPE,
        sourceLine=WHOLE_TYPE,
        hash=TEXT_TYPE,
        date=DateType(),
        cluster=TEXT_TYPE,
    )
    return StructType([*record_schema().fields, *added_columns.fields])


def spark_type_of(type_hint: Any) -> DataType:
    hint_origin, hint_args = typing.get_origin(type_hint), typing.get_args(type_hint)
    if hint_origin in (types.UnionType, typing.Union):
        return next(spark_type_of(union_item) for union_item in hint_args if union_item is not type(None))
    if hint_origin is tuple and hint_args[-1] is Ellipsis:
        return ArrayType(spark_type_of(hint_args[0]))
    if hint_origin is tuple:
        return ArrayType(spark_type_of(hint_args[0]) if len(set(hint_args)) == 1 else StringType())
    if hint_origin is Mapping:
        return MapType(StringType(), spark_type_of(hint_args[1]))
    if type_hint in _SPARK_TYPES:
        return _SPARK_TYPES[type_hint]
    return StructType(
        [
            StructField(field_name, spark_type_of(inner_hint))
            for field_name, inner_hint in _member_hints(type_hint).items()
        ]
    )


def _member_hints(record_class: Any) -> dict[str, Any]:
    return {
        to_camel_case(member_name): type_hint
        for member_name, type_hint in typing.get_type_hints(record_class).items()
    }
