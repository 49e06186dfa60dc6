"""Each line once."""

from datetime import UTC, date, datetime

from pyspark.sql import DataFrame, SparkSession

from nsreport import bronze, schemas

NOW = datetime(2025, 1, 1, tzinfo=UTC)
SHAPE = "file string, line bigint, text string, kind string, server string"
RECORD = '{"v":1,"seq":%d,"time":1738400000123,"server":"s"}'


def rows(spark: SparkSession, *lines: tuple[str, int, str], server: str | None = None) -> DataFrame:
    given = [(*line, "journal", server) for line in lines]
    return bronze.rows(spark.createDataFrame(given, SHAPE), NOW)


def test_a_line_in_two_files_is_one(spark: SparkSession) -> None:
    text = RECORD % 1
    found = rows(spark, ("b.zst", 7, text), ("a", 7, text), ("a", 8, RECORD % 2))
    assert found.schema.names == schemas.BRONZE.names
    assert sorted((row.file, row.line, row.text, row.date) for row in found.collect()) == [
        ("a", 7, text, date(2025, 2, 1)),
        ("a", 8, RECORD % 2, date(2025, 2, 1)),
    ]


def test_what_is_known_is_not_fresh_in_another_file(spark: SparkSession) -> None:
    known = rows(spark, ("a", 1, RECORD % 1), ("a", 2, "no record"))
    found = rows(
        spark, ("new name", 1, RECORD % 1), ("new name", 2, "no record"), ("new name", 3, RECORD % 3)
    )
    assert [row.line for row in bronze.fresh(found, known).collect()] == [3]
    assert bronze.fresh(found, None).count() == 3


def test_servers_that_the_operator_tells_apart_may_say_the_same(spark: SparkSession) -> None:
    one, other = (rows(spark, ("a", 1, RECORD % 1), server=name) for name in ("x", "y"))
    assert bronze.fresh(other, one).count() == 1


def test_a_line_that_tells_no_time_is_of_the_first_day(spark: SparkSession) -> None:
    found = rows(spark, ("a", 1, "?"), ("a", 2, '{"time":99999999999999999999}'))
    assert {row.date for row in found.collect()} == {date(1970, 1, 1)}
