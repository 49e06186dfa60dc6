"""Spans of time: silences by buckets are those of a plain look at neighbours; counts, unions, days."""

import random
from itertools import pairwise

from pyspark.sql import SparkSession
from pyspark.sql.functions import col
from pyspark.testing import assertDataFrameEqual

from nsreport.facts.spans import (
    DAY_MS,
    clip_spans,
    count_spans,
    find_silences,
    intersect_spans,
    merge_spans,
    split_by_day,
)

SPAN = "key string, since long, until long"


def test_silences_are_those_between_neighbours(spark: SparkSession) -> None:
    chance = random.Random(1)
    beats = [(name, chance.randint(0, 20_000)) for name in ("a", "b") for _ in range(120)]
    threshold = 300
    expected = []
    for name in ("a", "b"):
        times = sorted(time for other, time in beats if other == name)
        expected += [(name, a, b) for a, b in pairwise(times) if b - a > threshold]
    assert len(expected) > 10
    found = find_silences(spark.createDataFrame(beats, "key string, time long"), ["key"], threshold)
    assertDataFrameEqual(found, spark.createDataFrame(expected, SPAN))


def test_counts_change_where_spans_begin_and_end(spark: SparkSession) -> None:
    kinds = [("k", "up", 0, 10), ("k", "up", 5, 20), ("k", "down", 10, 12)]
    spans = spark.createDataFrame(kinds, "key string, kind string, since long, until long")
    expected = [("k", 0, 5, 1, 0), ("k", 5, 10, 2, 0), ("k", 10, 12, 1, 1), ("k", 12, 20, 1, 0)]
    shape = "key string, since long, until long, up int, down int"
    assertDataFrameEqual(count_spans(spans, ["key"], ["up", "down"]), spark.createDataFrame(expected, shape))


def test_spans_that_touch_are_one(spark: SparkSession) -> None:
    spans = spark.createDataFrame(
        [("k", 0, 10), ("k", 2, 5), ("k", 10, 11), ("k", 20, 30), ("l", 5, 6)], SPAN
    )
    expected = [("k", 0, 11), ("k", 20, 30), ("l", 5, 6)]
    assertDataFrameEqual(merge_spans(spans, ["key"]), spark.createDataFrame(expected, SPAN))


def test_parts_of_spans(spark: SparkSession) -> None:
    spans = spark.createDataFrame([("k", 0, 10), ("k", 30, 40), ("l", 0, 10)], SPAN)
    others = spark.createDataFrame([("k", 5, 35)], SPAN)
    expected = spark.createDataFrame([("k", 5, 10), ("k", 30, 35)], SPAN)
    assertDataFrameEqual(intersect_spans(spans, others, ["key"]), expected)
    assertDataFrameEqual(clip_spans(spans.where("key = 'k'"), 5, 35), expected)


def test_a_span_over_midnight_is_of_two_days(spark: SparkSession) -> None:
    spans = spark.createDataFrame([("k", DAY_MS - 5, DAY_MS + 5), ("l", DAY_MS, 2 * DAY_MS)], SPAN)
    found = split_by_day(spans, "key").select("key", "since", "until", "isFirst", col("date").cast("string"))
    expected = [
        ("k", DAY_MS - 5, DAY_MS, True, "1970-01-01"),
        ("k", DAY_MS, DAY_MS + 5, False, "1970-01-02"),
        ("l", DAY_MS, 2 * DAY_MS, True, "1970-01-02"),
    ]
    assertDataFrameEqual(found, spark.createDataFrame(expected, found.schema))
