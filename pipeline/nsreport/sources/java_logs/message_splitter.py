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
    length,
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

from nsreport.sources.input_files import DAMAGE_PREFIX

# Level and thread are optional: stats.log and watermark.log omit them. proxy_watermark.log has a tab instead.
_HEAD_PATTERN = (
    r"(?s)^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\t|(?: (TRACE|DEBUG|INFO|WARN|ERROR))?"
    r"(?: (\S(?:(?! - ).)*+))?? - )(.*)$"
)
_LOG_TIME_ZONE = "+08:00"
QUEUE_LENGTHS_KIND = "proxy_watermark"
"""The kind of the log with the lengths of a proxy's queues."""

_EMPTY_QUEUE_END = "\t0.0"
MAX_MESSAGE_LENGTH = 262_144
"""Characters of a message with its continuation lines. A longer one goes to the quarantine, and no rule
reads it."""
_EPOCH_DATE = "1970-01-01"


def message_time(text_column: Column) -> Column:
    """The time of a message; null if the line is no message, or its time is invalid."""
    time_text = regexp_extract(text_column, _HEAD_PATTERN, 1)
    return try_to_timestamp(
        when(time_text != "", concat(time_text, lit(_LOG_TIME_ZONE))), lit("yyyy-MM-dd HH:mm:ssXXX")
    )


def join_continuations(raw_lines: DataFrame) -> DataFrame:
    """Append continuation lines to the text of their message; raw lines have `file`, `line`, `text` and more.

    A line that continues no message stays separate. `date` is the day (UTC) of a message, or 1970-01-01.
    """
    file_window = Window.partitionBy("file").orderBy("line")
    head_line = last(when(col("text").rlike(_HEAD_PATTERN), col("line")), ignorenulls=True).over(file_window)
    lines_with_head = raw_lines.select("*", coalesce(head_line, col("line")).alias("head"))
    head_lines = lines_with_head.where(col("line") == col("head"))
    ordered_texts = transform(
        array_sort(collect_list(struct("line", "text"))), lambda line_struct: line_struct["text"]
    )
    continuations = (
        lines_with_head.where(col("line") != col("head"))
        .groupBy("file", "head")
        .agg(array_join(ordered_texts, "\n").alias("more"))
    )
    whole_messages = head_lines.join(continuations, ["file", "head"], "left").withColumn(
        "text", concat_ws("\n", "text", "more")
    )
    message_date = coalesce(to_date(message_time(col("text"))), lit(_EPOCH_DATE).cast("date"))
    return whole_messages.withColumn("date", message_date).drop("head", "more")


def drop_empty_queues(raw_lines: DataFrame) -> DataFrame:
    """Drop the lines of proxies about queues without entries: a proxy writes 28 lines every three seconds."""
    return raw_lines.where((col("kind") != QUEUE_LENGTHS_KIND) | ~col("text").endswith(_EMPTY_QUEUE_END))


def message_hash() -> Column:
    """The hash that identifies a message in any file: rotation renames files, but lines keep their number.

    The hash ignores continuation lines: an earlier run may have read an incomplete stack trace.
    """
    first_line = substring_index("text", "\n", 1)
    return md5(
        concat_ws("\n", coalesce(col("server"), lit("")), col("kind"), col("line").cast("string"), first_line)
    )


def split_messages(message_lines: DataFrame) -> DataFrame:
    """Split lines into messages: `server, file, line, kind, hash, ts, level, thread, message`.

    Messages that are too long are left out: `select_orphan_lines` returns them.
    """
    head_columns = [
        regexp_extract("text", _HEAD_PATTERN, group_number).alias(column_name)
        for group_number, column_name in _HEAD_PARTS
    ]
    message_rows = message_lines.where(~_is_too_long()).select(
        "server", "file", "line", "kind", "hash", message_time(col("text")).alias("ts"), *head_columns
    )
    return message_rows.where(col("ts").isNotNull())


_HEAD_PARTS = ((2, "level"), (3, "thread"), (4, "message"))


def select_orphan_lines(message_lines: DataFrame) -> DataFrame:
    """Return lines that are no message, or a too long one: `file, line, text, kind, date, reason`."""
    orphan_reason = (
        when(_is_too_long(), f"longer than {MAX_MESSAGE_LENGTH} characters")
        .when(col("text").startswith(DAMAGE_PREFIX), "the file is damaged")
        .when(col("text").rlike(_HEAD_PATTERN), "invalid time")
        .otherwise("continuation of a line that is not in this file")
    )
    described_lines = message_lines.select(
        "file", "line", "text", "kind", "date", orphan_reason.alias("reason")
    )
    return described_lines.where(_is_too_long() | message_time(col("text")).isNull())


def _is_too_long() -> Column:
    return length("text") > MAX_MESSAGE_LENGTH
