"""Journals: from lines as they were read to events, and what is none to the quarantine. Pure."""

from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import (
    coalesce,
    col,
    concat,
    concat_ws,
    explode,
    expr,
    from_json,
    lit,
    max_by,
    md5,
    regexp_extract,
    substring,
    timestamp_millis,
    to_date,
    when,
)
from pyspark.sql.types import StringType, StructField, StructType

from namesrv_core.events import SCHEMA_VERSION
from nsreport import schemas
from nsreport.permissions import changes_write

KIND = "journal"
NOWHERE = "-"
"""The cluster of what concerns none, or one that nobody knows."""

CUT = 500
"""Letters of a line that quarantine keeps."""

_BAD = "_bad"


def hash_of(text: str = "text", server: str = "server") -> Column:
    """What a line is known by, in whatever file it stands: a record has its server, number and time in it."""
    return md5(concat_ws("\n", coalesce(col(server), lit("")), col(text)))


def date_of(text: str = "text") -> Column:
    """The day of a line, UTC; that of the epoch where it has none."""
    millis = regexp_extract(text, r'"time": ?(\d{1,15})[,}]', 1).try_cast("bigint")
    return to_date(timestamp_millis(coalesce(millis, lit(0))))


def events(bronze: DataFrame) -> DataFrame:
    """The events of journals' lines, as `schemas.ns_event` has them.

    The cluster of a broker is the one that events of the same day tell.
    """
    read = _read(bronze).where(_reason().isNull())
    fields = [col(f"record.{name}") for name in schemas.record().names]
    found = read.select(
        *fields,
        timestamp_millis("record.time").alias("ts"),
        when(col("record.source").isNull(), "journal").otherwise(col("record.source")).alias("dialect"),
        lit(1.0).alias("confidence"),
        col("file").alias("sourceFile"),
        col("line").alias("sourceLine"),
        "hash",
        "date",
        "given",
    ).withColumns({"server": coalesce("given", "server"), "changesWrite": changes_write(col("type"))})
    return _with_cluster(found).select(*schemas.ns_event().names)


def quarantine(bronze: DataFrame) -> DataFrame:
    """The lines that are no records, and why."""
    return (
        _read(bronze)
        .where(_reason().isNotNull())
        .select(
            "file", "line", substring("text", 1, CUT).alias("text"), _reason().alias("reason"), "kind", "date"
        )
    )


def _read(bronze: DataFrame) -> DataFrame:
    shape = StructType([*schemas.record().fields, StructField(_BAD, StringType())])
    record = from_json("text", shape, {"columnNameOfCorruptRecord": _BAD})
    lines = bronze.where(col("kind") == KIND).withColumnRenamed("server", "given")
    return lines.withColumn("record", record)


def _reason() -> Column:
    """Why a line is no record of a version that is understood; null: it is one."""
    version = col("record.v")
    missing = [
        when(col(f"record.{name}").isNull(), f"no record: it has no {name}")
        for name in ("seq", "time", "server", "type", "cause")
    ]
    return coalesce(
        when(
            col(f"record.{_BAD}").isNotNull() & (version.isNull() | (version == SCHEMA_VERSION)),
            "no JSON, or a field of another type",
        ),
        when(version.isNull(), "no record: it has no v"),
        when(
            version != SCHEMA_VERSION,
            concat(
                lit("schema version "),
                version.cast("string"),
                lit(f", and this program knows {SCHEMA_VERSION}"),
            ),
        ),
        *missing,
    )


def _with_cluster(found: DataFrame) -> DataFrame:
    joined = found.join(clusters(found, "date").hint("broadcast"), ["date", "brokerName"], "left")
    return joined.withColumn("cluster", coalesce("clusterName", "knownCluster", lit(NOWHERE)))


def clusters(found: DataFrame, *keys: str) -> DataFrame:
    """The cluster of each broker name, by these columns too: `brokerName`, `knownCluster`.

    It is the one that was told last; of two that were at once, always the same.
    """
    named = found.where("clusterName is not null and brokerName is not null").select(
        *keys, "brokerName", "clusterName", "time", "seq"
    )
    listed = found.where("groups is not null").select(*keys, "time", "seq", explode("groups").alias("item"))
    known = named.unionByName(listed.select(*keys, "item.brokerName", "item.clusterName", "time", "seq"))
    latest = max_by("clusterName", expr("struct(time, seq, clusterName)"))
    return known.groupBy(*keys, "brokerName").agg(latest.alias("knownCluster"))
