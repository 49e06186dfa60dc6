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
from pyspark.sql.functions import broadcast, col

import namesrv_core
import nsreport
from nsreport.runtime import java
from nsreport.runtime.class_archive import ClassArchive
from nsreport.runtime.java_classes import remember_java_classes

_TIME_ZONE_KEY, _PARTITIONS_KEY = "spark.sql.session.timeZone", "spark.sql.shuffle.partitions"
DEFAULT_SETTINGS = {
    _TIME_ZONE_KEY: "UTC",
    "spark.ui.enabled": "false",
    # Spark renders the plan as text after each step; an empty text saves that time.
    "spark.sql.maxPlanStringLength": "0",
    # A run compiles more query stages than the default cache holds.
    "spark.sql.codegen.cache.maxEntries": "1000",
    # Push long IN lists of event types down to the Parquet statistics.
    "spark.sql.parquet.pushdown.inFilterThreshold": "100",
    # Half the size of files with Spark's usual codec, for the same processor time.
    "spark.sql.parquet.compression.codec": "zstd",
    # Times of states rarely repeat, and their dictionary takes a tenth of the time of all tasks.
    "spark.hadoop.parquet.enable.dictionary#validFrom": "false",
    "spark.hadoop.parquet.enable.dictionary#validTo": "false",
    # A row of the only Python UDF is a whole file.
    "spark.sql.execution.python.udf.maxRecordsPerBatch": "1",
    # The driver lists the folders of a year faster than a Spark job.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "1000",
    "spark.ui.showConsoleProgress": "false",
    # Spark's Python workers import nothing from the current folder.
    "spark.executorEnv.PYTHONSAFEPATH": "1",
    # A commit of the table store says which files are complete.
    "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
    # Rows that `local_rows` keeps in Java hold times as java.time, which no time zone changes.
    "spark.sql.datetime.java8API.enabled": "true",
    # Each query posts its plan to listeners as text; the short form takes a tenth of the time.
    "spark.sql.ui.explainMode": "simple",
    # Otherwise each column function of PySpark tells Java, in four calls, which line of Python called it.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # Spark otherwise checks the whole plan after each rule of its optimizer.
    "spark.sql.lightweightPlanChangeValidation": "false",
}
"""Settings that differ from Spark's defaults; `start_session` adds the caller's settings."""

_ADAPTIVE_KEY = "spark.sql.adaptive.enabled"
_SETTINGS_BY_SIZE = {
    "spark.sql.codegen.wholeStage": ("false", "true"),
    "spark.sql.codegen.factoryMode": ("NO_CODEGEN", "FALLBACK"),
    _ADAPTIVE_KEY: ("false", "true"),
    # Filters that Spark infers save work on files; a long plan of rows in memory only grows by them.
    "spark.sql.constraintPropagation.enabled": ("false", "true"),
}
"""Values for few rows and for many rows: for few rows, compiling a query takes longer than running it."""

_LOCAL_SETTINGS_BY_SIZE = {
    "spark.sql.leafNodeDefaultParallelism": ("1", "2"),
    _PARTITIONS_KEY: ("1", "8"),
    # Rows in memory are one partition (`local_rows`): a join of them needs no broadcast job.
    "spark.sql.autoBroadcastJoinThreshold": ("-1", "10485760"),
}
"""The same on one machine: a task of a long plan takes several milliseconds, even without rows."""

FEW_ROWS = 50_000
"""Up to this many rows Spark interprets queries instead of compiling them."""

DAY_ROWS = 500_000
"""Up to this many rows, those of two busy days, a local session plans each query once, for a task on each
processor. Otherwise it plans queries again after each step, which pays only for many rows."""

_JAVA_OPTIONS_KEY = "spark.driver.extraJavaOptions"
_SHORT_RUN_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
_SHORT_RUN_COLLECTOR = "-XX:+UseSerialGC -Xmn300m -XX:InitialRAMPercentage=25 -XX:MetaspaceSize=256m"
"""Java's usual collector lets the heap of a short run grow to 3 GB, which costs more than collecting it."""

_LONG_RUN_OPTIONS = (
    "-XX:Tier4InvocationThreshold=50000 -XX:Tier4MinInvocationThreshold=6000 "
    "-XX:Tier4CompileThreshold=150000 -XX:Tier4BackEdgeThreshold=400000"
)
"""Ten times Java's limits: the optimizing compiler then takes only code that runs for each row. With Java's
limits it takes 30 % of the processor time of a million events (docs/explanation/report-runs.md)."""

_LONG_RUN_COLLECTOR = "-XX:+UseParallelGC"
"""Java's usual collector avoids pauses, which no run notices, and takes an eighth more processor time."""

_MEMORY_KEY = "spark.driver.memory"
_MIN_MEMORY_BYTES, _MAX_MEMORY_BYTES = 1 << 30, 4 << 30
_CONTAINER_LIMIT_FILE = Path("/sys/fs/cgroup/memory.max")
"""The memory limit of the container in bytes, or `max`."""

_JAVA_EXIT_SECONDS = 600
"""Java writes the class archive when it exits: a minute of work on a busy machine, for once."""


def start_session(
    cache_folder: Path, master_url: str | None = None, extra_settings: Mapping[str, str] | None = None
) -> SparkSession:
    """Start a session; without `master_url` on the master that spark-submit configured, or on this machine.

    `cache_folder` holds files that are made once. Raises `java.JavaNotFoundError`.
    """
    was_submitted = is_submitted()
    if not was_submitted:
        os.environ["JAVA_HOME"] = java.find_java_home(os.environ, cache_folder)
        _set_spark_home()
    # Workers use the Python of this process, not the first one on the path.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    submit_settings = _read_submit_settings() if was_submitted else {}
    is_local = (master_url or submit_settings.get("spark.master", "local")).startswith("local")
    if is_local:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    session_builder = SparkSession.builder.appName("nsreport")
    for setting_name, setting_value in {
        **_choose_defaults(is_local, submit_settings),
        **(extra_settings or {}),
    }.items():
        session_builder = session_builder.config(setting_name, setting_value)
    if master_url is not None:
        session_builder = session_builder.master(master_url)
    spark = session_builder.getOrCreate()
    remember_java_classes(spark._jvm)
    if master_url is not None and not is_local:
        spark.sparkContext.addPyFile(str(pack_packages(cache_folder)))
    adapt_session(spark, 0)
    return spark


def _set_spark_home() -> None:
    """Name the installed Spark: PySpark would look into the parent of the current folder first."""
    package_folder = Path(pyspark.__path__[0])
    for spark_home in (package_folder / "spark-distribution", package_folder):
        if (spark_home / "bin" / "spark-submit").is_file():
            os.environ.setdefault("SPARK_HOME", str(spark_home))


def is_submitted() -> bool:
    """Whether spark-submit started this process; otherwise this process starts Spark."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def _read_submit_settings() -> dict[str, str]:
    """Return the settings that spark-submit passed on."""
    SparkContext._ensure_initialized()
    return dict(SparkConf().getAll())


def _choose_defaults(is_local: bool, submit_settings: Mapping[str, str]) -> dict[str, str]:
    """Return DEFAULT_SETTINGS without those that spark-submit sets; on one machine also Java's memory."""
    default_settings = dict(DEFAULT_SETTINGS)
    if is_local and not submit_settings and not _has_memory_setting(os.environ):
        default_settings[_MEMORY_KEY] = f"{default_memory_bytes() >> 20}m"
    # All times are UTC: this setting wins over spark-submit's.
    return {
        setting_name: setting_value
        for setting_name, setting_value in default_settings.items()
        if setting_name == _TIME_ZONE_KEY or setting_name not in submit_settings
    }


def _has_memory_setting(environment: Mapping[str, str]) -> bool:
    """Whether submit arguments, the environment or Spark's defaults file set Java's memory."""
    submit_arguments = environment.get("PYSPARK_SUBMIT_ARGS", "")
    if "SPARK_DRIVER_MEMORY" in environment:
        return True
    if "--driver-memory" in submit_arguments or _MEMORY_KEY in submit_arguments:
        return True
    spark_home = environment.get("SPARK_HOME", Path(pyspark.__path__[0]))
    defaults_file = Path(environment.get("SPARK_CONF_DIR", Path(spark_home, "conf")), "spark-defaults.conf")
    return defaults_file.is_file() and any(
        re.match(rf"\s*{re.escape(_MEMORY_KEY)}[\s=:]", settings_line)
        for settings_line in defaults_file.read_text().splitlines()
    )


def default_memory_bytes() -> int:
    """Return Java's memory limit if none is set: a quarter of the machine's memory, from 1 to 4 GiB."""
    total_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if (
        _CONTAINER_LIMIT_FILE.is_file()
        and (limit_text := _CONTAINER_LIMIT_FILE.read_text().strip()).isdigit()
    ):
        total_bytes = min(total_bytes, int(limit_text))
    return max(_MIN_MEMORY_BYTES, min(total_bytes // 4, _MAX_MEMORY_BYTES))


def adapt_session(spark: SparkSession, row_count: int, *, has_long_plans: bool = False) -> None:
    """Adapt the session to tables of about `row_count` rows; settings of the operator stay.

    A local session turns adaptive execution off up to `DAY_ROWS`, and for queries with `has_long_plans`:
    replanning them after each step takes a quarter of the time (measured with 10 million events) and changes
    little. On a cluster it stays on: nothing else reduces Spark's 200 shuffle partitions for few rows.
    """
    spark_conf = spark.sparkContext.getConf()
    is_few, is_local = row_count <= FEW_ROWS, str(spark.sparkContext.master).startswith("local")
    is_planned_once = (row_count <= DAY_ROWS or has_long_plans) and is_local
    settings_by_size = {**_SETTINGS_BY_SIZE, **(_LOCAL_SETTINGS_BY_SIZE if is_local else {})}
    for setting_name, (few_value, many_value) in settings_by_size.items():
        is_for_few = is_planned_once if setting_name == _ADAPTIVE_KEY else is_few
        if not spark_conf.contains(setting_name):
            spark.conf.set(setting_name, few_value if is_for_few else many_value)
    if FEW_ROWS < row_count <= DAY_ROWS and is_local and not spark_conf.contains(_PARTITIONS_KEY):
        spark.conf.set(_PARTITIONS_KEY, str(min(8, spark.sparkContext.defaultParallelism)))


def gather_rows(table_rows: DataFrame, column_names: Sequence[str]) -> DataFrame:
    """Bring rows with equal values in these columns into one task, which writes one file.

    With adaptive execution, and only then, Spark splits large groups again. If queries have one partition,
    it takes no step to bring rows together.
    """
    if table_rows.sparkSession.conf.get(_PARTITIONS_KEY) == "1":
        return table_rows.coalesce(1)
    if table_rows.sparkSession.conf.get(_ADAPTIVE_KEY) == "true":
        return table_rows.hint("rebalance", *map(col, column_names))
    return table_rows.repartition(*column_names)


def gather_days(table_rows: DataFrame) -> DataFrame:
    """Bring the rows of a day together, unless the session reads so few rows that few tasks have them."""
    conf = table_rows.sparkSession.conf
    is_day = conf.get(_ADAPTIVE_KEY) == "false" and conf.get(_PARTITIONS_KEY) != "1"
    return table_rows if is_day else gather_rows(table_rows, ["date"])


def broadcast_rows(table_rows: DataFrame) -> DataFrame:
    """Let Spark copy these few rows to all tasks that join them.

    If queries have one partition, a copy would only be one more job.
    """
    is_one_task = table_rows.sparkSession.conf.get(_PARTITIONS_KEY) == "1"
    return table_rows if is_one_task else broadcast(table_rows)


def choose_java_options(given_options: str, *, is_short_run: bool) -> str:
    """Return options of Java's compiler and collector; Java refuses to start with two collectors."""
    compiler_options, collector_options = (
        (_SHORT_RUN_OPTIONS, _SHORT_RUN_COLLECTOR)
        if is_short_run
        else (_LONG_RUN_OPTIONS, _LONG_RUN_COLLECTOR)
    )
    has_collector = re.search(r"-XX:\+Use\w+GC\b", given_options) is not None
    return compiler_options if has_collector else f"{compiler_options} {collector_options}"


class SparkProgram:
    """Owns the session of this process. From the second start on, a class archive makes the start faster.

    If `is_short_run`, Java skips its optimizing compiler, which takes half the work of a run of one or two
    minutes and pays off only in longer runs. These use it for the code that runs most.
    """

    def __init__(
        self,
        cache_folder: Path,
        master_url: str | None,
        extra_settings: Mapping[str, str],
        *,
        is_short_run: bool = False,
    ) -> None:
        self._class_archive: ClassArchive | None = None
        self._cache_folder = cache_folder
        if not is_submitted():
            self._class_archive = ClassArchive(cache_folder, java.find_java_home(os.environ, cache_folder))
            given_options = extra_settings.get(_JAVA_OPTIONS_KEY, "")
            java_options = (
                f"{self._class_archive.java_options} "
                f"{choose_java_options(given_options, is_short_run=is_short_run)} {given_options}"
            )
            extra_settings = {**extra_settings, _JAVA_OPTIONS_KEY: java_options.strip()}
        self.session = start_session(cache_folder, master_url, extra_settings)
        if is_short_run:
            # Otherwise Python tells Java of each column that it no longer uses: a third of all calls.
            java_gateway: Any = self.session.sparkContext._gateway
            java_gateway.gateway_property.enable_memory_management = False

    def stop(self) -> None:
        self.session.stop()
        _zip_path(self._cache_folder).unlink(missing_ok=True)
        if self._class_archive is not None:
            self._class_archive.keep_new_archive(_end_java)


def _end_java() -> int:
    """Stop Java and wait for it; return its exit code, or -1 after _JAVA_EXIT_SECONDS."""
    java_gateway: Any = SparkContext._gateway
    java_process: subprocess.Popen[bytes] = java_gateway.proc
    assert java_process.stdin is not None
    java_gateway.shutdown()
    # Java exits when its stdin is closed.
    java_process.stdin.close()
    try:
        return java_process.wait(_JAVA_EXIT_SECONDS)
    except subprocess.TimeoutExpired:
        return -1


def pack_packages(cache_folder: Path) -> Path:
    """Write the packages that workers on other machines need to a zip file; return its path."""
    cache_folder.mkdir(parents=True, exist_ok=True)
    zip_path = _zip_path(cache_folder)
    with zipfile.ZipFile(zip_path, "w") as zip_file:
        for package in (nsreport, namesrv_core):
            [package_folder] = [Path(package_path) for package_path in package.__path__]
            for source_file in sorted(package_folder.rglob("*.py")):
                zip_file.write(source_file, source_file.relative_to(package_folder.parent))
    return zip_path


def _zip_path(cache_folder: Path) -> Path:
    return cache_folder / f"nsreport-{os.getpid()}.zip"
