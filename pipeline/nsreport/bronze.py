"""Bronze: lines as they were read, each once, in whatever file and however often it is met. Pure."""

from datetime import datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import count, lit, min_by, struct, xxhash64
from pyspark.sql.functions import sum as sum_of

from nsreport import java_logs, journals, schemas

_KEY = ["kind", "date", "hash"]


def of_journals(lines: DataFrame) -> DataFrame:
    """Lines of journals (`sources.lines`), with what each is known by."""
    return lines.withColumns({"hash": journals.hash_of(), "date": journals.date_of()})


def of_logs(lines: DataFrame) -> DataFrame:
    """Messages of Java's logs, with what continues them, and what each is known by."""
    return java_logs.joined(lines).withColumn("hash", java_logs.hash_of())


def keys(found: DataFrame) -> DataFrame:
    """What lines are known by, in a few bytes: the same have the same `key`, and seldom others have it."""
    return found.select("date", _key())


def _key() -> Column:
    return xxhash64(*_KEY).alias("key")


def met(found: DataFrame, known: DataFrame | None) -> DataFrame:
    """The `keys` of those that are met twice, or that bronze has: few."""
    new = found.select("key", lit(1).alias("found"))
    if known is not None:
        new = new.unionByName(keys(known).select("key", lit(0).alias("found")))
    counted = new.groupBy("key").agg(count("*").alias("lines"), sum_of("found").alias("found"))
    return counted.where("found > 0 and lines > 1").select("key")


def once(known: DataFrame, now: datetime) -> DataFrame:
    """Of those that are met twice, the first by name of file and number."""
    found = known.select(*_KEY, struct("file", "line", "text", "server").alias("it"))
    firsts = found.groupBy(*_KEY).agg(min_by("it", struct("it.file", "it.line")).alias("it"))
    return alone(firsts.select("it.*", *_KEY), now)


def taken(found: DataFrame, met: DataFrame, known: DataFrame | None, now: datetime) -> DataFrame:
    """Each once, those that bronze does not have; only those that are `met` have to be compared."""
    keyed = found.withColumn("key", _key())
    again = keyed.join(met, "key", "left_semi")
    return alone(keyed.join(met, "key", "left_anti"), now).unionByName(once(fresh(again, known), now))


def alone(found: DataFrame, now: datetime) -> DataFrame:
    """Those of whom none is met again."""
    return found.withColumn("ingestTime", lit(now)).select(*schemas.BRONZE.names)


def fresh(found: DataFrame, known: DataFrame | None) -> DataFrame:
    """Those that bronze does not have yet."""
    if known is None:
        return found
    return found.join(known.select(*_KEY), _KEY, "left_anti").select(*found.columns)
