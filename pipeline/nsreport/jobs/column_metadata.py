"""Column metadata: adds the unit and meaning of each column to the files of a table."""

from pyspark.sql import DataFrame
from pyspark.sql.functions import col

from nsreport.dictionary.table_definitions import ColumnDefinition
from nsreport.reports.table_catalogue import find_table
from nsreport.tables.table_layout import HeadRows


def add_column_metadata(table_name: str, table_rows: DataFrame | HeadRows) -> DataFrame | HeadRows:
    """Add `comment` and `unit` to the columns; Spark keeps them in the footer of each Parquet file."""
    table = find_table(table_name)
    if table is None:
        return table_rows
    columns = {column.name: column for column in table.columns}
    if isinstance(table_rows, DataFrame):
        return _describe_columns(table_rows, columns)
    expand_rows = table_rows.expand_rows
    return HeadRows(
        table_rows.head_rows, lambda head_rows: _describe_columns(expand_rows(head_rows), columns)
    )


def _describe_columns(table_rows: DataFrame, columns: dict[str, ColumnDefinition]) -> DataFrame:
    return table_rows.select(
        *(
            col(column_name).alias(column_name, metadata=_make_metadata(columns[column_name]))
            if column_name in columns
            else col(column_name)
            for column_name in table_rows.columns
        )
    )


def _make_metadata(column: ColumnDefinition) -> dict[str, str]:
    unit_entry = {"unit": column.unit} if column.unit else {}
    return {"comment": column.meaning, **unit_entry}
