"""Rows in the driver's memory are those of the query."""

from datetime import UTC, date, datetime

from pyspark.sql import SparkSession, Window
from pyspark.sql.functions import col, row_number
from pyspark.sql.functions import max as max_of

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
    assert sorted(local.collect()) == sorted(made.collect())
    assert all(field.nullable for field in local.schema)
    plan = local.where("n > 1")._jdf.queryExecution().optimizedPlan()
    # Spark applied the filter while it planned; only the rows are left, in one partition.
    assert plan.getClass().getSimpleName() == "Repartition"
    assert plan.child().getClass().getSimpleName() == "LocalRelation"
    assert plan.child().data().size() == 1


def test_windows_and_groups_of_rows_in_memory_need_no_shuffle(spark: SparkSession) -> None:
    few = local_rows.collect_locally(spark.range(9).selectExpr("id", "id % 3 as k"))
    numbered = few.withColumn("n", row_number().over(Window.partitionBy("k").orderBy("id")))
    spark.sparkContext.setJobGroup("one stage", "one stage")
    try:
        found = numbered.groupBy("k").agg(max_of("n").alias("last")).collect()
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
    tracker = spark.sparkContext.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup("one stage")]
    assert [len(job.stageIds) for job in jobs if job is not None] == [1]
    assert {(row.k, row.last) for row in found} == {(0, 3), (1, 3), (2, 3)}


def test_a_query_that_is_known_to_be_empty_stays_a_query(spark: SparkSession) -> None:
    nothing = local_rows.build_empty_rows(spark, spark.range(1).schema)
    assert local_rows.keep_in_memory(nothing) is nothing
    assert local_rows.keep_in_memory(spark.range(2)).count() == 2


def test_a_query_on_a_table_without_rows_is_known_to_have_none(spark: SparkSession) -> None:
    nothing = local_rows.build_empty_rows(spark, spark.range(1).schema)
    assert nothing.collect() == []
    few = local_rows.collect_locally(spark.range(3))
    assert local_rows.is_known_empty(nothing.join(few, "id").groupBy("id").count())
    assert local_rows.is_known_empty(few.where(col("id") > 7))
    assert not local_rows.is_known_empty(few.join(nothing, "id", "left"))
    assert not local_rows.is_known_empty(spark.range(3))


def test_a_query_of_rows_in_memory_runs_at_once_and_other_queries_stay(spark: SparkSession) -> None:
    few = local_rows.collect_locally(spark.range(9))
    shortened = local_rows.shorten_plan(few.where("id > 6").selectExpr("id + 1 as n"))
    assert "Filter" not in shortened._jdf.queryExecution().analyzed().toString()
    assert sorted(row.n for row in shortened.collect()) == [8, 9]
    elsewhere = spark.range(9).join(few, "id")
    assert local_rows.shorten_plan(elsewhere) is elsewhere


def test_callers_with_the_same_rows_in_memory_share_one_result(spark: SparkSession) -> None:
    select_before = local_rows.share_rows(lambda rows, until_ms: rows.where(col("id") < until_ms))
    few = local_rows.collect_locally(spark.range(5))
    shared = select_before(few, 3)
    assert shared.count() == 3
    assert select_before(few, 3) is shared
    assert select_before(few, 2).count() == 2
    other = local_rows.collect_locally(spark.range(1))
    assert select_before(other, 3).count() == 1
    assert select_before(spark.range(5), 3).count() == 3


def test_tasks_have_the_settings_of_the_session(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.test.mark", "7")
    try:
        local_rows.collect_locally(spark.range(1))
        assert spark.sparkContext.getLocalProperty("spark.sql.test.mark") == "7"
    finally:
        spark.conf.unset("spark.sql.test.mark")
        spark.sparkContext.setLocalProperty("spark.sql.test.mark", None)  # type: ignore[arg-type]


def test_rows_of_python_pass_as_they_are(spark: SparkSession) -> None:
    rows = [(1, 'a"\\Q\n\x00é\U0001f600', ["x", ""], True), (1 << 40, None, [], None)]
    columns = {"n": "bigint", "t": "string", "list": "array<string>", "b": "boolean"}
    built = local_rows.build_rows(spark, rows, columns)
    assert [tuple(row) for row in built.collect()] == rows
    assert built.dtypes == list(columns.items())
    assert local_rows.is_known_empty(local_rows.build_rows(spark, [], columns))
