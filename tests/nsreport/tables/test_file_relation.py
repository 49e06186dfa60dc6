"""A DataFrame over listed files has their rows, and the values that the list gives their partitions."""

from datetime import date
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.functions import col
from pyspark.sql.types import DateType, LongType, StringType, StructField, StructType

from nsreport.tables.file_relation import read_files
from nsreport.tables.table_versions import TableFile

SCHEMA = StructType([StructField("n", LongType()), StructField("cluster", StringType())])


def test_names_that_need_escapes_and_files_that_are_not_listed(spark: SparkSession, tmp_path: Path) -> None:
    files = []
    for number, cluster in enumerate(["a b:c%/ü=#?", None, "007", "left out"]):
        folder = tmp_path / "a table" / f"unique-{number}"
        spark.range(number, number + 1).toDF("n").coalesce(1).write.parquet(str(folder))
        [file] = folder.glob("*.parquet")
        path = str(file.relative_to(tmp_path / "a table"))
        files.append(TableFile(path, {"cluster": cluster}, file.stat().st_size, 1))
    found = read_files(spark, f"file:{tmp_path}/a table", files[:3], SCHEMA, ["cluster"])
    assert found.schema == SCHEMA
    rows = {(row.n, row.cluster) for row in found.collect()}
    assert rows == {(0, "a b:c%/ü=#?"), (1, None), (2, "007")}
    assert [row.n for row in found.where(col("cluster") == "007").collect()] == [2]
    assert [row.n for row in found.where(col("cluster").isNull()).collect()] == [1]


def test_a_table_without_partitions_and_one_without_files(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(2).toDF("n").coalesce(1).write.parquet(str(tmp_path / "unique"))
    [file] = (tmp_path / "unique").glob("*.parquet")
    files = [TableFile(f"unique/{file.name}", {}, file.stat().st_size, 2)]
    for listed, count in ((files, 2), ([], 0)):
        found = read_files(spark, f"file:{tmp_path}", listed, SCHEMA, [])
        # No file has the column.
        assert [row.cluster for row in found.collect()] == [None] * count


def test_partition_columns_in_another_order_than_in_the_schema(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(1).toDF("n").coalesce(1).write.parquet(str(tmp_path / "unique"))
    [file] = (tmp_path / "unique").glob("*.parquet")
    values = {"date": date(2026, 1, 2), "cluster": "c"}
    files = [TableFile(f"unique/{file.name}", values, file.stat().st_size, 1)]
    schema = StructType([*SCHEMA.fields, StructField("date", DateType())])
    [row] = read_files(spark, f"file:{tmp_path}", files, schema, ["date", "cluster"]).collect()
    assert (row.n, row.cluster, row.date) == (0, "c", date(2026, 1, 2))
