"""Tables in an S3 bucket: killed runs, and two at once, end with the tables of one run on local disk."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

pytest.importorskip("moto", reason="make object-stores installs it")

from nsreport.tables import table_versions
from nsreport.tables.storage_options import read_storage_options
from tests.nsreport.s3_bucket import BUCKET, S3Bucket, serve_bucket
from tests.nsreport.submitting import PLACES, QUICK, REPORTS, contents

pytestmark = pytest.mark.skipif(
    "OBJECT_STORES" not in os.environ, reason="brings 700 MB and takes minutes: make object-stores"
)
KILL_AFTER_WRITES = (3, 15, 30, 45, 60, 70, 80, 90)
"""A run is killed after each of these numbers of requests that write to the bucket."""
PATIENCE = 900


@pytest.fixture(scope="module")
def bucket() -> Iterator[S3Bucket]:
    with serve_bucket() as serving:
        yield serving


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory, played: Callable[[str], Path]) -> dict[str, list[str]]:
    """The tables of an undisturbed run on local disk."""
    folder = tmp_path_factory.mktemp("local") / "reports"
    run = start_run(played("undone-wipe"), str(folder), {})
    output, _ = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0, output.decode()[-3000:]
    return contents(folder, PLACES)


def start_run(journals: Path, output: str, settings: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start `python -m nsreport run` with a process group of its own."""
    own = {"spark.driver.extraJavaOptions": QUICK, "spark.sql.shuffle.partitions": "2", **settings}
    conf = [word for key, value in own.items() for word in ("--conf", f"{key}={value}")]
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "nsreport", "run", "--input", str(journals), "--dir", output),
            *("--reports", REPORTS, *conf),
        ],
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def open_tables(bucket: S3Bucket, prefix: str) -> Iterator[tuple[str, DeltaTable]]:
    """Open the newest version of each table in the bucket."""
    options = read_storage_options(f"s3a://{BUCKET}", bucket.hadoop_settings.get)
    for name in bucket.list_tables(prefix):
        table = table_versions.open_table(f"s3a://{BUCKET}/{prefix}/{name}", storage_options=options)
        if table is not None:
            yield name, table


@contextmanager
def watch_tables(bucket: S3Bucket, prefix: str, seen: set[tuple[str, int]]) -> Iterator[None]:
    """Read all tables again and again: add the name and row count of each version; all its files exist."""
    is_ended = threading.Event()
    failures: list[str] = []

    def watch() -> None:
        while not is_ended.wait(0.2):
            try:
                for name, table in open_tables(bucket, prefix):
                    files = table_versions.list_files(table)
                    keys = set(bucket.list_keys(f"{prefix}/{name}/"))
                    failures.extend(
                        f"{name}/{file.path}" for file in files if f"{prefix}/{name}/{file.path}" not in keys
                    )
                    seen.add((name, sum(file.row_count or 0 for file in files)))
            except DeltaError as error:
                failures.append(repr(error))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        is_ended.set()
        watcher.join()
    assert failures == []


def read_bucket(bucket: S3Bucket, prefix: str, folder: Path) -> dict[str, list[str]]:
    bucket.download(prefix, folder)
    return contents(folder, PLACES)


def test_runs_that_are_killed_leave_whole_tables_and_lose_nothing(
    bucket: S3Bucket, expected: dict[str, list[str]], played: Callable[[str], Path], tmp_path: Path
) -> None:
    seen: set[tuple[str, int]] = set()
    killed_after: list[int] = []
    with watch_tables(bucket, "killed", seen):
        for write_count in KILL_AFTER_WRITES:
            run = start_run(played("undone-wipe"), f"s3a://{BUCKET}/killed", bucket.spark_settings)
            bucket.call_after_writes(write_count, partial(os.killpg, run.pid, signal.SIGKILL))
            output, _ = run.communicate(timeout=PATIENCE)
            if run.returncode == 0:
                break
            assert run.returncode == -signal.SIGKILL, output.decode()[-3000:]
            killed_after.append(write_count)
        bucket.call_after_writes(None)
        run = start_run(played("undone-wipe"), f"s3a://{BUCKET}/killed", bucket.spark_settings)
        output, _ = run.communicate(timeout=PATIENCE)
        assert run.returncode == 0, output.decode()[-3000:]
    # Each run has more requests than these: all kills happened.
    assert tuple(killed_after) == KILL_AFTER_WRITES
    assert read_bucket(bucket, "killed", tmp_path / "killed") == expected
    # A report has all its rows in every version.
    reports = {(name, count) for name, count in seen if name.startswith("gold/")}
    assert reports <= {(name, len(rows)) for name, rows in expected.items()}


def test_two_runs_at_once_make_the_tables_of_one(
    bucket: S3Bucket, expected: dict[str, list[str]], played: Callable[[str], Path], tmp_path: Path
) -> None:
    runs = [
        start_run(played("undone-wipe"), f"s3a://{BUCKET}/twice", bucket.spark_settings) for _ in range(2)
    ]
    outputs = [run.communicate(timeout=PATIENCE)[0].decode() for run in runs]
    codes = sorted(run.returncode for run in runs)
    assert codes in ([0, 0], [0, 1]), outputs
    for run, output in zip(runs, outputs, strict=True):
        assert run.returncode == 0 or "another run writes to" in output
    assert read_bucket(bucket, "twice", tmp_path / "twice") == expected
