"""Files below a root, as Hadoop sees them."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from nsreport.folders import Folders


@pytest.fixture
def folders(spark: SparkSession, tmp_path: Path) -> Folders:
    return Folders(spark, str(tmp_path / "a b"))


def test_texts_are_written_whole_and_read(folders: Folders, tmp_path: Path) -> None:
    assert folders.text("x/y.json") is None
    folders.write("x/y.json", "é\n")
    folders.write("x/y.json", "ö\n")
    assert folders.text("x/y.json") == "ö\n"
    assert (tmp_path / "a b" / "x" / "y.json").read_text() == "ö\n"
    assert folders.path("x") == f"file:{tmp_path}/a b/x"


def test_hidden_files_are_none(folders: Folders) -> None:
    for name in ("t/d=1/f", "t/d=1/_SUCCESS", "t/_x/f", "t/d=2/c=3/g", "t/.h"):
        folders.write(name, "12345")
    assert folders.files("t") == ["d=1/f", "d=2/c=3/g"]
    assert folders.leaves("t") == ["d=1", "d=2/c=3"]
    assert folders.sizes("t") == [5, 5]
    assert folders.files("nowhere") == []


def test_rows_are_those_that_a_file_says_it_has(spark: SparkSession, folders: Folders) -> None:
    spark.range(7).coalesce(1).write.parquet(folders.path("t"))
    [name] = folders.files("t")
    assert folders.rows(f"t/{name}") == 7


def test_moving_replaces_what_is_there(folders: Folders) -> None:
    folders.write("new/f", "new")
    folders.write("old/deep/g", "old")
    folders.move("new", "old/deep")
    assert folders.files("old") == ["deep/f"]
    assert not folders.exists("new")
    folders.remove("old")
    folders.remove("old")
    assert not folders.exists("old")


def test_what_cannot_be_moved_is_said(folders: Folders) -> None:
    with pytest.raises(Exception, match="does not exist"):
        folders.move("nothing", "there")
