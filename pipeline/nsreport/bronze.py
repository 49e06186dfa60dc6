"""Bronze: the lines as read, each once, even if several files or several runs contain it. Pure."""

from datetime import datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import count, lit, min_by, struct, xxhash64
from pyspark.sql.functions import sum as sum_of

from nsreport import java_logs, journals, schemas

_KEY = ["kind", "date", "hash"]


def of_journals(lines: DataFrame) -> DataFrame:
    """Add the key columns `hash` and `date` to journal lines (from `input_files.read_lines`)."""
    return lines.withColumns({"hash": journals.hash_of(), "date": journals.date_of()})


def of_logs(lines: DataFrame) -> DataFrame:
    """Join continuation lines of Java logs to their messages, and add the key columns `hash` and `date`."""
    return java_logs.joined(lines).withColumn("hash", java_logs.hash_of())


def keys(found: DataFrame) -> DataFrame:
    """Return a short `key` per line: equal lines have equal keys, different lines rarely do."""
    return found.select("date", _key())


def _key() -> Column:
    return xxhash64(*_KEY).alias("key")


def met(found: DataFrame, known: DataFrame | None) -> DataFrame:
    """Return the keys of lines that occur more than once, or that bronze already has. They are few."""
    new = found.select("key", lit(1).alias("found"))
    if known is not None:
        new = new.unionByName(keys(known).select("key", lit(0).alias("found")))
    counted = new.groupBy("key").agg(count("*").alias("lines"), sum_of("found").alias("found"))
    return counted.where("found > 0 and lines > 1").select("key")


def once(known: DataFrame, now: datetime) -> DataFrame:
    """Keep the first copy of each repeated line, by file name and line number."""
    found = known.select(*_KEY, struct("file", "line", "text", "server").alias("it"))
    firsts = found.groupBy(*_KEY).agg(min_by("it", struct("it.file", "it.line")).alias("it"))
    return alone(firsts.select("it.*", *_KEY), now)


def taken(found: DataFrame, met: DataFrame, known: DataFrame | None, now: datetime) -> DataFrame:
    """Return each line that bronze does not have, once; only lines with `repeated_keys` are compared."""
    keyed = found.withColumn("key", _key())
    again = keyed.join(met, "key", "left_semi")
    return alone(keyed.join(met, "key", "left_anti"), now).unionByName(once(fresh(again, known), now))


def alone(found: DataFrame, now: datetime) -> DataFrame:
    """Turn unique lines into bronze rows by adding `ingestTime`."""
    return found.withColumn("ingestTime", lit(now)).select(*schemas.BRONZE.names)


def fresh(found: DataFrame, known: DataFrame | None) -> DataFrame:
    """Drop the lines that bronze already has."""
    if known is None:
        return found
    return found.join(known.select(*_KEY), _KEY, "left_anti").select(*found.columns)
