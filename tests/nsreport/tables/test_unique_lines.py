"""Each line once."""

from datetime import UTC, date, datetime

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import lit

from nsreport.sources import schemas
from nsreport.tables import unique_lines

NOW = datetime(2025, 1, 1, tzinfo=UTC)
SHAPE = "file string, line bigint, text string, kind string, server string"
RECORD = '{"v":1,"seq":%d,"time":1738400000123,"server":"s"}'


def rows(spark: SparkSession, *lines: tuple[str, int, str], server: str | None = None) -> DataFrame:
    given = [(*line, "journal", server) for line in lines]
    return unique_lines.keep_first_copies(
        unique_lines.key_journal_lines(spark.createDataFrame(given, SHAPE)), NOW
    )


def test_a_line_in_two_files_is_one(spark: SparkSession) -> None:
    text = RECORD % 1
    found = rows(spark, ("b.zst", 7, text), ("a", 7, text), ("a", 8, RECORD % 2))
    assert found.schema.names == schemas.BRONZE_SCHEMA.names
    assert sorted((row.file, row.line, row.text, row.date) for row in found.collect()) == [
        ("a", 7, text, date(2025, 2, 1)),
        ("a", 8, RECORD % 2, date(2025, 2, 1)),
    ]


def test_what_is_known_is_not_fresh_in_another_file(spark: SparkSession) -> None:
    known = rows(spark, ("a", 1, RECORD % 1), ("a", 2, "no record"))
    found = rows(
        spark, ("new name", 1, RECORD % 1), ("new name", 2, "no record"), ("new name", 3, RECORD % 3)
    )
    assert [row.line for row in unique_lines.drop_known_lines(found, known).collect()] == [3]
    assert unique_lines.drop_known_lines(found, None).count() == 3


def keyed(spark: SparkSession, *lines: tuple[str, int, str]) -> DataFrame:
    given = [(*line, "journal", None) for line in lines]
    return unique_lines.key_journal_lines(spark.createDataFrame(given, SHAPE))


def test_only_what_is_met_again_is_compared(spark: SparkSession) -> None:
    known = rows(spark, ("a", 1, RECORD % 1), ("a", 2, RECORD % 2))
    found = keyed(
        spark, ("b", 2, RECORD % 2), ("c", 3, RECORD % 3), ("b", 3, RECORD % 3), ("b", 4, RECORD % 4)
    )
    met = unique_lines.find_repeated_keys(unique_lines.select_line_keys(found), known)
    assert met.count() == 2
    taken = unique_lines.select_new_lines(found, met, known, NOW)
    assert taken.schema.names == schemas.BRONZE_SCHEMA.names
    assert sorted((row.file, row.line) for row in taken.collect()) == [("b", 3), ("b", 4)]


def test_where_nothing_is_met_again_all_are_taken(spark: SparkSession) -> None:
    found = keyed(spark, ("a", 1, RECORD % 1), ("a", 2, RECORD % 2))
    assert unique_lines.find_repeated_keys(unique_lines.select_line_keys(found), None).isEmpty()
    assert sorted(map(str, unique_lines.add_ingest_time(found, NOW).collect())) == sorted(
        map(str, unique_lines.keep_first_copies(found, NOW).collect())
    )


def test_lines_of_one_key_that_are_not_the_same_are_all_taken(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unique_lines, "_line_hash_key", lambda: lit(1).alias("key"))
    known = rows(spark, ("a", 1, RECORD % 1))
    found = keyed(spark, ("b", 1, RECORD % 1), ("b", 2, RECORD % 2), ("b", 3, RECORD % 3))
    taken = unique_lines.select_new_lines(
        found, unique_lines.find_repeated_keys(unique_lines.select_line_keys(found), known), known, NOW
    )
    assert sorted(row.line for row in taken.collect()) == [2, 3]


def test_servers_that_the_operator_tells_apart_may_say_the_same(spark: SparkSession) -> None:
    one, other = (rows(spark, ("a", 1, RECORD % 1), server=name) for name in ("x", "y"))
    assert unique_lines.drop_known_lines(other, one).count() == 1


def test_a_line_that_tells_no_time_is_of_the_first_day(spark: SparkSession) -> None:
    found = rows(spark, ("a", 1, "?"), ("a", 2, '{"time":99999999999999999999}'))
    assert {row.date for row in found.collect()} == {date(1970, 1, 1)}


def test_empty_queues_of_a_proxy_are_left_out(spark: SparkSession) -> None:
    """They are 99.8 % of the lines of proxy_watermark.log."""
    lines = [
        f"2026-11-27 01:05:08\tRemotingPullMessageThread\tqueueSize\t{length}" for length in ("0.0", "30.0")
    ]
    given = [("f", number, line, "proxy_watermark", "p") for number, line in enumerate(lines, 1)]
    [row] = unique_lines.key_log_messages(spark.createDataFrame(given, SHAPE)).collect()
    assert (row.line, row.text, row.date) == (2, lines[1], date(2026, 11, 26))
