"""Table migration: turns the tables of the previous release into Delta tables with their present names.

The previous release wrote folders of Parquet files, each with its columns in `_schema.json`. Their files stay
where they are: a commit makes them the first version of a Delta table. `bronze/lines` is the last one, so the
next run repeats a migration that was stopped before it.
"""

import json
from collections.abc import Iterable
from datetime import date

from pyspark.sql.types import StructType

from nsreport.dictionary.former_names import FORMER_COLUMNS, find_former_table
from nsreport.tables.table_layout import TableSpec
from nsreport.tables.table_store import TableStore
from nsreport.tables.table_versions import LINES_TABLE

_SCHEMA_FILE, _DUE_FOLDER, _PLAN_FILE = "_schema.json", "_due", "_staging/plan.json"


class MigrationError(Exception):
    """The tables of the previous release cannot be taken over; the text is one line."""


def migrate_former_tables(table_store: TableStore, tables: Iterable[TableSpec]) -> bool:
    """Migrate the tables of the previous release, if there are any; return whether there were.

    Raises MigrationError.
    """
    folder = table_store.output_folder
    if not folder.has_path(f"{LINES_TABLE}/{_SCHEMA_FILE}"):
        return False
    if folder.has_path(_PLAN_FILE):
        raise MigrationError(
            f'a run of the previous release was stopped while it wrote "{table_store.root_path}": '
            "run the previous release again, then this one"
        )
    due_days = [date.fromisoformat(name) for name, _ in folder.list_sized_files(_DUE_FOLDER)]
    for table in tables:
        for table_name in (find_former_table(table.name), table.name):
            if table_name is not None and table_name != LINES_TABLE:
                _adopt_files(table_store, table._replace(name=table_name))
        _rename_table(table_store, table)
    _adopt_files(table_store, TableSpec(LINES_TABLE, ("kind", "date")), due_days)
    folder.remove(_DUE_FOLDER)
    return True


def _adopt_files(table_store: TableStore, table: TableSpec, due_days: Iterable[date] = ()) -> None:
    """Make the Parquet files of a folder a Delta table."""
    schema_path = f"{table.name}/{_SCHEMA_FILE}"
    schema_text = table_store.output_folder.read_text(schema_path)
    if schema_text is None:
        return
    if table_store.read_table(table) is None:
        table_store.add_files(
            table,
            StructType.fromJson(json.loads(schema_text)),
            table_store.list_parquet_files(table.name, ""),
            due_days,
        )
    table_store.output_folder.remove(schema_path)


def _rename_table(table_store: TableStore, table: TableSpec) -> None:
    """Give a table its present name and columns. The former one stays until the present one has all rows."""
    former_name, former_columns = find_former_table(table.name), dict(FORMER_COLUMNS.get(table.name, {}))
    table_rows = table_store.read_table(table)
    if former_name is not None and table_rows is None:
        former_rows = table_store.read_table(TableSpec(former_name))
        if former_rows is not None:
            table_store.replace_rows(table, former_rows.withColumnsRenamed(former_columns))
    elif table_rows is not None and set(former_columns) & set(table_rows.columns):
        table_store.replace_rows(table, table_rows.withColumnsRenamed(former_columns))
    if former_name is not None and table_store.output_folder.has_path(former_name):
        table_store.remove_table(former_name)
