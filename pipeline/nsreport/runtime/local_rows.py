"""Local rows: small tables in the driver's memory, so that Spark plans no scans of files for them."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import from_json, inline, lit
from pyspark.sql.types import StructType

MAX_LOCAL_ROWS = 20_000
"""Up to this many rows a table is worked on in the driver's memory."""

RowsBuilder = Callable[[DataFrame, int], DataFrame]
"""Builds rows from the events of other rows before a time (ms since 1970)."""

_ROW_CLASS = "org.apache.spark.sql.catalyst.InternalRow"
_RELATION_CLASSES = (
    "org.apache.spark.sql.catalyst.types.DataTypeUtils",
    "org.apache.spark.sql.catalyst.plans.logical.LocalRelation",
    "org.apache.spark.sql.classic.Dataset",
    "scala.collection.immutable.ArraySeq",
)


def collect_locally(table_rows: DataFrame, table_schema: StructType | None = None) -> DataFrame:
    """Run a query, and return its rows as a DataFrame over memory, with `table_schema` if it is given.

    The rows stay in Spark's own format, and no listener gets a description of the query.
    """
    spark = table_rows.sparkSession
    java_frame: Any = table_rows._jdf
    # Tasks read the session's settings from here.
    spark.sparkContext._jsc.sc().getLocalProperties().putAll(
        spark._jsparkSession.sessionState().conf().settings()
    )
    java_rows: Any = java_frame.queryExecution().executedPlan().executeCollect()
    java_schema: Any = (
        java_frame.schema()
        if table_schema is None
        else spark._jsparkSession.parseDataType(table_schema.json())
    )
    return _make_local_frame(spark, java_schema, java_rows)


def keep_in_memory(table_rows: DataFrame) -> DataFrame:
    """Run a query, unless it is known to be empty; return its rows as a DataFrame over memory."""
    return table_rows if is_known_empty(table_rows) else collect_locally(table_rows)


def shorten_plan(table_rows: DataFrame) -> DataFrame:
    """Run a query now if it reads only rows in memory, and return its rows; return other queries as they are.

    Spark plans a long query much longer than it runs it over few rows, and the time grows faster than the
    length of the query.
    """
    return collect_locally(table_rows) if _reads_only_memory(table_rows) else table_rows


def share_rows(build_rows: RowsBuilder) -> RowsBuilder:
    """Let all callers that pass the same rows in memory and the same time share one result in memory.

    Spark would otherwise plan and run the query of `build_rows` again in each report that reads its rows.
    """
    results_by_source: WeakKeyDictionary[DataFrame, dict[int, DataFrame]] = WeakKeyDictionary()
    results_lock = Lock()

    @wraps(build_rows)
    def find_or_build_rows(source_rows: DataFrame, until_ms: int) -> DataFrame:
        if not _reads_only_memory(source_rows):
            return build_rows(source_rows, until_ms)
        with results_lock:
            results = results_by_source.setdefault(source_rows, {})
            if until_ms not in results:
                results[until_ms] = keep_in_memory(build_rows(source_rows, until_ms))
            return results[until_ms]

    return find_or_build_rows


def build_empty_rows(spark: SparkSession, table_schema: StructType) -> DataFrame:
    """Return a DataFrame without rows. Spark's optimizer drops the parts of a plan that read it."""
    java_schema: Any = spark._jsparkSession.parseDataType(table_schema.json())
    jvm: Any = spark._jvm
    java_gateway: Any = spark.sparkContext._gateway
    return _make_local_frame(spark, java_schema, java_gateway.new_array(getattr(jvm, _ROW_CLASS), 0))


def build_rows(
    spark: SparkSession, rows: Iterable[Sequence[Any]], column_types: Mapping[str, str]
) -> DataFrame:
    """Return a DataFrame over these rows in memory; they pass from Python to Java as one JSON text.

    Values are text, numbers, lists or null.
    """
    rows_text = json.dumps([dict(zip(column_types, row, strict=True)) for row in rows])
    columns = ", ".join(f"{column_name} {type_name}" for column_name, type_name in column_types.items())
    parsed_rows = from_json(lit(rows_text), f"array<struct<{columns}>>")
    return collect_locally(spark.range(1, numPartitions=1).select(inline(parsed_rows)))


def is_known_empty(table_rows: DataFrame) -> bool:
    """Whether Spark's optimizer finds out, without a job, that a query of rows in memory has none."""
    java_frame: Any = table_rows._jdf
    if not any(leaf.nodeName() == "LocalRelation" for leaf in _list_leaves(table_rows)):
        # Optimizing a long query takes a second.
        return False
    max_rows: Any = java_frame.queryExecution().optimizedPlan().maxRows()
    return bool(max_rows.isDefined()) and int(max_rows.get()) == 0


def _make_local_frame(spark: SparkSession, java_schema: Any, java_rows: Any) -> DataFrame:
    """Return a DataFrame over an array of rows in Spark's own format."""
    jvm: Any = spark._jvm
    data_types, local_relation, dataset, array_seq = (
        getattr(jvm, class_name) for class_name in _RELATION_CLASSES
    )
    # Like a table of files, which Spark reads with nullable columns.
    attributes = data_types.toAttributes(java_schema.asNullable())
    relation = local_relation(
        attributes, array_seq.unsafeWrapArray(java_rows), False, jvm.scala.Option.apply(None)
    )
    local_frame: Any = dataset.ofRows(spark._jsparkSession, relation)
    if len(java_rows):
        # Spark knows then that the rows are in one partition: windows, groups and joins need no shuffle.
        local_frame = local_frame.coalesce(1)
    return DataFrame(local_frame, spark)


def _reads_only_memory(table_rows: DataFrame) -> bool:
    return all(leaf.nodeName() == "LocalRelation" for leaf in _list_leaves(table_rows))


def _list_leaves(table_rows: DataFrame) -> list[Any]:
    """Return the relations that a query reads, as Spark's analyzer has them."""
    java_frame: Any = table_rows._jdf
    leaves: Any = java_frame.queryExecution().analyzed().collectLeaves()
    return [leaves.apply(leaf_number) for leaf_number in range(leaves.size())]
