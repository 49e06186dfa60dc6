"""Rows in the driver's memory are those of the query."""

from datetime import UTC, date, datetime

from pyspark.sql import SparkSession
from pyspark.sql.functions import col

from nsreport.runtime import local_rows

SHAPE = "n int not null, at timestamp, day date, a array<string>, m map<string, bigint>, s struct<a: int>"


def test_rows_in_memory_keep_values_of_all_types_and_start_no_job_when_they_are_collected(
    spark: SparkSession,
) -> None:
    rows = [
        (1, datetime(2011, 12, 30, 23, 59, 59, 123456, UTC), date(2011, 12, 30), ["a"], {"x": 1}, (7,)),
        (2, None, date(1, 1, 1), [], {}, None),
    ]
    made = spark.createDataFrame(rows, SHAPE)
    local = local_rows.collect_locally(made)
    assert local.row_count == 2
    assert sorted(local.table_rows.collect()) == sorted(made.collect())
    assert all(field.nullable for field in local.table_rows.schema)
    plan = local.table_rows.where("n > 1")._jdf.queryExecution().optimizedPlan()
    assert plan.getClass().getSimpleName() == "LocalRelation"


def test_a_query_on_a_table_without_rows_is_known_to_have_none(spark: SparkSession) -> None:
    nothing = local_rows.build_empty_rows(spark, spark.range(1).schema)
    assert nothing.collect() == []
    few = local_rows.collect_locally(spark.range(3)).table_rows
    assert local_rows.is_known_empty(nothing.join(few, "id").groupBy("id").count())
    assert local_rows.is_known_empty(few.where(col("id") > 7))
    assert not local_rows.is_known_empty(few.join(nothing, "id", "left"))
    assert not local_rows.is_known_empty(spark.range(3))
