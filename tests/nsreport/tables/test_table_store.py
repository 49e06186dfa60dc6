"""Tables that are replaced whole or not at all, whatever happens in between."""

import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col

from nsreport.tables import table_store
from nsreport.tables.hadoop_folder import HadoopFolder
from nsreport.tables.table_store import HeadRows, TableSpec, TableStore

DAYS = TableSpec("silver/days", ("date", "cluster"))
WHOLE = TableSpec("gold/whole")
SHAPE = "n int, date date, cluster string"
FIRST, SECOND, THIRD = date(2025, 1, 1), date(2025, 1, 2), date(2025, 1, 3)

Kept = set[tuple[int, date, str]]


def frame(spark: SparkSession, *rows: tuple[int, date, str]) -> DataFrame:
    return spark.createDataFrame(rows, SHAPE).coalesce(1)


def kept(tables: TableStore, table: TableSpec = DAYS) -> Kept:
    found = tables.read_table(table)
    assert found is not None
    return {tuple(row) for row in found.collect()}


@pytest.fixture
def tables(spark: SparkSession, tmp_path: Path) -> TableStore:
    tables = TableStore(spark, str(tmp_path / "out"))
    tables.replace_rows(DAYS, frame(spark, (1, FIRST, "7"), (2, FIRST, "b"), (3, SECOND, "7")))
    return tables


def test_a_default_file_system_without_renames_is_refused(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HadoopFolder, "qualify_path", lambda self, path: "s3a://bucket/reports")
    with pytest.raises(
        table_store.OutputFileSystemError, match='cannot write tables to "s3a://bucket/reports"'
    ):
        TableStore(spark, "reports")


def test_a_table_that_was_never_written_is_none(tables: TableStore) -> None:
    assert tables.read_table(WHOLE) is None


def test_days_are_replaced_with_all_their_partitions_and_others_stay(
    spark: SparkSession, tables: TableStore
) -> None:
    tables.replace_rows(DAYS, frame(spark, (4, FIRST, "7"), (5, THIRD, "c")), [FIRST, THIRD])
    assert kept(tables) == {(4, FIRST, "7"), (5, THIRD, "c"), (3, SECOND, "7")}
    tables.replace_rows(DAYS, frame(spark, (6, FIRST, "7")))
    assert kept(tables) == {(6, FIRST, "7")}


@pytest.mark.parametrize("plans", ["false", "true"])
def test_a_partition_is_a_file_in_however_many_tasks_its_rows_were(
    spark: SparkSession, tables: TableStore, plans: str
) -> None:
    key = "spark.sql.adaptive.enabled"
    before = spark.conf.get(key)
    spark.conf.set(key, plans)
    try:
        rows = [(number, (FIRST, SECOND)[number % 2], "7") for number in range(20)]
        tables.replace_rows(DAYS, spark.createDataFrame(rows, SHAPE).repartition(4))
    finally:
        spark.conf.set(key, before or "true")
    assert len(HadoopFolder(spark, tables.root_path).list_files(DAYS.name)) == 2
    assert len(kept(tables)) == 20


def test_a_table_without_rows_keeps_its_columns(spark: SparkSession, tables: TableStore) -> None:
    for table in (DAYS, WHOLE):
        tables.replace_rows(table, frame(spark))
        found = tables.read_table(table)
        assert found is not None
        assert (found.count(), found.schema) == (0, frame(spark).schema)


def test_all_rows_or_those_of_some_days_are_removed_and_the_columns_stay(
    spark: SparkSession, tables: TableStore
) -> None:
    tables.replace_rows(WHOLE, frame(spark, (1, FIRST, "a")))
    tables.clear_rows(DAYS, frame(spark).schema, [FIRST])
    assert kept(tables) == {(3, SECOND, "7")}
    for table in (DAYS, WHOLE):
        tables.clear_rows(table, frame(spark).schema)
        found = tables.read_table(table)
        assert found is not None
        assert (found.count(), found.schema, tables.count_rows(table)) == (0, frame(spark).schema, 0)


def test_a_commit_leaves_the_files_that_another_thread_has_not_committed_yet(
    spark: SparkSession, tables: TableStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = TableStore._stage_rows

    def stage(self: TableStore, table: TableSpec, *args: Any) -> Any:
        staged = real(self, table, *args)
        if table == WHOLE:
            # As if another thread was faster.
            tables.replace_rows(DAYS, frame(spark, (4, FIRST, "7")))
        return staged

    monkeypatch.setattr(TableStore, "_stage_rows", stage)
    tables.replace_rows(WHOLE, frame(spark, (1, FIRST, "a")))
    assert (kept(tables), kept(tables, WHOLE)) == ({(4, FIRST, "7")}, {(1, FIRST, "a")})
    assert not (tmp_path / "out" / table_store.STAGING_FOLDER).exists()


def test_a_table_without_partitions_is_replaced_whole(spark: SparkSession, tables: TableStore) -> None:
    for number in (1, 2):
        tables.replace_rows(WHOLE, frame(spark, (number, FIRST, "a")))
        assert kept(tables, WHOLE) == {(number, FIRST, "a")}


def test_rows_of_a_file_are_in_the_order_that_the_table_has(spark: SparkSession, tables: TableStore) -> None:
    ordered = TableSpec("silver/ordered", ("date", "cluster"), ("n",))
    for rows in ((4, 2), (3, 1)):
        tables.append_rows(ordered, frame(spark, *((number, FIRST, "a") for number in rows)))
    found = tables.read_table(ordered)
    assert found is not None
    assert [row.n for row in found.collect()] in ([1, 3, 2, 4], [2, 4, 1, 3])
    tables.compact_table(ordered)
    assert [
        row.n for row in found.sparkSession.read.parquet(tables.root_path + "/silver/ordered").collect()
    ] == [
        1,
        2,
        3,
        4,
    ]


def test_rows_are_made_whole_once_they_are_in_order(spark: SparkSession, tables: TableStore) -> None:
    ordered = TableSpec("silver/ordered", ("date", "cluster"), ("n",))
    heads = frame(spark, *((number, day, "a") for day in (SECOND, FIRST) for number in (3, 1, 2)))
    plans: list[str] = []

    def whole(rows: DataFrame) -> DataFrame:
        made = rows.select((-col("n")).alias("m"), "date", "cluster")
        plans.append(str(rows._jdf.queryExecution().optimizedPlan().getClass().getSimpleName()))
        return made

    tables.replace_rows(ordered, HeadRows(heads, whole))
    found = tables.read_table(ordered)
    assert found is not None
    assert found.schema.names == ["m", "date", "cluster"]
    assert plans == ["Sort"]
    assert [row.m for row in found.where(col("date") == FIRST).collect()] == [-1, -2, -3]


def test_added_rows_need_not_be_gathered(spark: SparkSession, tables: TableStore, tmp_path: Path) -> None:
    rows = frame(spark, (1, THIRD, "a"), (2, THIRD, "a")).repartition(2, "n")
    apart = sum(bool(part) for part in rows.rdd.glom().collect())
    assert tables.append_rows(DAYS, rows, is_gathered=False) == 2
    folder = tmp_path / "out" / "silver" / "days" / f"date={THIRD}"
    assert len(list(folder.rglob("*.parquet"))) == apart
    assert len(kept(tables)) == 5


def test_rows_are_added(spark: SparkSession, tables: TableStore) -> None:
    tables.append_rows(DAYS, frame(spark, (9, FIRST, "7")))
    assert len(kept(tables)) == 4


def test_small_files_are_put_together(spark: SparkSession, tables: TableStore, tmp_path: Path) -> None:
    tables.append_rows(DAYS, frame(spark, (9, FIRST, "7")))
    tables.append_rows(WHOLE, frame(spark, (1, FIRST, "a")))
    tables.append_rows(WHOLE, frame(spark, (2, FIRST, "a")))
    before = kept(tables)
    assert (tables.compact_table(DAYS), tables.compact_table(WHOLE)) == (1, 1)
    assert kept(tables) == before
    assert kept(tables, WHOLE) == {(1, FIRST, "a"), (2, FIRST, "a")}
    files = sorted(path.parent.name for path in (tmp_path / "out" / "silver").rglob("*.parquet"))
    assert files == ["cluster=7", "cluster=7", "cluster=b"]
    assert (tables.compact_table(DAYS), tables.compact_table(WHOLE)) == (0, 0)


class Killed(Exception):
    """As if the process had ended there."""


def killed_after(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all that is done to files and folders, the first `count` steps are made."""
    left = [count]
    for name in ("move", "remove", "write"):
        real: Callable[..., Any] = getattr(HadoopFolder, name)

        def step(self: HadoopFolder, *args: Any, real: Callable[..., Any] = real) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            return real(self, *args)

        monkeypatch.setattr(HadoopFolder, name, step)


def test_killed_anywhere_it_is_the_old_table_or_the_new_one(
    spark: SparkSession, tables: TableStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = kept(tables), {(4, FIRST, "7"), (5, THIRD, "c"), (3, SECOND, "7")}
    fresh = frame(spark, (4, FIRST, "7"), (5, THIRD, "c")).localCheckpoint()
    seen: list[Kept] = []
    out = tmp_path / "out"
    shutil.copytree(out, tmp_path / "before")
    for count in range(40):
        with monkeypatch.context() as patch:
            killed_after(count, patch)
            try:
                tables.replace_rows(DAYS, fresh, [FIRST, THIRD])
                break
            except Killed:
                pass
        # Whoever opens them next sees the whole of one or the other.
        seen.append(kept(TableStore(spark, str(out))))
        assert seen[-1] in (old, new)
        shutil.rmtree(out)
        shutil.copytree(tmp_path / "before", out)
    assert old in seen
    assert new in seen
    assert kept(tables) == new
    assert not (out / table_store.STAGING_FOLDER).exists()
