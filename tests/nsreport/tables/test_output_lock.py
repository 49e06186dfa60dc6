"""Folders that a run refuses, and the lock of those on this machine."""

from pathlib import Path

import pytest

from nsreport.tables.output_lock import (
    OutputBusyError,
    OutputFileSystemError,
    check_output_file_system,
    lock_output,
)


@pytest.mark.parametrize("url", ["gs://bucket/reports", "abfs://c@a.example.com/r"])
def test_object_stores_but_s3_are_refused(url: str) -> None:
    with pytest.raises(OutputFileSystemError, match=f'cannot write tables to "{url}": pass'):
        check_output_file_system(url)


def test_hdfs_is_accepted_but_not_a_path_that_delta_rs_encodes() -> None:
    check_output_file_system("hdfs://host:9000/user/reports_1.a-b~")
    for path in ("my reports", "größe", "50%"):
        with pytest.raises(OutputFileSystemError, match="name a folder of HDFS with letters"):
            check_output_file_system(f"hdfs://host:9000/{path}")


def test_a_folder_of_this_machine_has_one_run_at_a_time(tmp_path: Path) -> None:
    for place in (f"{tmp_path}/a b", f"file://{tmp_path}/c"):
        check_output_file_system(place)
        busy = pytest.raises(OutputBusyError, match="another run writes to")
        with lock_output(place), busy, lock_output(place):
            pass
        with lock_output(place):
            pass
