"""Journals: from lines as they were read to events, and what is none to the quarantine. Pure."""

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
"""The cluster of what concerns none, or one that nobody knows."""

AHEAD = 86_400_000
"""Ms that a clock may be ahead of the one here: one record of the next century fills reports to there."""

CUT = 500
"""Letters of a line that quarantine keeps."""

_BAD = "_bad"
_NEEDED = ["seq", "time", "server", "type", "cause"]
_PARTED = ("date", "cluster")
_OF_LINE = ("text", "file", "line", "hash", "given", "date", "ingestTime")
_LAID = ("type", "changesWrite", "server", "time", "cluster")
"""What events are laid out by, with their day."""

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
    """What a line is known by, in whatever file it stands: a record has its server, number and time in it."""
    return md5(concat_ws("\n", coalesce(col(server), lit("")), col(text)))


def date_of(text: str = "text") -> Column:
    """The day of a line, UTC; that of the epoch where it has none, or one in thousands of years."""
    millis = regexp_extract(text, r'"time": ?(\d{1,14})[,}]', 1).try_cast("bigint")
    return to_date(timestamp_millis(coalesce(millis, lit(0))))


def events(bronze: DataFrame) -> DataFrame:
    """The events of journals' lines, as `schemas.ns_event` has them.

    The cluster of a broker is the one that the same server tells on that day, or else others do: brokers of
    two clusters may be called the same, and have name servers of their own.
    """
    return parsed(heads(bronze))


def heads(bronze: DataFrame) -> DataFrame:
    """Journals' lines with what their events are laid out by: few columns, for `parsed` to make events of.

    Those that are no records are among them.
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
    """As `heads`, with events that are made already among them."""
    whole = events.select("date", *_LAID, struct(*events.columns).alias(_WHOLE))
    return heads.unionByName(whole, allowMissingColumns=True)


def parsed(heads: DataFrame) -> DataFrame:
    """The events of `heads`, in the same order; what is no record is none."""
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
    """Journals' lines of which there are no such events."""
    journal = lines.where(col("kind") == KIND)
    missing = journal.select("date", "hash").join(
        events.select("date", "hash"), ["date", "hash"], "left_anti"
    )
    return journal.join(missing, ["date", "hash"], "left_semi")


def quarantine(bronze: DataFrame) -> DataFrame:
    """The lines that are no records, and why."""
    lines = bronze.where(col("kind") == KIND).withColumn("record", _record())
    text = substring("text", 1, CUT).alias("text")
    return lines.where(_reason().isNotNull()).select(
        "file", "line", text, _reason().alias("reason"), "kind", "date"
    )


def _record() -> Column:
    shape = StructType([*schemas.record().fields, StructField(_BAD, StringType())])
    return from_json(_text(), shape, {"columnNameOfCorruptRecord": _BAD})


def _text() -> Column:
    """The text of a line, to be parsed once.

    Spark asks below a projection for what can be told without it, and would parse there again, for each field
    that is asked for. This it cannot tell: it has the number of the row in it.
    """
    return when(monotonically_increasing_id() >= 0, col("text"))


def _told(lines: DataFrame) -> DataFrame:
    """What lines tell of clusters; the others are not even looked at."""
    some = lines.where(col("text").contains('"clusterName"'))
    told = some.select("date", "given", from_json(_text(), _TOLD).alias("told"))
    told = told.select("date", "given", "told.*").withColumn("server", coalesce("given", "server"))
    return told.where(col("v") == SCHEMA_VERSION).dropna(subset=_NEEDED)


def _reason() -> Column:
    """Why a line is no record of a version that is understood; null: it is one."""
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
    """The cluster of each broker name, by these columns too, for `known_cluster` to tell: `brokerName`,
    `byServer` and `byAny`.

    It is the one that was told last; of two that were at once, always the same.
    """
    own = filtered(array(struct("brokerName", "clusterName")), _is_named)
    listed = transform("groups", lambda group: struct(group["brokerName"], group["clusterName"]))
    told = found.select(*keys, "server", "time", inline(concat(own, coalesce(listed, array()))))
    # Millions tell the few that there are.
    known = told.groupBy(*keys, "server", "brokerName", "clusterName").agg(latest("time").alias("time"))
    last = struct("time", "clusterName")
    each = known.groupBy(*keys, "server", "brokerName").agg(latest(last).alias("last"))
    by_server = map_from_entries(collect_list(struct("server", "last.clusterName")))
    return each.groupBy(*keys, "brokerName").agg(
        by_server.alias("byServer"), latest("last")["clusterName"].alias("byAny")
    )


def known_cluster() -> Column:
    """The cluster of `brokerName` as its own `server` tells it, or else others do; `clusters` is joined."""
    return coalesce(col("byServer")[col("server")], "byAny", lit(NOWHERE))


def _is_named(one: Column) -> Column:
    return one["brokerName"].isNotNull() & one["clusterName"].isNotNull()
