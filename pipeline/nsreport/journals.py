"""Journals: turns journal lines into events, and sends invalid lines to the quarantine. Pure."""

from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import (
    array,
    coalesce,
    col,
    collect_list,
    concat,
    concat_ws,
    from_json,
    inline,
    lit,
    map_from_entries,
    md5,
    monotonically_increasing_id,
    regexp_extract,
    struct,
    substring,
    timestamp_millis,
    to_date,
    transform,
    unix_millis,
    when,
)
from pyspark.sql.functions import filter as filtered
from pyspark.sql.functions import max as latest
from pyspark.sql.types import StringType, StructField, StructType

from namesrv_core.events import SCHEMA_VERSION
from nsreport import schemas
from nsreport.permissions import changes_write

KIND = "journal"
NOWHERE = "-"
"""The cluster of an event that concerns no cluster, or an unknown one."""

AHEAD = 86_400_000
"""How far a record may be ahead of the local clock: a record of the next century would extend all reports."""

CUT = 500
"""The quarantine keeps this many characters of a line."""

_BAD = "_bad"
_NEEDED = ["seq", "time", "server", "type", "cause"]
_PARTED = ("date", "cluster")
_OF_LINE = ("text", "file", "line", "hash", "given", "date", "ingestTime")
_LAID = ("type", "changesWrite", "server", "time", "cluster")
"""The columns, besides the day, by which the event table is partitioned and sorted."""

_WHOLE = "whole"

_PERM = "struct<perm: bigint>"
_HEAD = (
    "type string, server string, time bigint, clusterName string, brokerName string,"
    f" changes array<struct<before: {_PERM}, after: {_PERM}>>"
)
_GROUP = "struct<brokerName: string, clusterName: string>"
_TOLD = (
    "v bigint, seq bigint, time bigint, server string, type string, cause string,"
    f" clusterName string, brokerName string, groups array<{_GROUP}>"
)


def hash_of(text: str = "text", server: str = "server") -> Column:
    """The hash that identifies a line in any file: a record contains its server, number and time."""
    return md5(concat_ws("\n", coalesce(col(server), lit("")), col(text)))


def date_of(text: str = "text") -> Column:
    """The day of a line (UTC); 1970-01-01 if the line has no time, or one with more than 14 digits."""
    millis = regexp_extract(text, r'"time": ?(\d{1,14})[,}]', 1).try_cast("bigint")
    return to_date(timestamp_millis(coalesce(millis, lit(0))))


def events(bronze: DataFrame) -> DataFrame:
    """Parse journal lines into events (`schemas.event_schema`).

    The cluster of a broker comes from records of the same name server on that day, else from another one's:
    two clusters with their own name servers may use the same broker name.
    """
    return parsed(heads(bronze))


def heads(bronze: DataFrame) -> DataFrame:
    """Return journal lines with the layout columns of their events. `expand_heads` turns them into events.

    The result includes lines that are not valid records.
    """
    lines = bronze.where(col("kind") == KIND).withColumnRenamed("server", "given")
    head = from_json(_text(), _HEAD).alias("head")
    read = lines.select(*_OF_LINE, head).select(*_OF_LINE, "head.*")
    read = read.withColumn("changesWrite", changes_write(col("type")))
    read = read.withColumn("server", coalesce("given", "server"))
    known = clusters(_told(lines), "date").hint("broadcast")
    named = read.join(known, ["date", "brokerName"], "left").withColumn(
        "cluster", coalesce("clusterName", known_cluster())
    )
    return named.select(*_OF_LINE, *_LAID)


def with_others(heads: DataFrame, events: DataFrame) -> DataFrame:
    """Add complete events from logs to the heads of journal lines."""
    whole = events.select("date", *_LAID, struct(*events.columns).alias(_WHOLE))
    return heads.unionByName(whole, allowMissingColumns=True)


def parsed(heads: DataFrame) -> DataFrame:
    """Turn heads into events in the same order; drop lines that are not valid records."""
    is_whole = col(_WHOLE).isNotNull() if _WHOLE in heads.columns else None
    is_event = _reason().isNull() if is_whole is None else is_whole | _reason().isNull()
    own = {
        "server": coalesce("given", "record.server"),
        "ts": timestamp_millis("record.time"),
        "dialect": coalesce("record.source", lit(KIND)),
        "confidence": lit(1.0),
        "changesWrite": col("changesWrite"),
        "sourceFile": col("file"),
        "sourceLine": col("line"),
        "hash": col("hash"),
    }

    def field(name: str) -> Column:
        if name in _PARTED:
            return col(name)
        found = own.get(name, col(f"record.{name}"))
        return found if is_whole is None else when(is_whole, col(f"{_WHOLE}.{name}")).otherwise(found)

    read = heads.withColumn("record", _record()).where(is_event)
    return read.select(*(field(name).alias(name) for name in schemas.ns_event().names))


def lost(lines: DataFrame, events: DataFrame) -> DataFrame:
    """Return the journal lines without an event."""
    journal = lines.where(col("kind") == KIND)
    missing = journal.select("date", "hash").join(
        events.select("date", "hash"), ["date", "hash"], "left_anti"
    )
    return journal.join(missing, ["date", "hash"], "left_semi")


def quarantine(bronze: DataFrame) -> DataFrame:
    """Return the lines that are not valid records, with the reason."""
    lines = bronze.where(col("kind") == KIND).withColumn("record", _record())
    text = substring("text", 1, CUT).alias("text")
    return lines.where(_reason().isNotNull()).select(
        "file", "line", text, _reason().alias("reason"), "kind", "date"
    )


def _record() -> Column:
    shape = StructType([*schemas.record().fields, StructField(_BAD, StringType())])
    return from_json(_text(), shape, {"columnNameOfCorruptRecord": _BAD})


def _text() -> Column:
    """The text of a line, in a form that Spark parses only once.

    Spark pushes deterministic filters below a projection, and would parse the JSON there again for each field
    of the filter. The row id makes this expression nondeterministic, so Spark leaves it in place.
    """
    return when(monotonically_increasing_id() >= 0, col("text"))


def _told(lines: DataFrame) -> DataFrame:
    """Parse the records that name a cluster; a text search skips all other lines."""
    some = lines.where(col("text").contains('"clusterName"'))
    told = some.select("date", "given", from_json(_text(), _TOLD).alias("told"))
    told = told.select("date", "given", "told.*").withColumn("server", coalesce("given", "server"))
    return told.where(col("v") == SCHEMA_VERSION).dropna(subset=_NEEDED)


def _reason() -> Column:
    """The reason why a line is not a record of a supported version; null for a valid record."""
    version = col("record.v")
    missing = [when(col(f"record.{name}").isNull(), f"no record: it has no {name}") for name in _NEEDED]
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
        when(
            (col("record.time") < 0) | (col("record.time") > unix_millis("ingestTime") + AHEAD),
            "its time is none, or a day ahead of when it was read",
        ),
    )


def clusters(found: DataFrame, *keys: str) -> DataFrame:
    """Return the cluster of each broker name (and extra keys): `brokerName`, `byServer` and `byAny`.

    Join the result, then read it with `known_cluster`. The latest record decides; of several records with the
    same time, the greatest cluster name.
    """
    own = filtered(array(struct("brokerName", "clusterName")), _is_named)
    listed = transform("groups", lambda group: struct(group["brokerName"], group["clusterName"]))
    told = found.select(*keys, "server", "time", inline(concat(own, coalesce(listed, array()))))
    # Aggregate first: millions of rows, few clusters.
    known = told.groupBy(*keys, "server", "brokerName", "clusterName").agg(latest("time").alias("time"))
    last = struct("time", "clusterName")
    each = known.groupBy(*keys, "server", "brokerName").agg(latest(last).alias("last"))
    by_server = map_from_entries(collect_list(struct("server", "last.clusterName")))
    return each.groupBy(*keys, "brokerName").agg(
        by_server.alias("byServer"), latest("last")["clusterName"].alias("byAny")
    )


def known_cluster() -> Column:
    """The cluster of `brokerName` according to its `server`, else another one.

    The rows must be joined with `find_broker_clusters`.
    """
    return coalesce(col("byServer")[col("server")], "byAny", lit(NOWHERE))


def _is_named(one: Column) -> Column:
    return one["brokerName"].isNotNull() & one["clusterName"].isNotNull()
