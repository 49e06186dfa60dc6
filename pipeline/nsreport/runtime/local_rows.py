"""Local rows: small tables in the driver's memory, so that Spark plans no scans of files for them."""

from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

MAX_LOCAL_ROWS = 20_000
"""Up to this many rows a table is worked on in the driver's memory."""


class LocalRows(NamedTuple):
    """A DataFrame over rows in memory, and their number."""

    table_rows: DataFrame
    row_count: int


def collect_locally(table_rows: DataFrame) -> LocalRows:
    """Run a query, and return its rows as a DataFrame over memory. The rows never leave Java."""
    java_frame: Any = table_rows._jdf.toDF()
    java_rows: Any = java_frame.collectAsList()
    spark = table_rows.sparkSession
    # Like a table of files, which Spark reads with nullable columns.
    local_frame: Any = spark._jsparkSession.createDataFrame(java_rows, java_frame.schema().asNullable())
    return LocalRows(DataFrame(local_frame, spark), int(java_rows.size()))


def build_empty_rows(spark: SparkSession, table_schema: StructType) -> DataFrame:
    """Return a DataFrame without rows. Spark's optimizer drops the parts of a plan that read it."""
    java_schema: Any = spark._jsparkSession.parseDataType(table_schema.json())
    java_rows: Any = spark._jvm.java.util.ArrayList()  # type: ignore[union-attr]
    local_frame: Any = spark._jsparkSession.createDataFrame(java_rows, java_schema.asNullable())
    return DataFrame(local_frame, spark)


def is_known_empty(table_rows: DataFrame) -> bool:
    """Whether Spark's optimizer finds out, without a job, that a query returns no rows."""
    java_frame: Any = table_rows._jdf
    max_rows: Any = java_frame.queryExecution().optimizedPlan().maxRows()
    return bool(max_rows.isDefined()) and int(max_rows.get()) == 0
