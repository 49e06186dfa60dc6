"""Silences of brokers as their logs tell them: what name servers say beside is in the report's own test."""

from pyspark.sql import SparkSession

from nsreport.facts.registration_gaps import find_registration_silences
from tests.support.ns_events import at
from tests.support.silver_rows import LOG_FACT, every, rows


def test_a_silence_ends_with_a_registration_or_stays_open_while_tries_fail(spark: SparkSession) -> None:
    told = [
        *every([0, 30, 200, 290], server="b", kind="registered", key="ns:1"),
        # A broker whose log just ends is not said to be silent.
        *every([0, 30], server="ends", kind="registered", key="ns:1"),
        *every([0], server="b", kind="registered", key="ns:2"),
        *every([30, 100], server="b", kind="notRegistered", key="ns:2"),
        *every([0, 500], server="b", kind="decodeError", key="ns:3"),
    ]
    found = find_registration_silences(rows(spark, LOG_FACT, *told), at(1000)).orderBy("server").collect()
    assert [
        (
            row.server,
            row.cluster,
            row.brokerName,
            row.brokerId,
            row.since - at(0),
            row.until - at(0),
            row.outcome,
        )
        for row in found
    ] == [
        ("ns:1", None, "b", None, 30_000, 200_000, "resumed"),
        ("ns:2", None, "b", None, 0, 100_000, "open"),
    ]
    assert [(row.observer, row.brokers, sorted(row.servers)) for row in found] == [
        ("ns:1 brokers", 2, ["ns:1", "ns:2"]),
        ("ns:2 brokers", 1, ["ns:1", "ns:2"]),
    ]
