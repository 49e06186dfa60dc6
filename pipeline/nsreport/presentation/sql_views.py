"""SQL views: statements that make the tables of a run views in DuckDB, also under their former names."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from nsreport.dictionary.former_names import FORMER_COLUMNS, find_former_table
from nsreport.dictionary.table_definitions import DATA_QUALITY_TABLE, TableDefinition
from nsreport.presentation.data_quality import INPUTS_BY_VIEW, render_query
from nsreport.presentation.report_reader import TableNotMadeError, list_parquet_files, render_read_options


def render_views(output_folder: Path, tables: Sequence[TableDefinition]) -> Iterator[str]:
    """Yield the statements for the newest versions of the tables in `output_folder`."""
    stored_tables = [table for table in tables if table.name != DATA_QUALITY_TABLE.name]
    views = [
        statement
        for table in stored_tables
        for statement in _render_table_views(output_folder.resolve(), table)
    ]
    if len(stored_tables) > 1 and len(stored_tables) < len(tables):
        views.append(_render_quality_view())
    for layer in sorted({table.name.split("/")[0] for table in tables}):
        yield f"create schema if not exists {layer};"
    yield from views


def _render_quality_view() -> str:
    """Return the view of `data_quality`, which reads other views."""
    view_names = {
        view_name: table_name.replace("/", ".") for view_name, (table_name, _) in INPUTS_BY_VIEW.items()
    }
    return f"create or replace view gold.data_quality as {render_query(view_names).strip()};"


def render_empty_table(table: TableDefinition) -> str:
    """Return a query without rows that has the columns of a table."""
    null_columns = ", ".join(
        f'null::{_find_duckdb_type(column.type_name)} as "{column.name}"' for column in table.columns
    )
    return f"select {null_columns} where false"


def quote_text(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def _find_duckdb_type(type_name: str) -> str:
    """Return DuckDB's name of a SQL type of Spark; nested types become text."""
    return "varchar" if "<" in type_name or type_name == "string" else type_name


def _render_source(table_folder: Path, table: TableDefinition) -> str:
    """Return the text after `from` that reads a table; a table without files has no rows."""
    try:
        parquet_files = list_parquet_files(table_folder)
    except TableNotMadeError:
        parquet_files = []
    if not parquet_files:
        return f"({render_empty_table(table)})"
    file_list = ", ".join(map(quote_text, parquet_files))
    return f"read_parquet([{file_list}], {render_read_options(parquet_files[0])})"


def _render_table_views(output_folder: Path, table: TableDefinition) -> Iterator[str]:
    source = _render_source(output_folder / table.name, table)
    former_names = {
        present_name: former_name for former_name, present_name in FORMER_COLUMNS.get(table.name, {}).items()
    }
    columns = [f'"{column.name}"' for column in table.columns]
    former_columns = [
        f'"{column.name}" as "{former_names[column.name]}"'
        for column in table.columns
        if column.name in former_names
    ]
    former_table = find_former_table(table.name)
    if former_table is None:
        yield _render_view(table.name, [*columns, *former_columns], source)
    else:
        unchanged_columns = [
            f'"{column.name}"' for column in table.columns if column.name not in former_names
        ]
        yield _render_view(table.name, columns, source)
        yield _render_view(former_table, [*unchanged_columns, *former_columns], source)


def _render_view(view_name: str, columns: Sequence[str], source: str) -> str:
    layer, _, short_name = view_name.partition("/")
    return f'create or replace view {layer}."{short_name}" as select {", ".join(columns)} from {source};'
