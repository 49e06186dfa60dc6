"""A cluster of Spark on loopback, with two executors, makes the tables that one process makes."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from nsreport.runtime import java
from tests.interop.processes import Child
from tests.nsreport.submitting import PATIENCE, QUICK, SPARK, assert_same_as_here, submit


def daemon(kind: str, folder: Path, *words: str) -> Child:
    """A master or a worker."""
    home = java.find_java_home(os.environ, folder)
    line = [
        f"{home}/bin/java", "-Xmx256m", *QUICK.split(), "-cp", f"{SPARK}/jars/*",
        f"org.apache.spark.deploy.{kind.lower()}.{kind}",
        "--host", "127.0.0.1", "--port", "0", "--webui-port", "0", *words,
    ]  # fmt: skip
    # A worker starts its executors with the Java and the Spark that it is told of here.
    scala = next(SPARK.glob("jars/spark-core_*.jar")).name.removeprefix("spark-core_").partition("-")[0]
    own = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(SPARK), "JAVA_HOME": home}
    own["SPARK_SCALA_VERSION"] = scala
    return Child(line, folder / f"{kind}-{len(list(folder.iterdir()))}.log", own)


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """The URL of a master with a worker for two executors."""
    folder.mkdir()
    with ExitStack() as stack:
        master = daemon("Master", folder)
        stack.callback(master.stop, PATIENCE)
        url = master.wait_for_line("spark://127.0.0.1:", PATIENCE).split()[-1]
        worker = daemon("Worker", folder, "--cores", "2", "--memory", "1g", "--work-dir", str(folder), url)
        stack.callback(worker.stop, PATIENCE)
        worker.wait_for_line("Successfully registered with master", PATIENCE)
        yield url


def test_a_cluster_makes_the_tables_that_one_process_makes(
    tmp_path: Path, spark: SparkSession, played: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    journals, there = played("undone-wipe"), tmp_path / "there"
    with cluster(tmp_path / "cluster") as master:
        told = submit(
            tmp_path, str(journals), str(there), {"spark.master": master, "spark.driver.host": "127.0.0.1"}
        )
    assert '"table": "gold/broker_flaps"' in told
    assert len(list((tmp_path / "cluster").glob("app-*/*/stderr"))) == 2, "one had no work"
    assert_same_as_here(there, journals, spark, monkeypatch)
