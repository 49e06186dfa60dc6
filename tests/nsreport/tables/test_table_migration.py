"""Tables that the previous release wrote get their present names and columns, with all their rows."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.functions import current_date, lit

from nsreport.dictionary.former_names import FORMER_COLUMNS, FORMER_TABLES
from nsreport.jobs.batch import PipelineRun, RunRequest, list_tables
from nsreport.tables.table_layout import TableSpec
from nsreport.tables.table_migration import MigrationError, migrate_former_tables
from nsreport.tables.table_store import TableStore
from tests.nsreport.jobs.test_batch import NOW

LINES = TableSpec("bronze/lines", ("kind", "date"))
TABLES = {table.name: table for table in list_tables()}
RENAMED = {*FORMER_TABLES.values(), *FORMER_COLUMNS}


def former_store(spark: SparkSession, folder: Path) -> None:
    """A store with lines, and with a row in each renamed table, as the previous release wrote it."""
    write_former(spark, folder, LINES, "bronze/lines")
    for name in sorted(RENAMED):
        former = next((old for old, new in FORMER_TABLES.items() if new == name), name)
        write_former(spark, folder, TABLES[name], former)
    (folder / "_due").mkdir()
    (folder / "_due" / "2025-01-02").touch()


def write_former(spark: SparkSession, folder: Path, table: TableSpec, former: str) -> None:
    partitions = table.partition_columns
    columns = [*FORMER_COLUMNS.get(table.name, {}), "server", *table.order_columns]
    row = spark.createDataFrame([tuple(f"of {column}" for column in columns)], columns)
    for column in partitions:
        row = row.withColumn(column, current_date() if column == "date" else lit("c"))
    row.coalesce(1).write.partitionBy(*partitions).parquet(str(folder / former))
    (folder / former / "_schema.json").write_text(row.schema.json())


def check_present_names(spark: SparkSession, folder: Path) -> None:
    tables = TableStore(spark, str(folder))
    for name in sorted(RENAMED):
        table_rows = tables.read_table(TableSpec(name))
        assert table_rows is not None, name
        [row] = table_rows.collect()
        for former, present in FORMER_COLUMNS.get(name, {}).items():
            assert row[present] == f"of {former}"
            assert former not in table_rows.columns
        assert row.server == "of server"
    assert not any((folder / former).exists() for former in FORMER_TABLES)


def test_every_renamed_table_exists_under_its_present_name() -> None:
    assert set(TABLES) >= RENAMED
    assert not set(TABLES) & set(FORMER_TABLES)


def test_a_run_on_a_store_of_the_previous_release_makes_delta_tables_with_present_names(
    spark: SparkSession, tmp_path: Path
) -> None:
    former_store(spark, tmp_path)
    PipelineRun(spark, RunRequest([], str(tmp_path), ()), NOW, lambda result: None)
    check_present_names(spark, tmp_path)
    tables = TableStore(spark, str(tmp_path))
    assert list(tables.list_due_days()) == [date(2025, 1, 2)]
    assert tables.count_rows(LINES) == 1
    assert not migrate_former_tables(tables, TABLES.values())


def test_a_killed_migration_loses_nothing_and_the_next_one_completes_it(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(Exception):
        pass

    def kill(self: TableStore, *args: Any) -> None:
        raise Killed

    former_store(spark, tmp_path)
    for step in ("add_files", "replace_rows", "remove_table"):
        with monkeypatch.context() as patch:
            patch.setattr(TableStore, step, kill)
            with pytest.raises(Killed):
                migrate_former_tables(TableStore(spark, str(tmp_path)), TABLES.values())
    migrate_former_tables(TableStore(spark, str(tmp_path)), TABLES.values())
    check_present_names(spark, tmp_path)


def test_half_a_commit_of_the_previous_release_is_not_taken_for_a_whole_one(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_former(spark, tmp_path, LINES, "bronze/lines")
    (tmp_path / "_staging").mkdir()
    (tmp_path / "_staging" / "plan.json").write_text("[]")
    with pytest.raises(MigrationError, match="run the previous release again"):
        migrate_former_tables(TableStore(spark, str(tmp_path)), TABLES.values())
