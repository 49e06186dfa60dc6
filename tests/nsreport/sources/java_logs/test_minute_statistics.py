"""What brokers of several releases log every minute."""

from collections import Counter
from datetime import datetime

import pytest

from nsreport.sources.java_logs.log_line_patterns import SKIPPED_STATISTICS
from tests.nsreport.sources.java_logs.conftest import DATA, Read


def test_sums_of_a_minute_and_no_others(real: Read) -> None:
    minute = datetime(2026, 11, 21, 23, 14)
    found = [
        (item.ts, item.name, item.topic, item.group, item.sum)
        for item in real.stats
        if item.broker == "broker"
    ]
    assert found == [
        (minute, "GROUP_GET_LATENCY", "Orders", "billing", 98.0),
        (minute, "GROUP_GET_LATENCY_TIMES", "Orders", "billing", 5.0),
        (minute, "TOPIC_PUT_NUMS", "Orders", None, 5.0),
        (minute.replace(minute=15), "BROKER_PUT_NUMS", None, None, 0.0),
    ]


@pytest.mark.parametrize("release", ["5.5.0", "4.9.7"])
def test_each_line_is_a_statistic_or_is_skipped_on_purpose(real: Read, release: str) -> None:
    lines = (DATA / f"stats-{release}.log").read_text().splitlines()
    expected = Counter(
        line.partition("[")[2].partition("]")[0]
        for line in lines
        if not any(skipped in line for skipped in SKIPPED_STATISTICS)
    )
    found = [row.name for row in real.stats if row.broker == release]
    assert Counter(name for name in found if not name.endswith("_LATENCY_TIMES")) == expected
    assert len(expected) < len(lines)


def test_statistics_of_a_broker_with_decimal_commas(real: Read) -> None:
    figures = {row.name: row.sum for row in real.stats if row.broker == "german"}
    assert figures == {
        "TOPIC_PUT_SIZE": 27000, "TOPIC_PUT_LATENCY": 88, "TOPIC_PUT_LATENCY_TIMES": 121,
        "GROUP_GET_LATENCY": 4, "GROUP_GET_LATENCY_TIMES": 7,
    }  # fmt: skip


@pytest.mark.parametrize("release", ["5.5.0", "4.9.7"])
def test_latencies_add_up_and_have_their_number(real: Read, release: str) -> None:
    found = {
        (row.name, row.key): row.sum
        for row in real.stats
        if row.broker == release and row.name.startswith("GROUP_GET_LATENCY")
    }
    total, times = LATENCIES[release]
    assert found["GROUP_GET_LATENCY", "0@Bills@Bills-consumer"] == total
    assert found["GROUP_GET_LATENCY_TIMES", "0@Bills@Bills-consumer"] == times


LATENCIES = {"5.5.0": (53.0, 14.0), "4.9.7": (4.0, 7.0)}
"""TIMES and AVGRT of the samples: 14 times 3.79 ms, and 7 times 0.57 ms."""


def test_the_age_of_messages_that_a_group_reads(real: Read) -> None:
    ages = [
        (row.topic, row.group, row.sum)
        for row in real.stats
        if row.broker == "5.5.0" and row.name == "GROUP_GET_FALL_TIME" and row.sum
    ]
    assert sorted(ages) == [("Orders", "orders-group", 14.0), ("Orders", "pop-group", 96.0)]
