"""The pipeline on a master and two workers of Spark's on loopback makes the tables of one process."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path

import duckdb
import pyspark
import pytest
from pyspark.sql import SparkSession

from namesrv_core.lab import reading, virtual
from namesrv_core.lab.play import play
from nsreport import command, java, session

PATIENCE = 120
REPORTS = "broker_flaps,config_changes"
SPARK = Path(pyspark.__file__).parent
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SETTINGS = {
    "spark.driver.host": "127.0.0.1",
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
PROGRAM = """\
import sys
from nsreport.command import main

sys.exit(main())
"""


@contextmanager
def daemon(kind: str, folder: Path, *words: str) -> Iterator[Path]:
    """A master or a worker, until it is not needed any more; its log."""
    home = java.home(os.environ, folder)
    log = folder / f"{kind}-{len(list(folder.iterdir()))}.log"
    line = [
        f"{home}/bin/java", "-Xmx256m", *QUICK.split(), "-cp", f"{SPARK}/jars/*",
        f"org.apache.spark.deploy.{kind.lower()}.{kind}",
        "--host", "127.0.0.1", "--port", "0", "--webui-port", "0", *words,
    ]  # fmt: skip
    # A worker starts its executors with the Java and the Spark that it is told of here.
    scala = next(SPARK.glob("jars/spark-core_*.jar")).name.removeprefix("spark-core_").partition("-")[0]
    own = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(SPARK), "JAVA_HOME": home}
    own["SPARK_SCALA_VERSION"] = scala
    with log.open("wb") as file:
        process = subprocess.Popen(line, stdout=file, stderr=file, env=os.environ | own)
    try:
        yield log
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def said(log: Path, pattern: str) -> str:
    """What a daemon says sooner or later."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := re.search(pattern, log.read_text()):
            return found[0]
        time.sleep(0.1)
    raise AssertionError(log.read_text()[-2000:])


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """The URL of a master with two workers."""
    folder.mkdir()
    with ExitStack() as stack:
        log = stack.enter_context(daemon("Master", folder))
        url = said(log, r"spark://127\.0\.0\.1:\d+")
        workers = [
            stack.enter_context(
                daemon(
                    "Worker", folder, "--cores", "1", "--memory", "512m", "--work-dir", f"{folder}/{n}", url
                )
            )
            for n in (1, 2)
        ]
        for worker in workers:
            said(worker, "Successfully registered with master")
        yield url


def submit(master: str, folder: Path, output: str) -> str:
    """Run the program as docs/pipeline.md says; what it tells."""
    program = folder / "run.py"
    program.write_text(PROGRAM)
    own = {"SPARK_LOCAL_IP": "127.0.0.1", "JAVA_HOME": java.home(os.environ, folder)}
    own["PYSPARK_PYTHON"] = sys.executable
    settings = [word for key, value in SETTINGS.items() for word in ("--conf", f"{key}={value}")]
    line: list[str | Path] = [
        SPARK / "bin" / "spark-submit", "--master", master, *settings,
        "--py-files", session.packed(folder), program,
        "run", "--input", str(folder / "lab"), "--output", str(folder / output), "--reports", REPORTS,
    ]  # fmt: skip
    ended = subprocess.run(
        line, env=os.environ | own, capture_output=True, text=True, timeout=5 * PATIENCE, check=False
    )
    assert ended.returncode == 0, ended.stderr[-3000:] + ended.stdout
    return ended.stdout


def contents(folder: Path) -> dict[str, list[str]]:
    """All rows of all tables, without when they were read."""
    tables = sorted(file.parent for layer in folder.iterdir() for file in layer.glob("*/_schema.json"))
    return {f"{table.parent.name}/{table.name}": rows(table) for table in tables}


def rows(table: Path) -> list[str]:
    files = [str(file) for file in table.rglob("*.parquet")]
    if not files:
        return []
    found = duckdb.read_parquet(files, hive_partitioning=True)
    names = sorted(name for name in found.columns if name != "ingestTime")
    return sorted(map(str, found.project(", ".join(f'"{name}"' for name in names)).fetchall()))


def test_a_cluster_makes_the_tables_that_one_process_makes(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    virtual.run(play(reading.load("undone-wipe"), tmp_path / "lab"))
    with cluster(tmp_path / "cluster") as master:
        assert '"table": "gold/broker_flaps"' in submit(master, tmp_path, "there")
    assert all(list((tmp_path / "cluster").glob(f"{n}/app-*/*/stderr")) for n in (1, 2)), "one had no work"
    words = ["--input", str(tmp_path / "lab"), "--output", str(tmp_path / "here"), "--reports", REPORTS]
    monkeypatch.setattr(command, "started", lambda flags: nullcontext(spark))
    assert command.main(["run", *words]) == 0
    made, expected = contents(tmp_path / "there"), contents(tmp_path / "here")
    assert made.keys() == expected.keys() >= {"silver/ns_event", "silver/route_fact", "gold/broker_flaps"}
    assert {name: len(found) for name, found in made.items() if found}.keys() >= {
        "bronze/lines",
        "silver/ns_event",
        "gold/broker_flaps",
    }
    assert made == expected
