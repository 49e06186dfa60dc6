"""Rows are written by the layout of their table."""

from pathlib import Path

from pyspark.sql import SparkSession

from nsreport.tables.table_layout import TableSpec, write_rows


def test_rows_are_brought_together_and_sorted_within_partitions(spark: SparkSession, tmp_path: Path) -> None:
    table = TableSpec("silver/numbers", ("kind",), ("n",))
    rows = spark.createDataFrame([(n, "ab"[n % 2]) for n in (5, 3, 1, 4, 2)], "n int, kind string")
    schema = write_rows(table, rows.repartition(3), str(tmp_path / "new"), is_gathered=True)
    assert schema.names == ["n", "kind"]
    files = {file.parent.name: str(file) for file in tmp_path.rglob("*.parquet")}
    written = {name: [row.n for row in spark.read.parquet(file).collect()] for name, file in files.items()}
    assert written == {"kind=a": [2, 4], "kind=b": [1, 3, 5]}


def test_rows_that_are_together_already_are_not_moved(spark: SparkSession, tmp_path: Path) -> None:
    table = TableSpec("silver/numbers", ("kind",), is_pregathered=True)
    rows = spark.createDataFrame([(n, "a") for n in range(20)], "n int, kind string").repartition(3, "n")
    write_rows(table, rows, str(tmp_path / "new"), is_gathered=True)
    assert len(list(tmp_path.rglob("*.parquet"))) == sum(map(bool, rows.rdd.glom().collect())) > 1
