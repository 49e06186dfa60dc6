"""Session: starts, tunes and stops the Spark session, on any master."""

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyspark
from pyspark import SparkConf, SparkContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col

import namesrv_core
import nsreport
from nsreport import java
from nsreport.classes import Archive

_ZONE, _PARTITIONS = "spark.sql.session.timeZone", "spark.sql.shuffle.partitions"
SETTINGS = {
    _ZONE: "UTC",
    _PARTITIONS: "8",
    "spark.ui.enabled": "false",
    # Spark renders the plan as text after each step; an empty text saves that time.
    "spark.sql.maxPlanStringLength": "0",
    # A run compiles more query stages than the default cache holds.
    "spark.sql.codegen.cache.maxEntries": "1000",
    # Push long IN lists of event types down to the Parquet statistics.
    "spark.sql.parquet.pushdown.inFilterThreshold": "100",
    # A row of the only Python UDF is a whole file.
    "spark.sql.execution.python.udf.maxRecordsPerBatch": "1",
    # The driver lists the folders of a year faster than a Spark job.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "1000",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.sources.partitionOverwriteMode": "dynamic",
}
"""Settings that differ from Spark's defaults; `start_session` adds the caller's settings."""

_ADAPTIVE = "spark.sql.adaptive.enabled"
_PROGRAMS = {
    "spark.sql.codegen.wholeStage": ("false", "true"),
    "spark.sql.codegen.factoryMode": ("NO_CODEGEN", "FALLBACK"),
    _ADAPTIVE: ("false", "true"),
}
"""Values for few rows and for many rows: for few rows, compiling a query takes longer than running it."""

FEW = 50_000
"""Up to this many rows Spark interprets queries instead of compiling them."""

_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_SOON = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
_MEMORY = "spark.driver.memory"
_LEAST_MEMORY, _MOST_MEMORY = 1 << 30, 4 << 30
_CONTAINER = Path("/sys/fs/cgroup/memory.max")
"""The memory limit of the container in bytes, or `max`."""

_PATIENCE = 120


def start(cache: Path, master: str | None = None, settings: Mapping[str, str] | None = None) -> SparkSession:
    """Start a session; without `master_url` on the master that spark-submit configured, or on this machine.

    `cache_folder` holds files that are made once. Raises `java.JavaNotFoundError`.
    """
    submitted = is_submitted()
    if not submitted:
        os.environ["JAVA_HOME"] = java.home(os.environ, cache)
    # Workers use the Python of this process, not the first one on the path.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    given = _given() if submitted else {}
    local = (master or given.get("spark.master", "local")).startswith("local")
    if local:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.appName("nsreport")
    for key, value in {**_defaults(local, given), **(settings or {})}.items():
        builder = builder.config(key, value)
    if master is not None:
        builder = builder.master(master)
    started = builder.getOrCreate()
    if master is not None and not local:
        started.sparkContext.addPyFile(str(packed(cache)))
    return started


def is_submitted() -> bool:
    """Whether spark-submit started this process; otherwise this process starts Spark."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def _given() -> dict[str, str]:
    """Return the settings that spark-submit passed on."""
    SparkContext._ensure_initialized()
    return dict(SparkConf().getAll())


def _defaults(is_local: bool, given: Mapping[str, str]) -> dict[str, str]:
    """Return DEFAULT_SETTINGS without those that spark-submit sets, or that fit only a single machine."""
    found = dict(SETTINGS)
    if not is_local:
        del found[_PARTITIONS]
    elif not given and not _has_memory(os.environ):
        found[_MEMORY] = f"{memory() >> 20}m"
    # All times are UTC: this setting wins over spark-submit's.
    return {key: value for key, value in found.items() if key == _ZONE or key not in given}


def _has_memory(environment: Mapping[str, str]) -> bool:
    """Whether submit arguments, the environment or Spark's defaults file set Java's memory."""
    given = environment.get("PYSPARK_SUBMIT_ARGS", "")
    if "SPARK_DRIVER_MEMORY" in environment:
        return True
    if "--driver-memory" in given or _MEMORY in given:
        return True
    home = environment.get("SPARK_HOME", Path(pyspark.__path__[0]))
    defaults = Path(environment.get("SPARK_CONF_DIR", Path(home, "conf")), "spark-defaults.conf")
    return defaults.is_file() and any(
        re.match(rf"\s*{re.escape(_MEMORY)}[\s=:]", line) for line in defaults.read_text().splitlines()
    )


def memory() -> int:
    """Return Java's memory limit if none is set: a quarter of the machine's memory, from 1 to 4 GiB."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if _CONTAINER.is_file() and (limit := _CONTAINER.read_text().strip()).isdigit():
        whole = min(whole, int(limit))
    return max(_LEAST_MEMORY, min(whole // 4, _MOST_MEMORY))


def suit(spark: SparkSession, rows: int, *, asks_much: bool = False) -> None:
    """Adapt the session to tables of about `row_count` rows; settings of the operator stay.

    A local session turns adaptive execution off for few rows, and for queries with `has_long_plans`:
    replanning them after each step takes a quarter of the time (measured with 10 million events) and changes
    little. On a cluster it stays on: nothing else reduces Spark's 200 shuffle partitions for few rows.
    """
    given = spark.sparkContext.getConf()
    is_few = rows <= FEW
    is_planned_once = (is_few or asks_much) and str(spark.sparkContext.master).startswith("local")
    for key, (few, many) in _PROGRAMS.items():
        is_for_few = is_planned_once if key == _ADAPTIVE else is_few
        if not given.contains(key):
            spark.conf.set(key, few if is_for_few else many)


def gathered(rows: DataFrame, columns: Sequence[str]) -> DataFrame:
    """Bring rows with equal values in these columns into one task, which writes one file.

    With adaptive execution, and only then, Spark splits large groups again.
    """
    if rows.sparkSession.conf.get(_ADAPTIVE) == "true":
        return rows.hint("rebalance", *map(col, columns))
    return rows.repartition(*columns)


class Program:
    """Owns the session of this process. From the second start on, a class archive makes the start faster.

    If `is_short_run`, Java skips its optimizing compiler, which takes half the work of a run of one or two
    minutes and pays off only in longer runs.
    """

    def __init__(
        self, cache: Path, master: str | None, settings: Mapping[str, str], *, ends_soon: bool = False
    ) -> None:
        self._archive: Archive | None = None
        self._cache = cache
        if not is_submitted():
            self._archive = Archive(cache, java.home(os.environ, cache))
            given = settings.get(_JAVA_OPTIONS, "")
            compiling = _SOON if ends_soon else ""
            options = f"{self._archive.flags} {compiling} {given}"
            settings = {**settings, _JAVA_OPTIONS: options.strip()}
        self.session = start(cache, master, settings)

    def stop(self) -> None:
        self.session.stop()
        _pack(self._cache).unlink(missing_ok=True)
        if self._archive is not None:
            self._archive.keep(_end_java)


def _end_java() -> int:
    """Stop Java and wait for it; return its exit code, or -1 after _JAVA_EXIT_SECONDS."""
    gateway: Any = SparkContext._gateway
    process: subprocess.Popen[bytes] = gateway.proc
    assert process.stdin is not None
    gateway.shutdown()
    # Java exits when its stdin is closed.
    process.stdin.close()
    try:
        return process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        return -1


def packed(cache: Path) -> Path:
    """Write the packages that workers on other machines need to a zip file; return its path."""
    cache.mkdir(parents=True, exist_ok=True)
    path = _pack(cache)
    with zipfile.ZipFile(path, "w") as archive:
        for package in (nsreport, namesrv_core):
            [folder] = [Path(place) for place in package.__path__]
            for source in sorted(folder.rglob("*.py")):
                archive.write(source, source.relative_to(folder.parent))
    return path


def _pack(cache: Path) -> Path:
    return cache / f"nsreport-{os.getpid()}.zip"
