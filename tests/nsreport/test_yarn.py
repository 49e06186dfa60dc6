"""The pipeline on YARN, with its journals and tables in HDFS: Hadoop's own small cluster, on loopback."""

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from nsreport.tables.output_lock import OutputBusyError
from nsreport.tables.table_layout import TableSpec
from nsreport.tables.table_store import TableStore
from tests.interop import jars
from tests.interop.processes import Child
from tests.nsreport.submitting import PATIENCE, PLACES, SPARK, assert_same_as_here, submit

pytestmark = [
    pytest.mark.interop,
    pytest.mark.skipif("YARN" not in os.environ, reason="takes two minutes: `make yarn` runs it"),
]

CLIENT = "hadoop-client-api-"


@contextmanager
def hadoop(folder: Path) -> Iterator[Path]:
    """HDFS and YARN of the release that Spark has clients of; the folder of their settings."""
    version = next(SPARK.glob(f"jars/{CLIENT}*.jar")).stem.removeprefix(CLIENT)
    line = ["java", "-Xmx512m", *jars.compiled("Yarn", version, jars.hadoop(version)), str(folder)]
    process = Child(line, folder / "log", talks=True)
    try:
        process.wait_for_line("ready", PATIENCE)
        try:
            yield folder / "conf"
        except BaseException:
            # What still runs on it ends with it.
            process.write("\n")
            process.wait(PATIENCE)
            raise
    finally:
        process.stop()


def copy(conf: Path, *words: str) -> None:
    """Have `hadoop fs` copy a folder."""
    shell = ["java", "-cp", f"{conf}:{SPARK}/jars/*", "org.apache.hadoop.fs.FsShell", *words]
    subprocess.run(shell, check=True, capture_output=True, timeout=PATIENCE)


def test_yarn_makes_the_tables_that_one_process_makes(
    tmp_path: Path, spark: SparkSession, played: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    journals, there = played("undone-wipe"), tmp_path / "there"
    settings = {
        "spark.master": "yarn",
        "spark.submit.deployMode": "cluster",
        "spark.executor.instances": "1",
        # All machines have Spark here, and need not be sent it.
        "spark.yarn.jars": f"local:{SPARK}/jars/*",
    }
    with hadoop(tmp_path / "cluster") as conf:
        monkeypatch.setenv("HADOOP_CONF_DIR", str(conf))
        copy(conf, "-put", str(journals), "/journals")
        submit(tmp_path, "hdfs:///journals", "hdfs:///reports", settings)
        copy(conf, "-get", "/reports", str(there))
    assert_same_as_here(there, journals, spark, monkeypatch, PLACES)


def test_tables_in_hdfs_keep_their_rows_and_refuse_a_second_writer(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = TableSpec("gold/growth", ("date", "cluster"))
    first_day, second_day = date(2025, 2, 1), date(2025, 2, 2)
    # Spark and delta-rs encode this name in their paths in different ways.
    columns, cluster = "date date, cluster string, topics int", "a b/ü%20:"
    with hadoop(tmp_path / "cluster") as conf:
        monkeypatch.setenv("HADOOP_CONF_DIR", str(conf))
        [address] = re.findall(r"hdfs://[^<\s]+", (conf / "core-site.xml").read_text())

        def store() -> TableStore:
            return TableStore(spark, f"{address}/reports", timedelta(0))

        both = [(first_day, cluster, 1), (second_day, cluster, 2)]
        assert store().replace_rows(table, spark.createDataFrame(both, columns)) == 2
        late = store()
        assert late.count_rows(table) == 2
        changed = store()
        newer = spark.createDataFrame([(first_day, cluster, 3)], columns)
        assert changed.replace_rows(table, newer, {first_day}.__contains__) == 1
        changed.remove_old_files()
        with pytest.raises(OutputBusyError):
            late.replace_rows(table, newer, {first_day}.__contains__)
        kept = store().read_table(table)
        assert kept is not None
        assert sorted(row.topics for row in kept.collect()) == [2, 3]
        assert {row.cluster for row in kept.collect()} == {cluster}
