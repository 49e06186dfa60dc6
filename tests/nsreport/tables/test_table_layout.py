"""Rows are written by the layout of their table."""

from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.functions import col

from nsreport.tables.table_layout import HeadRows, TableSpec, write_rows


def test_rows_are_sorted_within_partitions_and_expanded_afterwards(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = TableSpec("silver/numbers", ("kind",), ("n",))
    rows = spark.createDataFrame([(n, "ab"[n % 2]) for n in (5, 3, 1, 4, 2)], "n int, kind string")
    heads = HeadRows(rows.repartition(3), lambda ordered: ordered.select((-col("n")).alias("m"), "kind"))
    schema = write_rows(table, heads, str(tmp_path / "new"), is_gathered=True)
    assert schema.names == ["m", "kind"]
    files = {file.parent.name: str(file) for file in tmp_path.rglob("*.parquet")}
    written = {name: [row.m for row in spark.read.parquet(file).collect()] for name, file in files.items()}
    assert written == {"kind=a": [-2, -4], "kind=b": [-1, -3, -5]}
