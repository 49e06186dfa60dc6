"""Table catalogue: all tables of a store, from bronze/ to gold/, with types, units and meanings of columns.

Only the columns of `silver/ns_event`, and nested columns, load the types of Spark; none starts Spark.
"""

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, cast

from nsreport.dictionary.column_types import find_column_unit
from nsreport.dictionary.former_names import find_present_table
from nsreport.dictionary.table_definitions import (
    DATA_QUALITY_TABLE,
    DEFINITIONS_BY_NAME,
    SHARED_MEANINGS,
    ColumnDefinition,
    TableDefinition,
    define_table,
)
from nsreport.reports.catalogue import REPORTS_BY_NAME

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

EVENT_TABLE_NAME = "silver/ns_event"
_LAYERS = ("gold", "silver", "bronze")
_EVENT_MEANINGS = {
    **{name: SHARED_MEANINGS[name] for name in ("time", "ts", "date", "cluster", "type", "cause", "client")},
    "v": "version of the record's schema",
    "seq": "number of the record in its journal; null in a log",
    "server": "name server, or the server that wrote the log",
    "source": "collector, if a collector wrote the record",
    "dialect": "journal, collector, 4.x or 5.x: the form of the source",
    "confidence": "1 for a journal, less if a log gives only hints",
    "changesWrite": "for TopicsChanged: whether it closed a topic to writes, or opened one",
    "sourceFile": "file of the line",
    "sourceLine": "number of the line, or the offset of its block",
    "hash": "identifies the line in bronze/lines",
}


@cache
def list_tables() -> tuple[TableDefinition, ...]:
    """Return the definitions of all tables: reports first, then silver/, then bronze/."""
    all_tables = [
        *_report_tables().values(),
        _define_event_table(),
        *map(_add_nested_types, DEFINITIONS_BY_NAME.values()),
    ]
    return tuple(sorted(all_tables, key=lambda table: _LAYERS.index(table.name.split("/")[0])))


def find_table(table_name: str) -> TableDefinition | None:
    """Find a table by its present or former name, with or without its layer; None if there is none."""
    for full_name in (table_name, *(f"{layer}/{table_name}" for layer in _LAYERS)):
        present_name = find_present_table(full_name)
        if present_name == EVENT_TABLE_NAME:
            return _define_event_table()
        table = DEFINITIONS_BY_NAME.get(present_name) or _report_tables().get(present_name)
        if table is not None:
            return _add_nested_types(table)
    return None


def build_report_schema(report_name: str) -> "StructType":
    """The schema of a report, from the definitions of its columns."""
    from pyspark.sql.types import StructType

    columns = _report_tables()[f"gold/{report_name}"].columns
    return cast(StructType, StructType.fromDDL(", ".join(f"`{c.name}` {c.type_name}" for c in columns)))


@cache
def _report_tables() -> dict[str, TableDefinition]:
    report_tables = {
        f"gold/{report.name}": define_table(f"gold/{report.name}", report.description, report.columns)
        for report in REPORTS_BY_NAME.values()
    }
    return {**report_tables, DATA_QUALITY_TABLE.name: DATA_QUALITY_TABLE}


@cache
def _define_event_table() -> TableDefinition:
    from nsreport.sources.schemas import event_schema

    event_types = dict(_list_event_types())
    columns = []
    for field in event_schema().fields:
        type_name = field.dataType.simpleString()
        meaning = _EVENT_MEANINGS.get(field.name) or f"field of {', '.join(event_types[field.name])}"
        columns.append(
            ColumnDefinition(field.name, type_name, find_column_unit(field.name, type_name), meaning)
        )
    description = "An event of a journal, a collector or a log. The page Journal explains the fields."
    return TableDefinition(EVENT_TABLE_NAME, description, tuple(columns))


def _list_event_types() -> Iterator[tuple[str, list[str]]]:
    """Yield each field of an event with the types of the events that have it."""
    from nsreport.sources.schemas import list_event_fields

    types_by_field: dict[str, list[str]] = {}
    for event_type, field_names in list_event_fields().items():
        for field_name in field_names:
            types_by_field.setdefault(field_name, []).append(event_type)
    yield from types_by_field.items()


def _add_nested_types(table: TableDefinition) -> TableDefinition:
    """Take the types of nested columns, which other tables copy from events, from `silver/ns_event`."""
    if table.name != "silver/broker_lifecycle":
        return table
    event_columns = {column.name: column for column in _define_event_table().columns}
    columns = [
        column._replace(type_name=event_columns[column.name].type_name)
        if column.name in ("changes", "groups")
        else column
        for column in table.columns
    ]
    return table._replace(columns=tuple(columns))
