"""Logs of released servers, cut short, and rarer lines after their sources; all read once for all tests."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from nsreport.sources.java_logs import log_parser, message_splitter

DATA = Path(__file__).parent / "data"


GERMAN_STATISTICS = """\
2026-11-28 23:06:00 INFO - [TOPIC_PUT_SIZE] [T] Stats In One Minute, SUM: 27000 TPS: 1350,00 AVGPT: 225,00
2026-11-28 23:06:00 INFO - [TOPIC_PUT_LATENCY] [0@T] Stats In One Minute, SUM: 88 TPS: 4,40 AVGPT: 0,73
2026-11-28 23:06:00 INFO - [GROUP_GET_LATENCY] [0@T@G] Stats In One Minute, TIMES: 7 AVGRT: 0,57
2026-11-28 23:06:00 INFO - [TOPIC_PUT_SIZE] [U] Stats In One Minute, SUM: 27000 TPS: many AVGPT: 225
2026-11-28 23:06:00 INFO - [TOPIC_PUT_SIZE] [T] Stats In One Hour, SUM: 1 TPS: 0,00 AVGPT: 1,00
"""
"""Lines of a 5.5.0 broker with -Duser.language=de. The fourth one is made up."""


class Read(NamedTuple):
    """What came of all logs, in the order of times and lines."""

    events: list[dict[str, Any]]
    facts: list[Row]
    stats: list[Row]
    quarantine: list[Row]

    def of(self, server: str, *types: str) -> list[dict[str, Any]]:
        return [item for item in self.events if item["server"] == server and item["type"] in types]

    def facts_of(self, server: str, kind: str) -> list[tuple[Any, ...]]:
        return [(i.name, i.key, i.value) for i in self.facts if (i.server, i.kind) == (server, kind)]


def messages(spark: SparkSession, logs: Mapping[str, Mapping[str, str]]) -> DataFrame:
    """Lines of logs, by server and name of file, as they come to be read."""
    rows = [
        (f"{server}/{name}", at, line, server, name.split(".")[0])
        for server, files in logs.items()
        for name, text in files.items()
        for at, line in enumerate(text.splitlines(), 1)
    ]
    shape = "file string, line long, text string, server string, kind string"
    return message_splitter.join_continuations(spark.createDataFrame(rows, shape)).withColumn(
        "hash", message_splitter.message_hash()
    )


def rows(found: Iterable[Row]) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.asDict(True).items() if value is not None} for row in found]


@pytest.fixture(scope="session")
def real(spark: SparkSession) -> Read:
    def log(name: str) -> str:
        return (DATA / f"{name}.log").read_text()

    new = log("5.5.0")
    logs = {
        # The same lines again, under the name that rotation gave them.
        "new": {"namesrv.log": new, "namesrv.1.log": new, "namesrv_traffic.log": log("traffic")},
        "old": {"namesrv.log": log("4.9.7")},
        "rare": {"namesrv.log": log("rare")},
        "raced": {"namesrv.log": log("raced")},
        "returned": {"namesrv.log": log("returned")},
        "broker": {f"{name}.log": log(name) for name in ("broker", "stats", "watermark")},
        **{release: {"stats.log": log(f"stats-{release}")} for release in ("5.5.0", "4.9.7")},
        "german": {"stats.log": GERMAN_STATISTICS},
        "proxy": {file.name: file.read_text() for file in sorted((DATA / "proxy").iterdir())},
    }
    parsed = log_parser.parse_logs(messages(spark, logs).localCheckpoint())
    parsed.parsed_messages.persist()
    events = rows(parsed.event_rows.orderBy("server", "time", "sourceLine").collect())
    found = Read(
        events,
        parsed.fact_rows.orderBy("server", "ts", "line", "key").collect(),
        parsed.stats_rows.orderBy("ts", "name").collect(),
        parsed.quarantine_rows.orderBy("file", "line").collect(),
    )
    parsed.parsed_messages.unpersist()
    return found
