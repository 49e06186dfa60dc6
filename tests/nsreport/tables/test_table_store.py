"""Tables that change as a whole or not at all, whatever happens in between."""

from datetime import date, timedelta
from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import lit

from nsreport.tables import table_versions
from nsreport.tables.output_lock import OutputBusyError
from nsreport.tables.table_layout import TableSpec
from nsreport.tables.table_store import TableStore
from nsreport.tables.table_versions import LINES_TABLE

DAYS = TableSpec("silver/days", ("date", "cluster"))
WHOLE = TableSpec("gold/whole")
LINES = TableSpec(LINES_TABLE, ("date",))
SHAPE = "n int, date date, cluster string"
FIRST, SECOND, THIRD = date(2025, 1, 1), date(2025, 1, 2), date(2025, 1, 3)

Kept = set[tuple[int, date, str]]


def frame(spark: SparkSession, *rows: tuple[int, date, str]) -> DataFrame:
    return spark.createDataFrame(rows, SHAPE).coalesce(1)


def kept(tables: TableStore, table: TableSpec = DAYS) -> Kept:
    found = tables.read_table(table)
    assert found is not None
    return {tuple(row) for row in found.collect()}


def reopened(tables: TableStore, kept_time: timedelta = table_versions.DEFAULT_KEPT_TIME) -> TableStore:
    """The same folder as the next run sees it."""
    return TableStore(tables._spark, tables.root_path, kept_time)


def parquet_files(tables: TableStore, table: TableSpec) -> list[Path]:
    """Also those that no version has."""
    return sorted(Path(tables.root_path, table.name).rglob("*.parquet"))


@pytest.fixture
def tables(spark: SparkSession, tmp_path: Path) -> TableStore:
    tables = TableStore(spark, str(tmp_path / "out"))
    tables.replace_rows(DAYS, frame(spark, (1, FIRST, "7"), (2, FIRST, "b"), (3, SECOND, "7")))
    return tables


def test_a_table_that_was_never_written_is_none(tables: TableStore) -> None:
    assert tables.read_table(WHOLE) is None


def test_days_are_replaced_with_all_their_partitions_and_others_stay(
    spark: SparkSession, tables: TableStore
) -> None:
    tables.replace_rows(DAYS, frame(spark, (4, FIRST, "7"), (5, THIRD, "c")), {FIRST, THIRD}.__contains__)
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
    delta_table = table_versions.open_table(tables.find_uri(DAYS.name))
    assert delta_table is not None
    assert len(table_versions.list_files(delta_table)) == 2
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
    tables.clear_rows(DAYS, frame(spark).schema, {FIRST}.__contains__)
    assert kept(tables) == {(3, SECOND, "7")}
    for table in (DAYS, WHOLE):
        tables.clear_rows(table, frame(spark).schema)
        found = tables.read_table(table)
        assert found is not None
        assert (found.count(), found.schema, tables.count_rows(table)) == (0, frame(spark).schema, 0)


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
    merged = tables.read_table(ordered)
    assert merged is not None
    assert [row.n for row in merged.collect()] == [1, 2, 3, 4]


def test_added_rows_need_not_be_gathered(spark: SparkSession, tables: TableStore, tmp_path: Path) -> None:
    rows = frame(spark, (1, THIRD, "a"), (2, THIRD, "a")).repartition(2, "n")
    apart = sum(bool(part) for part in rows.rdd.glom().collect())
    assert tables.append_rows(DAYS, rows, is_gathered=False) == 2
    assert len(list(tmp_path.rglob(f"date={THIRD}/*/*.parquet"))) == apart
    assert len(kept(tables)) == 5


def test_rows_are_added(spark: SparkSession, tables: TableStore) -> None:
    tables.append_rows(DAYS, frame(spark, (9, FIRST, "7")))
    assert len(kept(tables)) == 4
    row_counts = tables.count_partitions(DAYS)
    assert row_counts is not None
    assert sum(row_counts.values()) == 4
    assert {day for day, *_ in row_counts} == {row[1] for row in kept(tables)}


def test_small_files_are_put_together(spark: SparkSession, tables: TableStore) -> None:
    tables.append_rows(DAYS, frame(spark, (9, FIRST, "7")))
    tables.append_rows(WHOLE, frame(spark, (1, FIRST, "a")))
    tables.append_rows(WHOLE, frame(spark, (2, FIRST, "a")))
    before = kept(tables)
    assert (tables.compact_table(DAYS), tables.compact_table(WHOLE)) == (1, 1)
    assert kept(tables) == before
    assert kept(tables, WHOLE) == {(1, FIRST, "a"), (2, FIRST, "a")}
    assert (tables.count_rows(DAYS), tables.count_rows(WHOLE)) == (4, 2)
    assert (tables.compact_table(DAYS), tables.compact_table(WHOLE)) == (0, 0)


def test_a_reader_sees_nothing_of_a_run_that_is_killed_before_its_commit(
    spark: SparkSession, tables: TableStore
) -> None:
    before, files = kept(tables), len(parquet_files(tables, DAYS))
    tables.stage_rows(DAYS, frame(spark, (8, FIRST, "7")))
    assert len(parquet_files(tables, DAYS)) == files + 1
    assert kept(reopened(tables)) == before
    # The files of a run that still writes stay. Those of a killed one go with the time.
    for kept_time, left in ((timedelta(hours=1), files + 1), (timedelta(0), files)):
        later = reopened(tables, kept_time)
        later.append_rows(DAYS, frame(spark))
        later._changed_tables.add(DAYS.name)
        later.remove_old_files()
        assert len(parquet_files(tables, DAYS)) == left
    assert kept(reopened(tables)) == before
    folders = {file.relative_to(tables.root_path).parts[2] for file in parquet_files(tables, DAYS)}
    assert {folder.name for folder in Path(tables.root_path, DAYS.name).iterdir()} == {
        *folders,
        "_delta_log",
    }


def test_of_two_runs_that_add_the_same_lines_the_second_one_gives_up(
    spark: SparkSession, tables: TableStore
) -> None:
    lines = frame(spark, (1, FIRST, "a"))
    for old_lines in (0, 1):
        first, second = reopened(tables), reopened(tables)
        assert [run.count_rows(LINES) for run in (first, second)] == [old_lines, old_lines]
        first.append_rows(LINES, lines)
        with pytest.raises(OutputBusyError, match="another run writes to"):
            second.append_rows(LINES, lines)
    assert reopened(tables).count_rows(LINES) == 2


def test_a_run_does_not_replace_what_another_one_made_from_newer_lines(
    spark: SparkSession, tables: TableStore
) -> None:
    slow, fast = reopened(tables), reopened(tables)
    assert slow.list_due_days() == {}
    fast.append_rows(LINES, frame(spark, (1, FIRST, "a")))
    fast.replace_rows(WHOLE, frame(spark, (1, FIRST, "new")))
    for old_rows in (frame(spark, (1, FIRST, "old")), frame(spark)):
        with pytest.raises(OutputBusyError):
            slow.replace_rows(WHOLE, old_rows)
    # Both began with the same lines, and the other one was faster.
    late = reopened(tables)
    assert kept(late, WHOLE) == {(1, FIRST, "new")}
    fast.replace_rows(WHOLE, frame(spark, (2, FIRST, "new")))
    with pytest.raises(OutputBusyError):
        late.replace_rows(WHOLE, frame(spark, (3, FIRST, "late")))
    assert kept(reopened(tables), WHOLE) == {(2, FIRST, "new")}


def test_days_are_due_from_their_first_line_until_all_tables_have_it(
    spark: SparkSession, tables: TableStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables.append_rows(LINES, frame(spark, (1, FIRST, "a"), (2, SECOND, "a")))
    tables.clear_due_days()
    assert reopened(tables).list_due_days() == {}
    for day in (SECOND, THIRD):
        tables.append_rows(LINES, frame(spark, (3, day, "a")))
    tables.append_rows(LINES, frame(spark))
    assert list(reopened(tables).list_due_days()) == [SECOND, THIRD]
    # Merging files, and removing old ones, adds no lines.
    tables.compact_table(LINES)
    tables.remove_old_files()
    assert list(reopened(tables).list_due_days()) == [SECOND, THIRD]
    # If the log no longer says which days they are, all are.
    with monkeypatch.context() as patched:
        patched.setattr(table_versions, "_MAX_SEARCHED_COMMITS", 1)
        assert list(reopened(tables).list_due_days()) == [FIRST, SECOND, THIRD]
    tables.clear_due_days()
    assert reopened(tables).list_due_days() == {}


def test_a_report_is_current_until_lines_or_its_recipe_change(
    spark: SparkSession, tables: TableStore
) -> None:
    rows = frame(spark, (1, FIRST, "a"))
    assert not tables.is_made_by(WHOLE, "all days")
    tables.replace_rows(WHOLE, rows, recipe="all days")
    assert reopened(tables).is_made_by(WHOLE, "all days")
    assert not reopened(tables).is_made_by(WHOLE, "one day")
    tables.append_rows(LINES, rows)
    assert not reopened(tables).is_made_by(WHOLE, "all days")


def test_a_new_column_is_null_in_the_rows_of_old_files(spark: SparkSession, tables: TableStore) -> None:
    wide = frame(spark, (9, SECOND, "7")).withColumn("added", lit("x"))
    tables.append_rows(DAYS, wide)
    assert column_values(tables, "added") == {(1, None), (2, None), (3, None), (9, "x")}
    tables.replace_rows(DAYS, wide.withColumn("again", lit(1)), {SECOND}.__contains__)
    assert column_values(tables, "again") == {(1, None), (2, None), (9, 1)}


def column_values(tables: TableStore, name: str) -> set[tuple[int, object]]:
    found = tables.read_table(DAYS)
    assert found is not None
    return {(row.n, row[name]) for row in found.collect()}


def test_other_programs_read_the_tables(spark: SparkSession, tables: TableStore) -> None:
    assert DeltaTable(tables.find_uri(DAYS.name)).count() == 3


def test_forgotten_days_are_gone_and_a_reader_of_an_older_version_has_them(
    spark: SparkSession, tables: TableStore
) -> None:
    no_day = table_versions.NO_DAY
    tables.append_rows(LINES, frame(spark, (1, FIRST, "a"), (2, SECOND, "a"), (3, no_day, "a")))
    tables.replace_rows(WHOLE, frame(spark, (1, FIRST, "a")))
    reader = reopened(tables)
    assert (reader.count_rows(LINES), reader.read_first_day()) == (3, no_day)
    for table in (DAYS, WHOLE, LINES):
        tables.forget_days(table, SECOND)
    tables.remove_old_files()
    assert {number for number, *_ in kept(reader, LINES)} == {1, 2, 3}
    later = reopened(tables, timedelta(0))
    assert later.read_first_day() == SECOND
    assert kept(later, DAYS) == {(3, SECOND, "7")}
    # Lines without a time have no day, and other tables have no files by day.
    assert {number for number, *_ in kept(later, LINES)} == {2, 3}
    assert kept(later, WHOLE) == {(1, FIRST, "a")}
    later.compact_table(LINES)
    later.append_rows(LINES, frame(spark, (4, THIRD, "a")))
    later.remove_old_files()
    assert not [path for path in parquet_files(later, LINES) if f"date={FIRST}" in str(path)]
    assert reopened(later).read_first_day() == SECOND
