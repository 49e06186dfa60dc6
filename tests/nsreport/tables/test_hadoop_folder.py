"""Files below a root, as Hadoop sees them."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from nsreport.tables.hadoop_folder import HadoopFolder


@pytest.fixture
def folders(spark: SparkSession, tmp_path: Path) -> HadoopFolder:
    return HadoopFolder(spark, str(tmp_path / "a b"))


def test_texts_are_written_whole_and_read(folders: HadoopFolder, tmp_path: Path) -> None:
    assert folders.read_text("x/y.json") is None
    folders.write("x/y.json", "é\n")
    folders.write("x/y.json", "ö\n")
    assert folders.read_text("x/y.json") == "ö\n"
    assert (tmp_path / "a b" / "x" / "y.json").read_text() == "ö\n"
    assert folders.qualify_path("x") == f"file:{tmp_path}/a b/x"


def test_hidden_files_are_none(folders: HadoopFolder) -> None:
    for name in ("t/d=1/f", "t/d=1/_SUCCESS", "t/_x/f", "t/d=2/c=3/g", "t/.h"):
        folders.write(name, "12345")
    assert folders.list_sized_files("t") == [("d=1/f", 5), ("d=2/c=3/g", 5)]
    assert folders.list_sized_files("nowhere") == []


def test_rows_are_those_that_a_file_says_it_has(spark: SparkSession, folders: HadoopFolder) -> None:
    spark.range(7).coalesce(1).write.parquet(folders.qualify_path("t"))
    [(name, _)] = folders.list_sized_files("t")
    assert folders.count_parquet_rows(f"t/{name}") == 7


def test_moving_replaces_what_is_there(folders: HadoopFolder) -> None:
    folders.write("new/f", "new")
    folders.write("old/deep/g", "old")
    folders.move("new", "old/deep")
    assert folders.list_sized_files("old") == [("deep/f", 3)]
    assert not folders.has_path("new")
    folders.remove("old")
    folders.remove("old")
    assert not folders.has_path("old")


def test_what_cannot_be_moved_is_said(folders: HadoopFolder) -> None:
    with pytest.raises(Exception, match="does not exist"):
        folders.move("nothing", "there")
