"""Tables of a run: small ones are read from memory, and tables without rows start no job."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from nsreport.jobs import table_workspace
from nsreport.jobs.table_workspace import TableResult, TableWorkspace, add_column_metadata
from nsreport.runtime.local_rows import build_empty_rows
from nsreport.tables.table_layout import TableSpec
from nsreport.tables.table_store import TableStore

TABLE = TableSpec("silver/numbers")


@pytest.fixture
def results() -> list[TableResult]:
    return []


@pytest.fixture
def tables(spark: SparkSession, tmp_path: Path, results: list[TableResult]) -> TableWorkspace:
    return TableWorkspace(spark, TableStore(spark, str(tmp_path)), results.append)


def test_a_small_table_is_read_from_memory_and_equals_the_one_in_the_store(
    spark: SparkSession, tables: TableWorkspace, tmp_path: Path, results: list[TableResult]
) -> None:
    assert tables.find_table(TABLE) is None
    assert tables.replace_small_table(TABLE, spark.range(3).toDF("n"), 7) == 3
    assert [result[:3] for result in results] == [("silver/numbers", 7, 3)]
    shutil.move(tmp_path / "silver", tmp_path / "aside")
    assert sorted(row.n for row in tables.read_table(TABLE).collect()) == [0, 1, 2]
    shutil.move(tmp_path / "aside", tmp_path / "silver")
    tables.forget_tables()
    assert sorted(row.n for row in tables.read_table(TABLE).collect()) == [0, 1, 2]


def test_only_few_rows_are_kept_in_memory(
    spark: SparkSession, tables: TableWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables.replace_table(TABLE, spark.range(3).toDF("n"), 3)
    for limit, kind in ((2, "LogicalRelation"), (3, "Repartition")):
        monkeypatch.setattr(table_workspace, "MAX_LOCAL_ROWS", limit)
        tables.load_small_table(TABLE)
        plan = tables.read_table(TABLE)._jdf.queryExecution().optimizedPlan()
        assert plan.getClass().getSimpleName() == kind


def test_a_table_that_is_known_to_have_no_rows_is_made_without_a_query(
    spark: SparkSession, tables: TableWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> Callable[..., object]:
        raise AssertionError("a query started")

    monkeypatch.setattr(TableStore, "stage_rows", refuse)
    schema = spark.range(0).schema
    tables.make_empty_table(TABLE, schema)
    tables.make_empty_table(TABLE, schema)
    assert tables.replace_small_table(TABLE, build_empty_rows(spark, schema).where("id > 1"), 0) == 0
    assert tables.read_table(TABLE).collect() == []
    assert tables.count_rows(TABLE) == 0


def test_the_footer_of_a_file_has_meanings_and_units(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.createDataFrame([("a", 1.5, 3)], "brokerName string, downSeconds double, extra int")
    described = add_column_metadata("gold/broker_availability", rows)
    described.write.parquet(str(tmp_path / "table"))
    fields = {
        field.name: field.metadata for field in spark.read.parquet(str(tmp_path / "table")).schema.fields
    }
    assert fields["downSeconds"] == {"comment": "s in which no name server listed it", "unit": "s"}
    assert set(fields["brokerName"]) == {"comment"}
    assert fields["extra"] == {}
    assert add_column_metadata("gold/unknown", rows) is rows
