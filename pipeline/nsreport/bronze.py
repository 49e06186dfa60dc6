"""Bronze: lines as they were read, each once, in whatever file and however often it is met. Pure."""

from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql.functions import lit, min_by, struct

from nsreport import java_logs, journals, schemas

_KEY = ["kind", "date", "hash"]


def rows(lines: DataFrame, now: datetime) -> DataFrame:
    """Lines of journals (`sources.lines`), each once."""
    return _once(lines.withColumns({"hash": journals.hash_of(), "date": journals.date_of()}), now)


def of_logs(lines: DataFrame, now: datetime) -> DataFrame:
    """Messages of Java's logs, with what continues them, each once."""
    return _once(java_logs.joined(lines).withColumn("hash", java_logs.hash_of()), now)


def _once(known: DataFrame, now: datetime) -> DataFrame:
    """Of those that are met twice, the first by name of file and number."""
    found = known.select(*_KEY, struct("file", "line", "text", "server").alias("it"))
    once = found.groupBy(*_KEY).agg(min_by("it", struct("it.file", "it.line")).alias("it"))
    return once.select("it.*", *_KEY, lit(now).alias("ingestTime")).select(*schemas.BRONZE.names)


def fresh(found: DataFrame, known: DataFrame | None) -> DataFrame:
    """Those that bronze does not have yet."""
    if known is None:
        return found
    return found.join(known.select(*_KEY), _KEY, "left_anti").select(*schemas.BRONZE.names)
