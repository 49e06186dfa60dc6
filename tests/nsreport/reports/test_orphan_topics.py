"""Topics that nobody needs."""

from pyspark.sql import SparkSession

from nsreport.facts.presence import select_lifecycle_events
from nsreport.reports.orphan_topics import orphan_topics
from tests.support.ns_events import DAY, Teller, at, empty, frame, lost, master
from tests.support.silver_rows import CONSUMER_LAG, ROUTE_INTERVAL, STATS_MINUTE, every, moment, route, rows


def test_reasons(spark: SparkSession) -> None:
    own = Teller().tell(0, empty(), master("b"), master("gone")).tell(100, lost("gone"))
    names = ["used", "silent", "%RETRY%known", "%DLQ%unknown", "TBW102", "c_REPLY_TOPIC", "b"]
    facts = [route("ns-1", 0, None, topic=name) for name in names]
    facts += [
        route("ns-1", 0, None, topic="dead", brokerName="gone"),
        route("ns-1", 0, 50, topic="deleted"),
        route("ns-1", 2 * DAY, None, topic="too young to say"),
    ]
    stats = every([60, 3 * DAY - 60], broker="b", name="TOPIC_PUT_NUMS", topic="used", sum=5.0)
    stats += every([120], broker="b", name="TOPIC_PUT_NUMS", topic="silent", sum=0.0)
    stats += every([60], broker="b", name="TOPIC_PUT_NUMS", topic="dead", sum=1.0)
    lags = every([60], cluster="c", consumerGroup="known", topic="used", brokerName="b", lag=0)
    found = orphan_topics(
        select_lifecycle_events(frame(spark, own)),
        rows(spark, ROUTE_INTERVAL, *facts),
        rows(spark, STATS_MINUTE, *stats),
        rows(spark, CONSUMER_LAG, *lags),
        at(10),
        at(3 * DAY),
    )
    assert {(row.topic, tuple(row.brokers), row.reason, row.lastPut) for row in found.collect()} == {
        ("silent", ("b",), "no traffic", None),
        ("%DLQ%unknown", ("b",), "no group", None),
        ("dead", ("gone",), "no broker", moment(60)),
    }
