"""Availability of brokers: what counts as up, and that nobody looking is neither."""

from datetime import date
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.testing import assertDataFrameEqual

from namesrv_core.events import ServerPaused, ServerStarted, ServerStopping
from nsreport.facts.presence import select_lifecycle_events
from nsreport.reports.broker_availability import broker_availability
from nsreport.runtime.local_rows import keep_in_memory
from tests.support.ns_events import HOUR, Teller, at, empty, frame, lost, master, opened, wiped
from tests.support.silver_rows import covered

TWENTIETH, TWENTY_FIRST = date(2025, 11, 20), date(2025, 11, 21)
SINCE, UNTIL = -HOUR, 4 * HOUR
COLUMNS = [
    "date", "cluster", "brokerName", "brokerId", "upSeconds", "downSeconds", "plannedSeconds",
    "unknownSeconds", "partialSeconds", "availability", "failures", "mtbfSeconds", "mttrSeconds",
]  # fmt: skip


def of_all_kinds() -> Teller:
    own = Teller("of all kinds").tell(0, empty(), ServerStarted("1", 1))
    own.tell(10, master("all"), opened("all", "all", "T")).lives(60, 3540).tell(3600, lost("all")).lives(
        3610, 3900
    )
    own.tell(3910, master("all")).lives(3960, 7140)
    own.tell(7200, wiped("all", "all", "T")).lives(7220, 7220).tell(7260, lost("all", "unregistered")).lives(
        7300, 7600
    )
    own.tell(7610, master("all"), opened("all", "all", "T")).lives(7660, 10_700)
    # It is killed at some time after its last word, which is of 10,660.
    own.tell(11_000, empty(), ServerStarted("1", 2)).tell(11_020, master("all")).lives(11_080, 12_000)
    return (
        own.tell(12_020, ServerPaused(10_000)).lives(12_060, 14_000).tell(14_010, ServerStopping("told to"))
    )


def of_two_servers() -> list[Teller]:
    one = Teller("one").tell(-HOUR, empty(), master("two")).lives(-HOUR + 60, HOUR)
    two = Teller("two").tell(-HOUR, empty(), master("two")).lives(-HOUR + 60, -1800)
    two.tell(-1800, lost("two")).lives(-1740, HOUR)
    # One that never told of the broker says nothing about it.
    return [one, two, Teller("three").tell(-HOUR, empty()).lives(-HOUR + 60, 4 * HOUR)]


def of_midnight() -> Teller:
    own = Teller("of midnight").tell(-HOUR, empty(), master("night")).lives(-HOUR + 60, -1860)
    return own.tell(-1800, lost("night")).lives(-1740, HOUR)


def of_a_new_name_server() -> Teller:
    own = Teller("new").tell(0, empty(), master("stays away"), master("comes")).lives(60, 600)
    return own.tell(600, empty(), ServerStarted("1", 2)).tell(610, master("comes")).lives(660, 1200)


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> DataFrame:
    tellers = [of_all_kinds(), *of_two_servers(), of_midnight(), of_a_new_name_server()]
    events = frame(spark, *tellers)
    return keep_in_memory(
        broker_availability(select_lifecycle_events(events), covered(events), at(SINCE), at(UNTIL))
    )


def check(spark: SparkSession, found: DataFrame, name: str, *rows: tuple[Any, ...]) -> None:
    expected = [(day, "c", name, 0, *figures) for day, *figures in rows]
    assert found.columns == COLUMNS
    assertDataFrameEqual(found.where(found.brokerName == name), spark.createDataFrame(expected, found.schema))


def test_all_kinds_of_time_in_one_history(spark: SparkSession, found: DataFrame) -> None:
    unknown = (11_020 - 10_660) + 10 + (UNTIL - 14_010)
    up = UNTIL - 10 - 310 - 410 - unknown
    figures = (
        float(up),
        310.0,
        410.0,
        float(unknown),
        0.0,
        round(100 * up / (up + 310), 4),
        1,
        float(up),
        310.0,
    )
    check(spark, found, "all", (TWENTY_FIRST, *figures))


def test_up_where_any_name_server_has_it(spark: SparkSession, found: DataFrame) -> None:
    check(
        spark,
        found,
        "two",
        (TWENTIETH, 3600.0, 0.0, 0.0, 0.0, 1800.0, 100.0, 0, None, None),
        (TWENTY_FIRST, 3600.0, 0.0, 0.0, 10_800.0, 3600.0, 100.0, 0, None, None),
    )


def test_a_failure_counts_on_the_day_on_which_it_begins(spark: SparkSession, found: DataFrame) -> None:
    check(
        spark,
        found,
        "night",
        (TWENTIETH, 1800.0, 1800.0, 0.0, 0.0, 0.0, 50.0, 1, 1800.0, 1800.0),
        (TWENTY_FIRST, 0.0, 3600.0, 0.0, 10_800.0, 0.0, 0.0, 0, None, None),
    )


def test_a_broker_has_a_while_to_come_to_a_new_name_server(spark: SparkSession, found: DataFrame) -> None:
    share = round(100 * 600 / 1050, 4)
    check(
        spark, found, "stays away", (TWENTY_FIRST, 600.0, 450.0, 0.0, 13_350.0, 0.0, share, 1, 600.0, 450.0)
    )
    check(spark, found, "comes", (TWENTY_FIRST, 1190.0, 0.0, 0.0, 13_210.0, 0.0, 100.0, 0, None, None))
