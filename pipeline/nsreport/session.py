"""The Spark session: the settings that this work needs, on whatever master."""

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
    # Plans as text, which nobody looks at, are made anew at each step of them.
    "spark.sql.maxPlanStringLength": "0",
    # Programs made for a step are kept until it is asked for again: a run has more steps than Spark keeps.
    "spark.sql.codegen.cache.maxEntries": "1000",
    # Lists of kinds are looked up in the statistics of files, however long they are.
    "spark.sql.parquet.pushdown.inFilterThreshold": "100",
    # A row is a whole file there.
    "spark.sql.execution.python.udf.maxRecordsPerBatch": "1",
    # One process lists the folders of a year quicker than a job does.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "1000",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.sources.partitionOverwriteMode": "dynamic",
}
"""Where Spark's own defaults do not fit; `start` adds those of the caller."""

_ADAPTIVE = "spark.sql.adaptive.enabled"
_PROGRAMS = {
    "spark.sql.codegen.wholeStage": ("false", "true"),
    "spark.sql.codegen.factoryMode": ("NO_CODEGEN", "FALLBACK"),
    _ADAPTIVE: ("false", "true"),
}
"""How few rows are worked on, and how many: queries of few take less time than making programs of them."""

FEW = 50_000
"""Rows that are worked on one by one, and not by programs made for them."""

_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_SOON = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
_MEMORY = "spark.driver.memory"
_LEAST_MEMORY, _MOST_MEMORY = 1 << 30, 4 << 30
_CONTAINER = Path("/sys/fs/cgroup/memory.max")
"""What this process and those beside it may have, in bytes, or a word where there is no bound."""

_PATIENCE = 120


def start(cache: Path, master: str | None = None, settings: Mapping[str, str] | None = None) -> SparkSession:
    """A session; without `master` the one that is configured (spark-submit), or this machine's cores.

    `cache` is a folder for what is made once. Raises `java.NoJava`.
    """
    submitted = is_submitted()
    if not submitted:
        os.environ["JAVA_HOME"] = java.home(os.environ, cache)
    # Workers run the Python that runs here, not the first of the path.
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
    """Whether Spark has started this program (spark-submit), and not this program Spark."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def _given() -> dict[str, str]:
    """What spark-submit was told."""
    SparkContext._ensure_initialized()
    return dict(SparkConf().getAll())


def _defaults(is_local: bool, given: Mapping[str, str]) -> dict[str, str]:
    """Our settings, without those that spark-submit was given, or that are for one machine."""
    found = dict(SETTINGS)
    if not is_local:
        del found[_PARTITIONS]
    elif not given and not _has_memory(os.environ):
        found[_MEMORY] = f"{memory() >> 20}m"
    # Our times are of UTC, whatever anybody says.
    return {key: value for key, value in found.items() if key == _ZONE or key not in given}


def _has_memory(environment: Mapping[str, str]) -> bool:
    """Whether that of Java is said: by what started it, in the environment, or in Spark's defaults."""
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
    """How many bytes Java may have where nobody says it: a quarter of this machine's, within bounds."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if _CONTAINER.is_file() and (limit := _CONTAINER.read_text().strip()).isdigit():
        whole = min(whole, int(limit))
    return max(_LEAST_MEMORY, min(whole // 4, _MOST_MEMORY))


def suit(spark: SparkSession, rows: int, *, asks_much: bool = False) -> None:
    """Set the session up for tables of about so many rows; what the operator has set, stays.

    What `asks_much` of them has long plans. On one machine, to plan the rest of such a one anew whenever a
    step of it is done takes a quarter of the time (10 million events), and changes little. On others, where
    Spark takes two hundred partitions for whatever it is, nothing else makes few of them where rows are few.
    """
    given = spark.sparkContext.getConf()
    is_few = rows <= FEW
    is_planned_once = (is_few or asks_much) and str(spark.sparkContext.master).startswith("local")
    for key, (few, many) in _PROGRAMS.items():
        is_for_few = is_planned_once if key == _ADAPTIVE else is_few
        if not given.contains(key):
            spark.conf.set(key, few if is_for_few else many)


def gathered(rows: DataFrame, columns: Sequence[str]) -> DataFrame:
    """The same with all that are alike in these columns in one task, to be written into one file.

    Those that are many are parted again where queries are planned as they go, and only there.
    """
    if rows.sparkSession.conf.get(_ADAPTIVE) == "true":
        return rows.hint("rebalance", *map(col, columns))
    return rows.repartition(*columns)


class Program:
    """A session of this process's own, quick to start from the second time on, and its end.

    Where it `ends_soon`, Java compiles nothing for the long run: that is half the work of a run of a minute
    or two, and nobody lives to see it paid back.
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
    """Have Java end, and wait until it has; its exit code, -1 where it takes too long."""
    gateway: Any = SparkContext._gateway
    process: subprocess.Popen[bytes] = gateway.proc
    assert process.stdin is not None
    gateway.shutdown()
    # It ends when nobody is there to tell it anything.
    process.stdin.close()
    try:
        return process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        return -1


def packed(cache: Path) -> Path:
    """The packages that workers on other machines need, in a file."""
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
