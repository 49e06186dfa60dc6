"""Lines of journals as events, and what is none."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession

from namesrv_core.storage.journal import reader
from nsreport.runtime.session import DEFAULT_SETTINGS
from nsreport.sources import journals, schemas
from nsreport.tables import unique_lines

NOW = datetime(2025, 2, 1, 12, tzinfo=UTC)
LINES = "file string, line bigint, text string, kind string, server string"
TIME = 1_738_400_000_123


def lines(spark: SparkSession, *texts: str, server: str | None = None) -> DataFrame:
    rows = [("f", number, text, "journal", server) for number, text in enumerate(texts, 1)]
    return unique_lines.keep_first_copies(
        unique_lines.key_journal_lines(spark.createDataFrame(rows, LINES)), NOW
    )


def record(**fields: Any) -> str:
    head = {"v": 1, "seq": 1, "time": TIME, "server": "s", "type": "ServerReady", "cause": "name server"}
    whole = {**head, **fields}
    return json.dumps({name: value for name, value in whole.items() if value is not ...})


def events(spark: SparkSession, *texts: str) -> Sequence[Row]:
    return journals.parse_events(lines(spark, *texts)).orderBy("seq").collect()


def test_all_that_journals_say_is_there(
    ns_event: Callable[[str], DataFrame], played: Callable[[str], Path]
) -> None:
    found = ns_event("flapping-broker")
    assert found.schema.names == schemas.event_schema().names
    read = {
        (row.server, row.seq): {name: value for name, value in row.asDict(True).items() if value is not None}
        for row in found.collect()
    }
    written = [
        one
        for name in ("ns-1", "ns-2", "ns-3")
        for one in reader.read_records(played("flapping-broker") / name / "journal")
    ]
    assert len(read) == len(written) > 100
    for one in written:
        row = read[one.server_name, one.seq]
        assert (row["type"], row["time"], row["cause"]) == (one.event_type, one.time_ms, one.origin.cause)
        assert round(row["ts"].timestamp() * 1000) == one.time_ms
        assert (row["dialect"], row["confidence"]) == ("journal", 1.0)
        plain = {
            name: value for name, value in one.event_fields.items() if not isinstance(value, (dict, list))
        }
        assert {name: row.get(name) for name in plain} == plain


def test_changes_of_topics_say_whether_any_was_closed_or_opened(spark: SparkSession) -> None:
    change = {"topics": ["T"], "before": None, "after": {"brokerName": "b", "perm": 6}}
    text = record(type="TopicsChanged", brokerName="b", changes=[change])
    assert [row.changesWrite for row in events(spark, text)] == [True]


def test_a_broker_has_a_cluster_also_where_the_event_does_not_say_it(spark: SparkSession) -> None:
    known = record(seq=2, type="BrokerChanged", clusterName="c", brokerName="b", brokerId=0)
    late = record(seq=3, type="Snapshot", groups=[{"clusterName": "d", "brokerName": "e", "members": []}])
    rows = events(
        spark, known, late, record(seq=4, type="TopicsChanged", brokerName="b"),
        record(seq=5, type="MinBrokerIdChanged", brokerName="e"), record(seq=6, brokerName="nobody"),
    )  # fmt: skip
    assert [row.cluster for row in rows] == ["c", "-", "c", "d", "-"]
    assert [row.clusterName for row in rows] == ["c", None, None, None, None]


def test_brokers_of_two_clusters_may_be_called_the_same(spark: SparkSession) -> None:
    def told(server: str, cluster: str, at: int) -> Sequence[str]:
        broker = {"server": server, "time": TIME + at, "brokerName": "b"}
        return [
            record(**broker, seq=1, type="BrokerRegistered", clusterName=cluster),
            record(**broker, seq=2, type="BrokerUnregistered"),
        ]

    other = record(server="u", seq=2, brokerName="b")
    found = events(spark, *told("s", "prod", 0), *told("t", "test", 5), other)
    assert sorted((row.server, row.seq, row.cluster) for row in found) == [
        ("s", 1, "prod"), ("s", 2, "prod"), ("t", 1, "test"), ("t", 2, "test"), ("u", 2, "test"),
    ]  # fmt: skip


def test_collectors_are_another_dialect(spark: SparkSession) -> None:
    [row] = events(spark, record(source="collector"))
    assert (row.dialect, row.date) == ("collector", date(2025, 2, 1))


def test_an_operator_may_say_whose_journal_it_is(spark: SparkSession) -> None:
    [row] = journals.parse_events(lines(spark, record(), server="other")).collect()
    assert row.server == "other"


def test_what_is_no_record_says_why(spark: SparkSession) -> None:
    texts = [
        record(), "{", "", '{"v":1}', record(v=2, seq="x"), record(v=...), record(cause=...),
        record(time="yesterday"), record(type=...), "[1]", record(brokerId="none"),
        record(time=4_102_444_800_000), record(time=999_999_999_999_999), record(time=-1),
    ]  # fmt: skip
    found = lines(spark, *texts)
    rows = journals.select_quarantine(found).orderBy("line").collect()
    assert [(row.line, row.reason) for row in rows] == [
        (2, "invalid JSON, or a field with the wrong type"),
        (3, "not a journal record: v is missing"),
        (4, "not a journal record: seq is missing"),
        (5, "schema version 2, but this nsadmin reads version 1"),
        (6, "not a journal record: v is missing"),
        (7, "not a journal record: cause is missing"),
        (8, "invalid JSON, or a field with the wrong type"),
        (9, "not a journal record: type is missing"),
        (10, "invalid JSON, or a field with the wrong type"),
        (11, "invalid JSON, or a field with the wrong type"),
        *(
            (line, "invalid time: negative, or more than a day after the line was read")
            for line in (12, 13, 14)
        ),
    ]
    assert rows[0].asDict() == {
        "file": "f", "line": 2, "text": "{", "reason": "invalid JSON, or a field with the wrong type",
        "kind": "journal", "date": date(1970, 1, 1),
    }  # fmt: skip
    assert journals.parse_events(found).count() == 1


def test_what_became_no_event_is_lost_and_nothing_else(spark: SparkSession) -> None:
    found = lines(spark, record(), "no record", record(seq=2, brokerId="none"))
    lost = journals.select_lost_lines(found, journals.parse_events(found))
    assert sorted(row.line for row in lost.collect()) == [2, 3]


def test_a_line_is_parsed_once_for_all_that_is_asked_of_it(spark: SparkSession) -> None:
    found = lines(spark, record()).localCheckpoint()
    key = "spark.sql.maxPlanStringLength"
    spark.conf.set(key, "1000000")
    try:
        plan = str(journals.parse_events(found)._jdf.queryExecution().optimizedPlan().toString())
    finally:
        spark.conf.set(key, DEFAULT_SETTINGS[key])
    # Once for the events, and once for the clusters of brokers.
    assert plan.count("from_json(") == 2


def test_what_is_no_record_tells_no_cluster(spark: SparkSession) -> None:
    bad = record(v=2, type="BrokerChanged", clusterName="c", brokerName="b")
    [row] = events(spark, bad, record(seq=3, type="TopicsChanged", brokerName="b"))
    assert row.cluster == "-"


def test_fields_and_types_of_later_days_are_passed_over(spark: SparkSession) -> None:
    [row] = events(spark, record(type="OfLaterDays", new={"a": [1]}))
    assert row.type == "OfLaterDays"


def test_a_long_line_is_cut_in_quarantine(spark: SparkSession) -> None:
    [row] = journals.select_quarantine(lines(spark, "x" * 10_000)).collect()
    assert len(row.text) == journals.MAX_QUARANTINED_LENGTH
