"""Table migration: gives the tables of the previous release their present names and columns."""

from collections.abc import Iterable

from nsreport.dictionary.former_names import FORMER_COLUMNS, find_former_table
from nsreport.tables.table_store import TableSpec, TableStore


def migrate_former_tables(table_store: TableStore, tables: Iterable[TableSpec]) -> list[str]:
    """Rewrite the tables that have a former name or former columns; return the present names of them.

    Safe to interrupt: a table keeps its former name until all its rows are under the present one.
    """
    return [table.name for table in tables if _migrate_table(table_store, table)]


def _migrate_table(table_store: TableStore, table: TableSpec) -> bool:
    former_name = find_former_table(table.name)
    if (
        former_name is not None
        and (former_rows := table_store.read_table(TableSpec(former_name))) is not None
    ):
        # After a kill between the two steps, the table has its present name already.
        if table_store.read_table(table) is None:
            column_names = dict(FORMER_COLUMNS.get(table.name, {}))
            table_store.replace_rows(table, former_rows.withColumnsRenamed(column_names))
        table_store.remove_table(former_name)
        return True
    return _migrate_columns(table_store, table)


def _migrate_columns(table_store: TableStore, table: TableSpec) -> bool:
    former_columns = dict(FORMER_COLUMNS.get(table.name, {}))
    table_rows = table_store.read_table(table) if former_columns else None
    if table_rows is None or not set(former_columns) & set(table_rows.columns):
        return False
    table_store.replace_rows(table, table_rows.withColumnsRenamed(former_columns))
    return True
