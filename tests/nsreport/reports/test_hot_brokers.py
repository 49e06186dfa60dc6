"""Shares of brokers."""

from datetime import date

from pyspark.sql import SparkSession
from pyspark.testing import assertDataFrameEqual

from nsreport.reports.hot_brokers import hot_brokers
from tests.support.ns_events import at
from tests.support.silver_rows import BROKER_RUNTIME, STATS_MINUTE, every, rows

DAY = date(2025, 11, 21)


def test_shares_against_equal_shares(spark: SparkSession) -> None:
    def told(
        name: str, boot: int, puts: list[int], begin: int = 0, broker_id: int = 0
    ) -> list[dict[str, object]]:
        who = {
            "brokerName": name,
            "brokerId": broker_id,
            "brokerAddr": name,
            "cluster": "c",
            "bootTime": boot,
        }
        return [
            row
            for place, put in enumerate(puts)
            for row in every([begin + 60 * place], **who, putTotal=put, getTotal=2 * put)
        ]

    runtime = [
        *told("hot", 1, [1000, 1300]),
        # It was started again: what it counts is new.
        *told("hot", 2, [400, 500], begin=600),
        *told("cold", 1, [50, 250]),
        *told("cold", 1, [0, 0], broker_id=1),
    ]
    logs = every([0, 60], broker="b", name="BROKER_PUT_NUMS", sum=3.0)
    logs += every([0], broker="b", name="BROKER_GET_NUMS", sum=2.0)
    puts = {"orders@0": 30.0, "orders@1": 10.0, "orders@2": 20.0, "even@0": 5.0, "even@1": 5.0}
    for key, many in puts.items():
        logs += every([0, 60], broker="b", name="QUEUE_PUT_NUMS", key=key, topic=key.split("@")[0], sum=many)
    found = hot_brokers(
        rows(spark, BROKER_RUNTIME, *runtime), rows(spark, STATS_MINUTE, *logs), at(0), at(1000)
    )
    expected = [
        (DAY, "c", "runtime", "hot", 800, 1600, 0.8, 0.8, 0.5, 1.6, 1.6, 0.3, None, None),
        (DAY, "c", "runtime", "cold", 200, 400, 0.2, 0.2, 0.5, 0.4, 1.6, 0.3, None, None),
        (DAY, "-", "log", "b", 6, 2, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.5, "orders"),
    ]
    assertDataFrameEqual(found, spark.createDataFrame(expected, found.schema))
