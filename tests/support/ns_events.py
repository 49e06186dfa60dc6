"""Events as the pipeline has them, from what name servers were made to tell by hand."""

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import coalesce, col, from_json, lit, timestamp_millis, when

from namesrv_core.events import (
    BrokerRegistered,
    BrokerUnregistered,
    Event,
    Heartbeats,
    QueueData,
    Snapshot,
    TopicChanges,
    TopicsChanged,
    WritePermWiped,
)
from namesrv_core.history.record_lines import encode_record_line
from namesrv_core.history.records import RecordOrigin
from nsreport.runtime.local_rows import keep_in_memory
from nsreport.sources import schemas
from nsreport.sources.write_permissions import changes_write
from tests.support.journals import make_snapshot

START = 1_763_683_200_000
"""2025-11-21T00:00:00Z"""
MINUTE = 60
HOUR = 3600
DAY = 86_400


def at(seconds: float) -> int:
    """Ms since 1970, from seconds of the first day."""
    return START + round(seconds * 1000)


class Teller:
    """What a name server, or a collector, tells: times are seconds of the first day."""

    def __init__(self, server: str = "ns-1", source: str | None = None) -> None:
        self.server = server
        self.source = source
        self.lines: list[str] = []

    def tell(
        self, seconds: float, *events: Event, cause: str = "REGISTER_BROKER", client: str | None = None
    ) -> "Teller":
        for event in events:
            origin = RecordOrigin(at(seconds), cause, client, self.source)
            self.lines.append(encode_record_line(len(self.lines) + 1, self.server, origin, event).decode())
        return self

    def lives(self, since: float, until: float) -> "Teller":
        """Nothing happens, and each minute proves it."""
        now = since
        while now <= until:
            self.tell(now, Heartbeats(1, None, None), cause="name server")
            now += MINUTE
        return self


def frame(spark: SparkSession, *tellers: Teller) -> DataFrame:
    """Their events as `ns_event`, in memory as in small runs; the cluster of all brokers is c."""
    lines = [(text,) for teller in tellers for text in teller.lines]
    read = spark.createDataFrame(lines, "text string").select(
        from_json("text", schemas.record_schema()).alias("r")
    )
    events = read.select(
        "r.*",
        timestamp_millis("r.time").alias("ts"),
        when(col("r.source").isNull(), "journal").otherwise(col("r.source")).alias("dialect"),
        lit(1.0).alias("confidence"),
        lit("file").alias("sourceFile"),
        lit(1).cast("long").alias("sourceLine"),
        lit("hash").alias("hash"),
        timestamp_millis("r.time").cast("date").alias("date"),
        coalesce("r.clusterName", lit("c")).alias("cluster"),
    ).withColumn("changesWrite", changes_write(col("type")))
    return keep_in_memory(events)


def master(name: str = "b", addr: str = "10.0.0.1:10911", cluster: str = "c", broker_id: int = 0) -> Event:
    return BrokerRegistered(cluster, name, broker_id, addr, 2)


def lost(name: str = "b", reason: str = "expired", addr: str = "10.0.0.1:10911", broker_id: int = 0) -> Event:
    return BrokerUnregistered("c", name, broker_id, addr, reason, 7)


def opened(name: str, *topics: str, before: int | None = None, after: int | None = 6) -> Event:
    """Topics that came (no `before`), changed or went (no `after`): permissions."""
    return TopicsChanged(name, "registration", changes(name, topics, before, after))


def changes(
    name: str, topics: Sequence[str], before: int | None, after: int | None
) -> tuple[TopicChanges, ...]:
    sides = [None if perm is None else QueueData(name, 8, 8, perm) for perm in (before, after)]
    return (TopicChanges(tuple(topics), *sides),)


def wiped(name: str, *topics: str) -> Event:
    return WritePermWiped(name, len(topics), changes(name, topics, 6, 4))


def empty(reason: str = "start", **more: Any) -> Snapshot:
    return make_snapshot(reason, **more)
