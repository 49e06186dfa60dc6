"""Unique lines: the lines of bronze, each once, even if several files or several runs contain it. Pure."""

from datetime import datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import count, lit, min_by, struct, xxhash64
from pyspark.sql.functions import sum as sum_of

from nsreport.sources import journals, schemas
from nsreport.sources.java_logs import message_splitter

_LINE_KEY = ["kind", "date", "hash"]


def key_journal_lines(journal_lines: DataFrame) -> DataFrame:
    """Add the key columns `hash` and `date` to journal lines (from `input_files.read_lines`)."""
    return journal_lines.withColumns({"hash": journals.line_hash(), "date": journals.line_date()})


def key_log_messages(log_lines: DataFrame) -> DataFrame:
    """Join continuation lines of Java logs to their messages, and add the key columns `hash` and `date`.

    Lines about empty queues of proxies are left out.
    """
    kept_lines = message_splitter.drop_empty_queues(log_lines)
    return message_splitter.join_continuations(kept_lines).withColumn("hash", message_splitter.message_hash())


def select_line_keys(keyed_lines: DataFrame) -> DataFrame:
    """Return a short `key` per line: equal lines have equal keys, different lines rarely do."""
    return keyed_lines.select("date", "file", _line_hash_key())


def _line_hash_key() -> Column:
    return xxhash64(*_LINE_KEY).alias("key")


def find_repeated_keys(line_keys: DataFrame, bronze_lines: DataFrame | None) -> DataFrame:
    """Return the keys of lines that occur more than once, or that bronze already has. They are few."""
    marked_keys = line_keys.select("key", lit(1).alias("found"))
    if bronze_lines is not None:
        marked_keys = marked_keys.unionByName(
            select_line_keys(bronze_lines).select("key", lit(0).alias("found"))
        )
    key_counts = marked_keys.groupBy("key").agg(count("*").alias("lines"), sum_of("found").alias("found"))
    return key_counts.where("found > 0 and lines > 1").select("key")


def keep_first_copies(repeated_lines: DataFrame, ingested_at: datetime) -> DataFrame:
    """Keep the first copy of each repeated line, by file name and line number."""
    line_copies = repeated_lines.select(*_LINE_KEY, struct("file", "line", "text", "server").alias("it"))
    first_copies = line_copies.groupBy(*_LINE_KEY).agg(min_by("it", struct("it.file", "it.line")).alias("it"))
    return add_ingest_time(first_copies.select("it.*", *_LINE_KEY), ingested_at)


def select_new_lines(
    keyed_lines: DataFrame, repeated_keys: DataFrame, bronze_lines: DataFrame | None, ingested_at: datetime
) -> DataFrame:
    """Return each line that bronze does not have, once; only lines with `repeated_keys` are compared."""
    lines_with_key = keyed_lines.withColumn("key", _line_hash_key())
    repeated_lines = lines_with_key.join(repeated_keys, "key", "left_semi")
    return add_ingest_time(lines_with_key.join(repeated_keys, "key", "left_anti"), ingested_at).unionByName(
        keep_first_copies(drop_known_lines(repeated_lines, bronze_lines), ingested_at)
    )


def add_ingest_time(unique_lines: DataFrame, ingested_at: datetime) -> DataFrame:
    """Turn unique lines into bronze rows by adding `ingestTime`."""
    return unique_lines.withColumn("ingestTime", lit(ingested_at)).select(*schemas.BRONZE_SCHEMA.names)


def drop_known_lines(repeated_lines: DataFrame, bronze_lines: DataFrame | None) -> DataFrame:
    if bronze_lines is None:
        return repeated_lines
    return repeated_lines.join(bronze_lines.select(*_LINE_KEY), _LINE_KEY, "left_anti").select(
        *repeated_lines.columns
    )
