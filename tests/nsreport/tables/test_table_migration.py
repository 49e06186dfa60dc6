"""Tables that the previous release wrote get their present names and columns, with all their rows."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.functions import current_date, lit

from nsreport.dictionary.former_names import FORMER_COLUMNS, FORMER_TABLES
from nsreport.jobs.batch import PipelineRun, RunRequest, list_derived_tables
from nsreport.tables.table_migration import migrate_former_tables
from nsreport.tables.table_store import TableSpec, TableStore
from tests.nsreport.jobs.test_batch import NOW

TABLES = {table.name: table for table in list_derived_tables()}
RENAMED = {*FORMER_TABLES.values(), *FORMER_COLUMNS}


def former_store(spark: SparkSession, folder: Path) -> TableStore:
    """A store with a row in each renamed table, as the previous release wrote it."""
    tables = TableStore(spark, str(folder))
    for name in sorted(RENAMED):
        former = next((old for old, new in FORMER_TABLES.items() if new == name), name)
        partitions = TABLES[name].partition_columns
        former_columns = FORMER_COLUMNS.get(name, {})
        columns = [*former_columns, "server", *TABLES[name].order_columns]
        row = spark.createDataFrame([tuple(f"of {column}" for column in columns)], columns)
        for column in partitions:
            row = row.withColumn(column, current_date() if column == "date" else lit("c"))
        tables.replace_rows(TableSpec(former, partitions), row)
    return tables


def check_present_names(tables: TableStore, folder: Path) -> None:
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


def test_a_run_on_a_store_of_the_previous_release_renames_tables_and_columns(
    spark: SparkSession, tmp_path: Path
) -> None:
    tables = former_store(spark, tmp_path)
    PipelineRun(spark, RunRequest([], str(tmp_path), ()), NOW, lambda result: None)
    check_present_names(tables, tmp_path)
    assert migrate_former_tables(tables, TABLES.values()) == []


def test_a_killed_migration_loses_nothing_and_the_next_one_completes_it(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(Exception):
        pass

    def kill(self: TableStore, *args: Any) -> None:
        raise Killed

    tables = former_store(spark, tmp_path)
    for step in ("remove_table", "replace_rows"):
        with monkeypatch.context() as patch:
            patch.setattr(TableStore, step, kill)
            with pytest.raises(Killed):
                migrate_former_tables(tables, TABLES.values())
    # A table that a run has already replaced under its present name is newer than the former one.
    migrate_former_tables(tables, TABLES.values())
    check_present_names(tables, tmp_path)
