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
from nsreport.runtime.session import broadcast_rows, gather_days
from nsreport.sources import schemas
from nsreport.sources.write_permissions import changes_write

JOURNAL_KIND = "journal"
NO_CLUSTER = "-"
"""The cluster of an event that concerns no cluster, or an unknown one."""

MAX_CLOCK_LEAD_MS = 86_400_000
"""How far a record may be ahead of the local clock: a record of the next century would extend all reports."""

MAX_QUARANTINED_LENGTH = 500
"""The quarantine keeps this many characters of a line."""

_CORRUPT_COLUMN = "_bad"
_REQUIRED_FIELDS = ["seq", "time", "server", "type", "cause"]
_LINE_COLUMNS = ("text", "file", "line", "hash", "given", "date", "ingestTime")

_GROUP_STRUCT = "struct<brokerName: string, clusterName: string>"
_CLUSTER_SCHEMA = (
    "v bigint, seq bigint, time bigint, server string, type string, cause string,"
    f" clusterName string, brokerName string, groups array<{_GROUP_STRUCT}>"
)


def line_hash() -> Column:
    """The hash that identifies a line in any file: a record contains its server, number and time."""
    return md5(concat_ws("\n", coalesce("server", lit("")), "text"))


def line_date() -> Column:
    """The day of a line (UTC); 1970-01-01 if the line has no time, or one with more than 14 digits."""
    time_ms = regexp_extract("text", r'"time": ?(\d{1,14})[,}]', 1).try_cast("bigint")
    return to_date(timestamp_millis(coalesce(time_ms, lit(0))))


def parse_events(bronze_lines: DataFrame) -> DataFrame:
    """Parse journal lines into events (`schemas.event_schema`); drop lines that are not valid records.

    The cluster of a broker comes from records of the same name server on that day, else from another one's:
    two clusters with their own name servers may use the same broker name. The events of a day are in one
    task, or in a few: lines are brought together before they become events, which are four times as large.
    """
    journal_lines = bronze_lines.where(col("kind") == JOURNAL_KIND).withColumnRenamed("server", "given")
    # Aggregate first: millions of rows, few clusters.
    named_clusters = list_broker_clusters(_cluster_records(journal_lines), "date")
    broker_clusters = broadcast_rows(find_broker_clusters(named_clusters, "date"))
    gathered_lines = gather_days(journal_lines.select(*_LINE_COLUMNS))
    record_rows = gathered_lines.withColumn("record", _record_struct()).where(_rejection_reason().isNull())
    event_rows = record_rows.select(
        "date",
        "hash",
        *(
            col(f"record.{field_name}")
            for field_name in schemas.record_schema().names
            if field_name != "server"
        ),
        coalesce("given", "record.server").alias("server"),
        timestamp_millis("record.time").alias("ts"),
        coalesce("record.source", lit(JOURNAL_KIND)).alias("dialect"),
        lit(1.0).alias("confidence"),
        col("file").alias("sourceFile"),
        col("line").alias("sourceLine"),
    )
    clustered_events = event_rows.join(broker_clusters, ["date", "brokerName"], "left")
    return clustered_events.withColumns(
        {"changesWrite": changes_write(col("type")), "cluster": coalesce("clusterName", known_cluster())}
    ).select(*schemas.event_schema().names)


def select_lost_lines(bronze_lines: DataFrame, parsed_events: DataFrame) -> DataFrame:
    """Return the journal lines without an event."""
    journal_lines = bronze_lines.where(col("kind") == JOURNAL_KIND)
    missing_hashes = journal_lines.select("date", "hash").join(
        parsed_events.select("date", "hash"), ["date", "hash"], "left_anti"
    )
    return journal_lines.join(missing_hashes, ["date", "hash"], "left_semi")


def select_quarantine(bronze_lines: DataFrame) -> DataFrame:
    """Return the lines that are not valid records, with the reason."""
    record_lines = bronze_lines.where(col("kind") == JOURNAL_KIND).withColumn("record", _record_struct())
    cut_text = substring("text", 1, MAX_QUARANTINED_LENGTH).alias("text")
    return record_lines.where(_rejection_reason().isNotNull()).select(
        "file", "line", cut_text, _rejection_reason().alias("reason"), "kind", "date"
    )


def _record_struct() -> Column:
    record_schema = StructType([*schemas.record_schema().fields, StructField(_CORRUPT_COLUMN, StringType())])
    return from_json(_opaque_text(), record_schema, {"columnNameOfCorruptRecord": _CORRUPT_COLUMN})


def _opaque_text() -> Column:
    """The text of a line, in a form that Spark parses only once.

    Spark pushes deterministic filters below a projection, and would parse the JSON there again for each field
    of the filter. The row id makes this expression nondeterministic, so Spark leaves it in place.
    """
    return when(monotonically_increasing_id() >= 0, col("text"))


def _cluster_records(journal_lines: DataFrame) -> DataFrame:
    """Parse the records that name a cluster; a text search skips all other lines."""
    cluster_lines = journal_lines.where(col("text").contains('"clusterName"'))
    cluster_records = cluster_lines.select(
        "date", "given", from_json(_opaque_text(), _CLUSTER_SCHEMA).alias("record")
    )
    cluster_records = cluster_records.select("date", "given", "record.*").withColumn(
        "server", coalesce("given", "server")
    )
    return cluster_records.where(col("v") == SCHEMA_VERSION).dropna(subset=_REQUIRED_FIELDS)


def _rejection_reason() -> Column:
    """The reason why a line is not a record of a supported version; null for a valid record."""
    record_version = col("record.v")
    missing_reasons = [
        when(col(f"record.{field_name}").isNull(), f"not a journal record: {field_name} is missing")
        for field_name in _REQUIRED_FIELDS
    ]
    return coalesce(
        when(
            col(f"record.{_CORRUPT_COLUMN}").isNotNull()
            & (record_version.isNull() | (record_version == SCHEMA_VERSION)),
            "invalid JSON, or a field with the wrong type",
        ),
        when(record_version.isNull(), "not a journal record: v is missing"),
        when(
            record_version != SCHEMA_VERSION,
            concat(
                lit("schema version "),
                record_version.cast("string"),
                lit(f", but this nsadmin reads version {SCHEMA_VERSION}"),
            ),
        ),
        *missing_reasons,
        when(
            (col("record.time") < 0) | (col("record.time") > unix_millis("ingestTime") + MAX_CLOCK_LEAD_MS),
            "invalid time: negative, or more than a day after the line was read",
        ),
    )


def list_broker_clusters(event_rows: DataFrame, *extra_keys: str) -> DataFrame:
    """Return the clusters that each server named for each broker name, with the time of the latest record."""
    own_pairs = filtered(
        array(struct("brokerName", "clusterName")),
        lambda pair: pair["brokerName"].isNotNull() & pair["clusterName"].isNotNull(),
    )
    listed_pairs = transform(
        "groups", lambda broker_group: struct(broker_group["brokerName"], broker_group["clusterName"])
    )
    cluster_rows = event_rows.select(
        *extra_keys, "server", "time", inline(concat(own_pairs, coalesce(listed_pairs, array())))
    )
    return cluster_rows.groupBy(*extra_keys, "server", "brokerName", "clusterName").agg(
        latest("time").alias("time")
    )


def find_broker_clusters(named_clusters: DataFrame, *extra_keys: str) -> DataFrame:
    """Return the cluster of each broker name (and extra keys): `brokerName`, `byServer` and `byAny`.

    `named_clusters` come from `list_broker_clusters`. Join the result, then read it with `known_cluster`. The
    latest record decides; of several records with the same time, the greatest cluster name.
    """
    latest_struct = struct("time", "clusterName")
    latest_by_server = named_clusters.groupBy(*extra_keys, "server", "brokerName").agg(
        latest(latest_struct).alias("last")
    )
    server_map = map_from_entries(collect_list(struct("server", "last.clusterName")))
    return latest_by_server.groupBy(*extra_keys, "brokerName").agg(
        server_map.alias("byServer"), latest("last")["clusterName"].alias("byAny")
    )


def known_cluster() -> Column:
    """The cluster of `brokerName` according to its `server`, else another one.

    The rows must be joined with `find_broker_clusters`.
    """
    return coalesce(col("byServer")[col("server")], "byAny", lit(NO_CLUSTER))
