"""Tables as a run of the pipeline leaves them, made with delta-rs and without Spark."""

import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

from nsreport.tables.table_versions import (
    DAYS_KEY,
    FORGOTTEN_TRANSACTION,
    LINES_TABLE,
    LINES_TRANSACTION,
    NUMBER_KEY,
    read_lines_number,
)

DAY, NEXT = date(2025, 2, 1), date(2025, 2, 2)
AVAILABILITY = {
    "brokerName": "varchar", "brokerId": "bigint", "upSeconds": "double", "downSeconds": "double",
    "plannedSeconds": "double", "unknownSeconds": "double", "partialSeconds": "double",
    "availability": "double", "failures": "bigint", "mtbfSeconds": "double", "mttrSeconds": "double",
    "cluster": "varchar", "date": "date",
}  # fmt: skip
FLAPS = {
    "brokerName": "varchar", "brokerId": "bigint", "ts": "timestamp", "endTs": "timestamp",
    "ongoing": "boolean", "servers": "varchar[]", "outages": "bigint", "conflicts": "bigint",
    "downSeconds": "double", "longestSeconds": "double", "cause": "varchar", "cluster": "varchar",
    "date": "date",
}  # fmt: skip


def table(
    folder: Path,
    types: Mapping[str, str],
    rows: Sequence[Sequence[Any]],
    partitions: Sequence[str] = ("date", "cluster"),
) -> None:
    """Write a table of these rows."""
    with duckdb.connect() as connection:
        declared = ", ".join(f'"{name}" {kind}' for name, kind in types.items())
        connection.execute(f"create table t ({declared})")
        if rows:
            connection.executemany(f"insert into t values ({', '.join('?' * len(types))})", rows)
        known_partitions = [name for name in partitions if name in types]
        write_deltalake(folder, connection.sql("from t"), partition_by=known_partitions, mode="overwrite")


def date_commits(folder: Path, moment: datetime) -> None:
    """Change the logs of all tables as if a run had committed at a moment (UTC)."""
    seconds = moment.replace(tzinfo=UTC).timestamp()
    for log_file in folder.glob("*/*/_delta_log/*.json"):
        actions = [json.loads(line) for line in log_file.read_text().splitlines()]
        for action in actions:
            if "commitInfo" in action:
                action["commitInfo"]["timestamp"] = int(seconds * 1000)
        log_file.write_text("".join(f"{json.dumps(action)}\n" for action in actions))
        os.utime(log_file, (seconds, seconds))


def mark_unfinished(folder: Path, day: date) -> None:
    """Make a day of the lines one that a stopped run has not put into all tables."""
    lines = DeltaTable(folder / LINES_TABLE)
    number = read_lines_number(lines) + 1
    lines.create_write_transaction(
        [],
        "append",
        lines.schema(),
        commit_properties=CommitProperties(
            {NUMBER_KEY: number, DAYS_KEY: [day.isoformat()]},
            app_transactions=[Transaction(LINES_TRANSACTION, number)],
        ),
    )


def mark_forgotten(folder: Path, first_day: date) -> None:
    """Say that the days before a day were forgotten."""
    lines = DeltaTable(folder / LINES_TABLE)
    forgotten = Transaction(FORGOTTEN_TRANSACTION, first_day.toordinal())
    properties = CommitProperties(app_transactions=[forgotten])
    lines.create_write_transaction([], "append", lines.schema(), commit_properties=properties)


def write_gold_tables(folder: Path) -> None:
    """Two days of two brokers: one was down, of one nothing is known on the second day."""
    table(
        folder / "gold" / "broker_availability",
        AVAILABILITY,
        [
            ("b<1>", 0, 80_000.0, 6_400.0, 0.0, 0.0, 0.0, 92.5926, 1, 80_000.0, 6_400.0, "c 1", DAY),
            ("a", 0, 86_400.0, 0.0, 0.0, 0.0, 0.0, 100.0, 0, None, None, "c 1", DAY),
            ("a", 0, 0.0, 0.0, 0.0, 86_400.0, 0.0, None, 0, None, None, "c 1", NEXT),
        ],
    )
    began, ended = datetime(2025, 2, 1, 3, 4, 5), datetime(2025, 2, 1, 4, 50, 45)
    table(
        folder / "gold" / "broker_flaps",
        FLAPS,
        [("b<1>", 0, began, ended, False, ["n1", "n2"], 1, 0, 6400.0, 6400.0, "expired", "c 1", DAY)],
    )
    table(folder / "gold" / "drain_audit", {"date": "date"}, [])
    table(folder / "bronze" / "lines", {"text": "varchar"}, [("x",)] * 200, ())
    table(folder / "silver" / "quarantine", {"text": "varchar"}, [("x",)] * 3, ())


def quality_store(folder: Path) -> None:
    """Lines of three sources, of which one is late and partly unreadable, and a gap over midnight."""
    soon, late = datetime(2025, 2, 2, 3), datetime(2025, 2, 6)
    lines = {
        "file": "varchar", "server": "varchar", "kind": "varchar", "date": "date", "ingestTime": "timestamp",
    }  # fmt: skip
    journal, log, other = "/in/x/journal/1.jsonl", "/in/a/namesrv.log", "/in/of-folder/broker.log"
    rows = [
        *[(journal, None, "journal", DAY, soon)] * 3,
        (journal, None, "journal", NEXT, soon),
        *[(log, "named", "namesrv", DAY, late)] * 2,
        (other, None, "broker", NEXT, soon),
    ]
    table(folder / "bronze" / "lines", lines, rows, ())
    events = {"sourceFile": "varchar", "server": "varchar"}
    table(folder / "silver" / "ns_event", events, [(journal, "ns-1")], ())
    quarantine = {"file": "varchar", "kind": "varchar", "date": "date"}
    table(folder / "silver" / "quarantine", quarantine, [(log, "namesrv", DAY)], ())
    knowledge = {
        "server": "varchar", "known": "boolean", "validFrom": "timestamp", "validTo": "timestamp",
    }  # fmt: skip
    began, ended = datetime(2025, 2, 1, 23), datetime(2025, 2, 2, 0, 30)
    spans = [
        ("ns-1", True, datetime(2025, 2, 1), began),
        ("ns-1", False, began, ended),
        ("ns-1", False, ended, None),
    ]
    table(folder / "silver" / "knowledge_interval", knowledge, spans, ())
