"""Rows of silver tables, made by hand: what is not named is null."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from nsreport.facts.agreement import build_agreement_intervals, list_route_servers
from nsreport.facts.knowledge_changes import find_knowledge_changes
from nsreport.facts.knowledge_intervals import build_knowledge_intervals
from nsreport.facts.routes import build_route_intervals, list_broker_clusters
from nsreport.runtime.local_rows import keep_in_memory
from tests.support.ns_events import START

ROUTE_INTERVAL = (
    "server string, cluster string, topic string, brokerName string, readQueueNums bigint, "
    "writeQueueNums bigint, perm bigint, topicSysFlag bigint, validFrom timestamp, validTo timestamp, "
    "fromType string, fromCause string, fromClient string, toType string, toCause string, "
    "toClient string, known boolean, date date, endDate date"
)
ENTRY_INTERVAL = (
    "server string, cluster string, field string, name string, key string, value string, "
    "validFrom timestamp, validTo timestamp, date date, endDate date"
)
KNOWLEDGE_INTERVAL = (
    "observer string, server string, isRouteSource boolean, known boolean, validFrom timestamp, "
    "validTo timestamp, fromType string, toType string"
)
STATS_MINUTE = (
    "broker string, ts timestamp, name string, key string, topic string, group string, sum double, date date"
)
LOG_FACT = (
    "server string, time bigint, ts timestamp, kind string, name string, key string, value double, "
    "text string, file string, line bigint, date date"
)
BROKER_RUNTIME = (
    "server string, ts timestamp, brokerName string, brokerId bigint, brokerAddr string, "
    "bootTime bigint, putTotal bigint, getTotal bigint, date date, cluster string"
)
CONSUMER_LAG = (
    "server string, ts timestamp, brokerName string, brokerId bigint, brokerAddr string, "
    "consumerGroup string, topic string, brokerOffset bigint, consumerOffset bigint, lag bigint, "
    "date date, cluster string"
)


def moment(seconds: float) -> datetime:
    """A time of the first day of `ns_events`, in seconds."""
    return datetime.fromtimestamp(START / 1000 + seconds, UTC).replace(tzinfo=None)


def covered(ns_event: DataFrame, log_fact: DataFrame | None = None) -> DataFrame:
    """When name servers were looked at, by their events and what logs say beside."""
    return build_knowledge_intervals(turned(ns_event, log_fact))


def turned(ns_event: DataFrame, log_fact: DataFrame | None = None) -> DataFrame:
    """The turns of these events."""
    return find_knowledge_changes(ns_event, no_facts(ns_event.sparkSession) if log_fact is None else log_fact)


def routed(ns_event: DataFrame, knowledge_changes: DataFrame) -> DataFrame:
    """The route intervals of these events."""
    return build_route_intervals(ns_event, knowledge_changes, list_broker_clusters(ns_event))


def agreed(route_interval: DataFrame, knowledge_interval: DataFrame) -> DataFrame:
    """The agreement intervals of these route intervals."""
    return build_agreement_intervals(route_interval, list_route_servers(route_interval), knowledge_interval)


def no_facts(spark: SparkSession) -> DataFrame:
    """Where no logs were read."""
    return rows(spark, LOG_FACT)


def rows(spark: SparkSession, shape: str, *values: dict[str, Any]) -> DataFrame:
    """A table of that shape, in memory as in small runs.

    The `date` of a row is that of its `ts`, `time` or `validFrom`.
    """
    names = [column.split()[0] for column in shape.split(", ")]
    filled_rows = []
    for value in values:
        ts = value.get("ts", value.get("validFrom"))
        filled_rows.append(tuple((value | {"date": ts and ts.date()}).get(name) for name in names))
    return keep_in_memory(spark.createDataFrame(filled_rows, shape))


def route(
    server: str, since: float, until: float | None, topic: str = "T", perm: int = 6, **more: Any
) -> dict[str, Any]:
    """A topic's queues on the broker b of cluster c, from when to when."""
    usual = {
        "server": server, "cluster": "c", "topic": topic, "brokerName": "b", "readQueueNums": 8,
        "writeQueueNums": 8, "perm": perm, "topicSysFlag": 0, "validFrom": moment(since),
        "validTo": None if until is None else moment(until), "known": True,
    }  # fmt: skip
    return usual | more


def entry(server: str, since: float, until: float | None, value: str, **more: Any) -> dict[str, Any]:
    """An address of the broker b:0 of cluster c, or what `more` says, from when to when."""
    usual = {
        "server": server, "cluster": "c", "field": "brokerAddr", "name": "b", "key": "0", "value": value,
        "validFrom": moment(since), "validTo": None if until is None else moment(until),
    }  # fmt: skip
    return usual | more


def looked(server: str, since: float, until: float | None, *, known: bool = True) -> dict[str, Any]:
    return {
        "observer": server,
        "server": server,
        "isRouteSource": True,
        "known": known,
        "validFrom": moment(since),
        "validTo": None if until is None else moment(until),
    }


def every(seconds: Sequence[float], **more: Any) -> list[dict[str, Any]]:
    """The same at each of these times."""
    return [{"ts": moment(second), "time": START + int(second * 1000)} | more for second in seconds]
