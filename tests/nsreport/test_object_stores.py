"""Input in abfs:// and gs:// on emulators has the lines of a folder with the same files (object-stores)."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path
from shutil import copytree
from typing import Any

import duckdb
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from nsreport import command
from nsreport.runtime import session
from tests.nsreport.object_stores import ACCOUNT_HOST, azurite, google_storage

pytestmark = pytest.mark.skipif(
    "OBJECT_STORES" not in os.environ, reason="brings 200 MB and takes minutes: make object-stores"
)
HADOOP = "3.5.0"
URLS = {"abfs": f"abfs://journals@{ACCOUNT_HOST}/ns", "gs": "gs://journals/ns"}


@pytest.fixture(scope="module")
def journals(tmp_path_factory: pytest.TempPathFactory, played: Callable[[str], Path]) -> Path:
    """A folder of buckets with the journals of a scenario."""
    buckets = tmp_path_factory.mktemp("buckets")
    copytree(played("undone-wipe"), buckets / "journals" / "ns")
    return buckets


@pytest.fixture(scope="module")
def remote_spark(tmp_path_factory: pytest.TempPathFactory, journals: Path) -> Iterator[SparkSession]:
    """A session with both connectors; the journals are in both stores."""
    folder = tmp_path_factory.mktemp("stores")
    packages = [f"org.apache.hadoop:hadoop-{name}:{HADOOP}" for name in ("azure", "gcp")]
    settings = {"spark.jars.packages": ",".join(packages), "spark.driver.memory": "1g"}
    with ExitStack() as stack:
        settings |= stack.enter_context(azurite(folder))
        settings |= stack.enter_context(google_storage(folder, journals))
        spark = session.start_session(folder, "local[2]", settings)
        stack.callback(spark.stop)
        jvm: Any = spark.sparkContext._jvm
        make_path = jvm.org.apache.hadoop.fs.Path
        url = make_path(URLS["abfs"])
        hadoop_conf: Any = spark.sparkContext._jsc.hadoopConfiguration()
        file_system = url.getFileSystem(hadoop_conf)
        file_system.copyFromLocalFile(False, True, make_path(f"file://{journals}/journals/ns"), url)
        yield spark


@pytest.mark.parametrize("scheme", URLS)
def test_an_object_store_has_the_lines_of_a_folder(
    scheme: str, remote_spark: SparkSession, journals: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "open_spark_session", lambda flags: nullcontext(remote_spark))
    lines: list[list[Any]] = []
    for url in (URLS[scheme], str(journals)):
        out = tmp_path / str(len(lines))
        line = ["run", "--input", url, "--dir", str(out), "--reports", "config_changes"]
        assert command.main(line) == command.EXIT_DONE
        table = duckdb.read_parquet(DeltaTable(out / "bronze/lines").file_uris())
        lines.append(sorted(table.project("text, line").fetchall()))
    assert lines[0] == lines[1] != []
