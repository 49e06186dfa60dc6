"""When name servers said different things."""

from datetime import date

from pyspark.sql import SparkSession
from pyspark.testing import assertDataFrameEqual

from nsreport.facts.agreement import list_route_servers
from nsreport.reports.ns_divergence import ns_divergence
from tests.support.ns_events import at
from tests.support.silver_rows import (
    ENTRY_INTERVAL,
    KNOWLEDGE_INTERVAL,
    ROUTE_INTERVAL,
    agreed,
    entry,
    looked,
    moment,
    route,
    rows,
)

DAY = date(2025, 11, 21)


def test_windows_per_topic_and_field(spark: SparkSession) -> None:
    facts = rows(
        spark,
        ROUTE_INTERVAL,
        # ns-2 is late by 5 s with the topic, then has another permission and other queues for a while.
        route("ns-1", 10, None),
        route("ns-2", 15, 100),
        route("ns-2", 100, 130, perm=4),
        route("ns-2", 130, 140, perm=4, writeQueueNums=4),
        route("ns-2", 140, None),
        # Lost on ns-2 until the end; nobody looked at ns-1 for the first half of that.
        route("ns-1", 10, None, topic="lost"),
        route("ns-2", 10, 500, topic="lost"),
        # Over before anybody asks, and of another cluster, of which ns-1 and ns-2 know nothing.
        route("ns-1", 2, 4, topic="early"),
        route("ns-3", 0, None, cluster="d"),
    )
    looks = [looked("ns-1", 0, 450), looked("ns-1", 450, 600, known=False), looked("ns-1", 600, None)]
    looks += [looked("ns-2", 0, None), looked("ns-3", 0, None)]
    knowledge_intervals = rows(spark, KNOWLEDGE_INTERVAL, *looks)
    entries = rows(
        spark,
        ENTRY_INTERVAL,
        # ns-1 hears later of the broker's new address, and ns-2 never of a value.
        entry("ns-1", 0, 700, "10.0.0.1:10911"),
        entry("ns-1", 700, None, "10.0.0.2:10911"),
        entry("ns-2", 0, 650, "10.0.0.1:10911"),
        entry("ns-2", 650, None, "10.0.0.2:10911"),
        entry("ns-1", 900, None, "v", field="kv", name="N", key="k", cluster="-"),
        entry("ns-3", 0, None, "w", field="kv", name="N", key="k", cluster="-"),
    )
    found = ns_divergence(
        facts,
        entries,
        agreed(facts, knowledge_intervals),
        list_route_servers(facts),
        knowledge_intervals,
        at(5),
        at(1000),
    )

    def window(topic: str, field: str, since: float, until: float, one: str, two: str) -> tuple[object, ...]:
        values = f'{{"ns-1":"{one}","ns-2":"{two}"}}'
        moments = (moment(since), moment(until), float(until - since))
        return (DAY, "c", topic, "b", None, field, *moments, until == 1000, values)

    addresses = '{"ns-1":"10.0.0.1:10911","ns-2":"10.0.0.2:10911"}'
    kv = '{"ns-1":"v","ns-2":null}'

    expected = [
        window("T", "route", 10, 15, "present", "absent"),
        window("T", "perm", 100, 140, "6", "4"),
        window("T", "writeQueueNums", 130, 140, "8", "4"),
        window("lost", "route", 600, 1000, "present", "absent"),
        (DAY, "c", None, "b", "0", "brokerAddr", moment(650), moment(700), 50.0, False, addresses),
        (DAY, "c", None, None, "N/k", "kv", moment(900), moment(1000), 100.0, True, kv),
    ]
    assertDataFrameEqual(found, spark.createDataFrame(expected, found.schema))
