"""Column metadata: adds the unit and meaning of each column to the files of a table."""

from pyspark.sql import DataFrame
from pyspark.sql.functions import col
from pyspark.sql.types import StructField, StructType

from nsreport.dictionary.table_definitions import ColumnDefinition
from nsreport.reports.table_catalogue import find_table


def add_column_metadata(table_name: str, table_rows: DataFrame) -> DataFrame:
    """Add `comment` and `unit` to the columns; Spark keeps them in the footer of each Parquet file."""
    described_schema = describe_schema(table_name, table_rows.schema)
    if described_schema == table_rows.schema:
        return table_rows
    return table_rows.select(
        *(
            col(field.name).alias(field.name, metadata=field.metadata) if field.metadata else col(field.name)
            for field in described_schema
        )
    )


def describe_schema(table_name: str, table_schema: StructType) -> StructType:
    """Add `comment` and `unit` to the columns of a schema."""
    table = find_table(table_name)
    columns = {column.name: column for column in table.columns} if table is not None else {}
    return StructType(
        [
            StructField(field.name, field.dataType, field.nullable, _make_metadata(columns[field.name]))
            if field.name in columns
            else field
            for field in table_schema
        ]
    )


def _make_metadata(column: ColumnDefinition) -> dict[str, str]:
    unit_entry = {"unit": column.unit} if column.unit else {}
    return {"comment": column.meaning, **unit_entry}
