"""Runs the command of docs/how-to/make-reports.md under spark-submit and compares its tables."""

import os
import subprocess
import sys
from collections.abc import Set
from contextlib import nullcontext
from pathlib import Path

import duckdb
import pyspark
import pytest
from pyspark.sql import SparkSession

from nsreport import command
from nsreport.presentation import report_reader
from nsreport.runtime import java, session

PATIENCE = 120
REPORTS = "broker_flaps,config_changes"
SPARK = Path(pyspark.__file__).parent
QUICK = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
"""For Java that runs a minute: half the work. Spark's classes need no check."""
SETTINGS = {
    "spark.pyspark.python": sys.executable,
    "spark.log.level": "WARN",
    "spark.driver.memory": "512m",
    "spark.driver.extraJavaOptions": QUICK,
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.executor.extraJavaOptions": QUICK,
    "spark.sql.shuffle.partitions": "2",
    # For small tables, making programs of queries takes longer than they do.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}
PLACES = {"path", "file", "sourceFile", "modified"}
"""Columns that say from where a line is; they are others where the journals were copied."""

PROGRAM = """\
import sys
from nsreport.command import main

sys.exit(main())
"""


def submit(folder: Path, input: str, output: str, settings: dict[str, str]) -> str:
    """What it tells on standard output, where the program of its own is on this machine."""
    program = folder / "run.py"
    program.write_text(PROGRAM)
    given = [word for key, value in (SETTINGS | settings).items() for word in ("--conf", f"{key}={value}")]
    own = {"SPARK_LOCAL_IP": "127.0.0.1", "JAVA_HOME": java.find_java_home(os.environ, folder)}
    line: list[str | Path] = [
        SPARK / "bin" / "spark-submit", *given, "--py-files", session.pack_packages(folder), program,
        "run", "--input", input, "--dir", output, "--reports", REPORTS,
    ]  # fmt: skip
    ended = subprocess.run(
        line, env=os.environ | own, capture_output=True, text=True, timeout=5 * PATIENCE, check=False
    )
    assert ended.returncode == 0, ended.stderr[-3000:] + ended.stdout
    return ended.stdout


def assert_same_as_here(
    made: Path,
    journals: Path,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    besides: Set[str] = frozenset(),
) -> None:
    """The tables are those that one process makes of the journals, but for the columns `besides`."""
    here = made.with_name("here")
    monkeypatch.setattr(command, "open_spark_session", lambda flags: nullcontext(spark))
    assert command.main(["run", "--input", str(journals), "--dir", str(here), "--reports", REPORTS]) == 0
    found, expected = contents(made, besides), contents(here, besides)
    assert (
        found.keys() == expected.keys() >= {"silver/ns_event", "silver/route_interval", "gold/broker_flaps"}
    )
    assert {name: len(rows) for name, rows in found.items() if rows}.keys() >= {
        "bronze/lines",
        "silver/ns_event",
        "gold/broker_flaps",
    }
    assert found == expected


def contents(folder: Path, besides: Set[str]) -> dict[str, list[str]]:
    """All rows of all tables, without when they were read, and without those columns."""
    tables = sorted(table.parent for table in folder.glob("*/*/_delta_log"))
    return {f"{table.parent.name}/{table.name}": rows(table, besides) for table in tables}


def rows(table: Path, besides: Set[str]) -> list[str]:
    files = report_reader.list_parquet_files(table)
    if not files:
        return []
    found = duckdb.read_parquet(files, hive_partitioning=True)
    names = sorted(set(found.columns) - besides - {"ingestTime"})
    return sorted(map(str, found.project(", ".join(f'"{name}"' for name in names)).fetchall()))
