"""Spans: operations on rows with the half-open interval `since` to `until` (ms since 1970). Pure."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import (
    array,
    coalesce,
    col,
    date_from_unix_date,
    explode,
    floor,
    greatest,
    lag,
    lead,
    least,
    lit,
    max,
    min,
    sequence,
    struct,
    sum,
    unix_millis,
    when,
    xxhash64,
)

DAY_MS = 86_400_000
NEVER_MS = 1 << 62
"""The end of a span that lasts."""

ALWAYS_MS = -NEVER_MS
"""The start of a table that is made from nothing."""


def record_order() -> Column:
    """The sort key of an observer's events: the record number (clocks go back); in a log, time and line."""
    return coalesce(col("seq"), col("time") * 1_000_000 + col("sourceLine") % 1_000_000)


def hash_key(key_columns: Sequence[str]) -> Column:
    """A hash of a key: Spark sorts by it several times faster than by long names with a common prefix."""
    return xxhash64(*(coalesce(col(column_name).cast("string"), lit("")) for column_name in key_columns))


def find_silences(beat_times: DataFrame, key_columns: Sequence[str], threshold_ms: int) -> DataFrame:
    """Return the spans in which a key has no `time` for more than `threshold_ms`.

    The function keeps only the first and the last time of each bucket of `threshold_ms` before it sorts. The
    result is the same, because a silence never fits into one bucket.
    """
    time_bucket = floor(col("time") / threshold_ms).alias("bucket")
    bucket_edges = beat_times.groupBy(*key_columns, time_bucket).agg(
        min("time").alias("first"), max("time").alias("last")
    )
    previous_last = lag("last").over(Window.partitionBy(hash_key(key_columns)).orderBy("bucket"))
    return (
        bucket_edges.select(*key_columns, previous_last.alias("since"), col("first").alias("until"))
        .where(col("until") - col("since") > threshold_ms)
        .select(*key_columns, "since", "until")
    )


def interval_bounds(until_ms: int) -> tuple[Column, Column]:
    """The columns `since` and `until` of an interval (`validFrom`, `validTo`) that ends by `until_ms`."""
    # `least` ignores null: an interval that lasts ends at `until_ms`.
    return (
        unix_millis("validFrom").alias("since"),
        least(unix_millis("validTo"), lit(until_ms)).alias("until"),
    )


def clip_spans(spans: DataFrame, since_ms: int | Column, until_ms: int | Column) -> DataFrame:
    """Return the parts of spans within these bounds."""
    clipped_bounds = {
        "since": greatest("since", lit(since_ms)),
        "until": least("until", lit(until_ms)),
    }
    return spans.withColumns(clipped_bounds).where("since < until")


def intersect_spans(spans: DataFrame, other_spans: DataFrame, key_columns: Sequence[str]) -> DataFrame:
    """Return the intersections of spans with the other spans of the same key, with the columns of both."""
    renamed_spans = other_spans.withColumnsRenamed({"since": "otherSince", "until": "otherUntil"})
    joined_spans = spans.join(renamed_spans, list(key_columns)).where(
        "since < otherUntil and otherSince < until"
    )
    common_bounds = {"since": greatest("since", "otherSince"), "until": least("until", "otherUntil")}
    return joined_spans.withColumns(common_bounds).drop("otherSince", "otherUntil")


def merge_spans(spans: DataFrame, key_columns: Sequence[str]) -> DataFrame:
    """Merge spans of a key that touch; other columns are dropped."""
    key_window = Window.partitionBy(hash_key(key_columns)).orderBy("since")
    window_so_far = key_window.rowsBetween(Window.unboundedPreceding, -1)
    is_apart = coalesce(col("since") - max("until").over(window_so_far) > 0, lit(True)).cast("int")
    marked_spans = spans.select(*key_columns, "since", "until", is_apart.alias("apart"))
    numbered_spans = marked_spans.select(
        *key_columns, "since", "until", sum("apart").over(key_window).alias("island")
    )
    merged_spans = numbered_spans.groupBy(*key_columns, "island").agg(
        min("since").alias("since"), max("until").alias("until")
    )
    return merged_spans.select(*key_columns, "since", "until")


def count_spans(spans: DataFrame, key_columns: Sequence[str], span_kinds: Sequence[str]) -> DataFrame:
    """Count the spans of each `kind` over time: a row from change to change, with a column per kind.

    The first key column alone must identify the key. The time after the last end is left out.
    """
    step_column = explode(
        array(
            struct(col("since").alias("at"), lit(1).alias("step")),
            struct(col("until").alias("at"), lit(-1).alias("step")),
        )
    )
    count_changes = spans.select(*key_columns, "kind", step_column.alias("change")).select(
        *key_columns, "kind", "change.*"
    )
    changes_by_time = count_changes.groupBy(*key_columns, col("at").alias("since")).agg(
        *(
            sum(when(col("kind") == span_kind, col("step")).otherwise(0)).alias(span_kind)
            for span_kind in span_kinds
        )
    )
    key_window = Window.partitionBy(key_columns[0]).orderBy("since")
    window_so_far = key_window.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return changes_by_time.select(
        *key_columns,
        "since",
        lead("since").over(key_window).alias("until"),
        *(sum(span_kind).over(window_so_far).cast("int").alias(span_kind) for span_kind in span_kinds),
    ).where("until is not null")


def split_by_day(spans: DataFrame, *kept_columns: str) -> DataFrame:
    """Split spans at midnight (UTC) and add `date`; `isFirst` is true for the first part of a span."""
    first_day = floor(col("since") / DAY_MS)
    day_spans = spans.select(
        *kept_columns,
        "since",
        "until",
        first_day.alias("first"),
        explode(sequence(first_day, floor((col("until") - 1) / DAY_MS))).alias("day"),
    )
    return day_spans.select(
        *kept_columns,
        greatest(col("since"), col("day") * DAY_MS).alias("since"),
        least(col("until"), (col("day") + 1) * DAY_MS).alias("until"),
        (col("day") == col("first")).alias("isFirst"),
        date_from_unix_date(col("day").cast("int")).alias("date"),
    )
