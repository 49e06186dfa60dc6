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
    when,
    xxhash64,
)

DAY = 86_400_000


def place() -> Column:
    """The sort key of a witness's events: the journal's number, else time and line. Clocks may go back."""
    return coalesce(col("seq"), col("time") * 1_000_000 + col("sourceLine") % 1_000_000)


def number(key: Sequence[str]) -> Column:
    """A hash of a key: Spark sorts by it several times faster than by long names with a common prefix."""
    return xxhash64(*(coalesce(col(name).cast("string"), lit("")) for name in key))


def silences(beats: DataFrame, key: Sequence[str], threshold: int) -> DataFrame:
    """Return the spans in which a key has no `time` for more than `threshold_ms`.

    The function keeps only the first and the last time of each bucket of `threshold_ms` before it sorts. The
    result is the same, because a silence never fits into one bucket.
    """
    bucket = floor(col("time") / threshold).alias("bucket")
    edges = beats.groupBy(*key, bucket).agg(min("time").alias("first"), max("time").alias("last"))
    before = lag("last").over(Window.partitionBy(number(key)).orderBy("bucket"))
    return (
        edges.select(*key, before.alias("since"), col("first").alias("until"))
        .where(col("until") - col("since") > threshold)
        .select(*key, "since", "until")
    )


def clipped(spans: DataFrame, since: int | Column, until: int | Column) -> DataFrame:
    """Return the parts of spans within these bounds."""
    bounds = {"since": greatest("since", _column(since)), "until": least("until", _column(until))}
    return spans.withColumns(bounds).where("since < until")


def overlaps(spans: DataFrame, others: DataFrame, key: Sequence[str]) -> DataFrame:
    """Return the intersections of spans with the other spans of the same key, with the columns of both."""
    right = others.withColumnsRenamed({"since": "otherSince", "until": "otherUntil"})
    both = spans.join(right, list(key)).where("since < otherUntil and otherSince < until")
    bounds = {"since": greatest("since", "otherSince"), "until": least("until", "otherUntil")}
    return both.withColumns(bounds).drop("otherSince", "otherUntil")


def merged(spans: DataFrame, key: Sequence[str], within: int = 0) -> DataFrame:
    """Merge spans of a key that touch or are at most `max_gap_ms` apart; other columns are dropped."""
    window = Window.partitionBy(number(key)).orderBy("since")
    sofar = window.rowsBetween(Window.unboundedPreceding, -1)
    apart = coalesce(col("since") - max("until").over(sofar) > within, lit(True)).cast("int")
    marked = spans.select(*key, "since", "until", apart.alias("apart"))
    islands = marked.select(*key, "since", "until", sum("apart").over(window).alias("island"))
    whole = islands.groupBy(*key, "island").agg(min("since").alias("since"), max("until").alias("until"))
    return whole.select(*key, "since", "until")


def counted(spans: DataFrame, key: Sequence[str], kinds: Sequence[str]) -> DataFrame:
    """Count the spans of each `kind` over time: a row from change to change, with a column per kind.

    The first key column alone must identify the key. The time after the last end is left out.
    """
    steps = explode(
        array(
            struct(col("since").alias("at"), lit(1).alias("step")),
            struct(col("until").alias("at"), lit(-1).alias("step")),
        )
    )
    changes = spans.select(*key, "kind", steps.alias("change")).select(*key, "kind", "change.*")
    each = changes.groupBy(*key, col("at").alias("since")).agg(
        *(sum(when(col("kind") == kind, col("step")).otherwise(0)).alias(kind) for kind in kinds)
    )
    window = Window.partitionBy(key[0]).orderBy("since")
    running = window.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return each.select(
        *key,
        "since",
        lead("since").over(window).alias("until"),
        *(sum(kind).over(running).cast("int").alias(kind) for kind in kinds),
    ).where("until is not null")


def by_day(spans: DataFrame, *columns: str) -> DataFrame:
    """Split spans at midnight (UTC) and add `date`; `isFirst` is true for the first part of a span."""
    first = floor(col("since") / DAY)
    days = spans.select(
        *columns,
        "since",
        "until",
        first.alias("first"),
        explode(sequence(first, floor((col("until") - 1) / DAY))).alias("day"),
    )
    return days.select(
        *columns,
        greatest(col("since"), col("day") * DAY).alias("since"),
        least(col("until"), (col("day") + 1) * DAY).alias("until"),
        (col("day") == col("first")).alias("isFirst"),
        date_from_unix_date(col("day").cast("int")).alias("date"),
    )


def _column(value: int | Column) -> Column:
    return value if isinstance(value, Column) else lit(value)
