"""Log messages: joins continuation lines, and splits messages into time, level, thread and text.

Log times are whole seconds in GMT+8, in every time zone.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import (
    array_join,
    array_sort,
    coalesce,
    col,
    collect_list,
    concat,
    concat_ws,
    last,
    lit,
    md5,
    regexp_extract,
    struct,
    substring_index,
    to_date,
    transform,
    try_to_timestamp,
    when,
)

from nsreport.sources import DAMAGE

# Level and thread are optional: stats.log and watermark.log omit them.
_HEAD = r"(?s)^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?: (TRACE|DEBUG|INFO|WARN|ERROR))?(?: (\S.*?))?? - (.*)$"
_CLOCK = "+08:00"
_EPOCH = "1970-01-01"


def moment(text: Column) -> Column:
    """The time of a message; null if the line is no message, or its time is invalid."""
    stamp = regexp_extract(text, _HEAD, 1)
    return try_to_timestamp(when(stamp != "", concat(stamp, lit(_CLOCK))), lit("yyyy-MM-dd HH:mm:ssXXX"))


def joined(lines: DataFrame) -> DataFrame:
    """Append continuation lines to the text of their message; raw lines have `file`, `line`, `text` and more.

    A line that continues no message stays separate. `date` is the day (UTC) of a message, or 1970-01-01.
    """
    before = Window.partitionBy("file").orderBy("line")
    head = last(when(col("text").rlike(_HEAD), col("line")), ignorenulls=True).over(before)
    marked = lines.select("*", coalesce(head, col("line")).alias("head"))
    first = marked.where(col("line") == col("head"))
    texts = transform(array_sort(collect_list(struct("line", "text"))), lambda item: item["text"])
    more = (
        marked.where(col("line") != col("head"))
        .groupBy("file", "head")
        .agg(array_join(texts, "\n").alias("more"))
    )
    whole = first.join(more, ["file", "head"], "left").withColumn("text", concat_ws("\n", "text", "more"))
    day = coalesce(to_date(moment(col("text"))), lit(_EPOCH).cast("date"))
    return whole.withColumn("date", day).drop("head", "more")


def hash_of() -> Column:
    """The hash that identifies a message in any file: rotation renames files, but lines keep their number.

    The hash ignores continuation lines: an earlier run may have read an incomplete stack trace.
    """
    first = substring_index("text", "\n", 1)
    return md5(
        concat_ws("\n", coalesce(col("server"), lit("")), col("kind"), col("line").cast("string"), first)
    )


def messages(lines: DataFrame) -> DataFrame:
    """Split lines into messages: `server, file, line, kind, hash, ts, level, thread, message`."""
    parts = [regexp_extract("text", _HEAD, number).alias(name) for number, name in _PARTS]
    own = lines.select("server", "file", "line", "kind", "hash", moment(col("text")).alias("ts"), *parts)
    return own.where(col("ts").isNotNull())


_PARTS = ((2, "level"), (3, "thread"), (4, "message"))


def orphans(lines: DataFrame) -> DataFrame:
    """Return the lines that are no message: `file, line, text, kind, date, reason`."""
    reason = (
        when(col("text").startswith(DAMAGE), "the file is damaged")
        .when(col("text").rlike(_HEAD), "no such time")
        .otherwise("continues a line that is not in this file")
    )
    own = lines.select("file", "line", "text", "kind", "date", reason.alias("reason"))
    return own.where(moment(col("text")).isNull())
