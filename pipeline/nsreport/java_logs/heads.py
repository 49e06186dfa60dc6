"""From raw lines to messages: what continues a line joins it; time, level, thread and text are told apart.

Times are GMT+8 and whole seconds, wherever a log comes from.
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

# The thread is there or not, and so is the level: stats.log and watermark.log leave them out.
_HEAD = r"(?s)^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?: (TRACE|DEBUG|INFO|WARN|ERROR))?(?: (\S.*?))?? - (.*)$"
_CLOCK = "+08:00"
_EPOCH = "1970-01-01"


def moment(text: Column) -> Column:
    """When a message was written; null for what is none, or has a time that is none."""
    stamp = regexp_extract(text, _HEAD, 1)
    return try_to_timestamp(when(stamp != "", concat(stamp, lit(_CLOCK))), lit("yyyy-MM-dd HH:mm:ssXXX"))


def joined(lines: DataFrame) -> DataFrame:
    """Whole messages of raw lines (`file, line, text` and more): what continues a line is in its text.

    What continues nothing stays by itself. `date` is the day (UTC) of a message, else that of the epoch.
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
    """What a message is known by, in whatever file: rotation renames files, and lines keep their number.

    What continues it does not count: a trace may have been read before all of it was written.
    """
    first = substring_index("text", "\n", 1)
    return md5(
        concat_ws("\n", coalesce(col("server"), lit("")), col("kind"), col("line").cast("string"), first)
    )


def messages(lines: DataFrame) -> DataFrame:
    """Messages: `server, file, line, kind, hash, ts, level, thread, message`."""
    parts = [regexp_extract("text", _HEAD, number).alias(name) for number, name in _PARTS]
    own = lines.select("server", "file", "line", "kind", "hash", moment(col("text")).alias("ts"), *parts)
    return own.where(col("ts").isNotNull())


_PARTS = ((2, "level"), (3, "thread"), (4, "message"))


def orphans(lines: DataFrame) -> DataFrame:
    """What is no message: `file, line, text, kind, date, reason`."""
    reason = (
        when(col("text").startswith(DAMAGE), "the file is damaged")
        .when(col("text").rlike(_HEAD), "no such time")
        .otherwise("continues a line that is not in this file")
    )
    own = lines.select("file", "line", "text", "kind", "date", reason.alias("reason"))
    return own.where(moment(col("text")).isNull())
