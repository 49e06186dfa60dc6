"""File relation: a DataFrame over the files that a version of a table has, wherever they are.

Spark's own reader lists folders, and finds the values of partition columns in the names of folders. Here both
come from the Delta log, so Spark lists nothing, and reads no file that the version does not have.
"""

import os
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from nsreport.tables.table_versions import TableFile

_EPOCH = date(1970, 1, 1)
_BLOCK_BYTES = 128 << 20


def read_files(
    spark: SparkSession,
    table_folder: str,
    table_files: Sequence[TableFile],
    table_schema: StructType,
    partition_columns: Sequence[str],
) -> DataFrame:
    """Return the rows of files below a folder (a qualified path); columns that a file lacks are null."""
    jvm: Any = spark._jvm
    sources, java_session = jvm.org.apache.spark.sql.execution.datasources, spark._jsparkSession
    root_path = jvm.org.apache.hadoop.fs.Path(table_folder)
    # Without partition columns, Spark leaves out files in folders below the root, unless it is told not to.
    options = jvm.PythonUtils.toScalaMap({} if partition_columns else {"recursiveFileLookup": "true"})
    # The values of a partition are in the order of `partition_columns`, which the schema need not have.
    partition_schema, data_schema = (
        java_session.parseDataType(StructType(fields).json())
        for fields in (
            [table_schema[column] for column in partition_columns],
            [field for field in table_schema if field.name not in partition_columns],
        )
    )
    partition_spec = sources.PartitionSpec(
        partition_schema, _to_seq(jvm, _build_partitions(jvm, root_path, table_files, partition_columns))
    )
    file_statuses = spark.sparkContext._gateway.new_array(  # type: ignore[union-attr]
        jvm.org.apache.hadoop.fs.FileStatus, len(table_files)
    )
    for file_number, table_file in enumerate(table_files):
        file_statuses[file_number] = jvm.org.apache.hadoop.fs.FileStatus(
            table_file.byte_count,
            False,
            1,
            _BLOCK_BYTES,
            0,
            jvm.org.apache.hadoop.fs.Path(root_path, table_file.path),
        )
    # Spark takes the content of a folder from this cache, as if it had listed the folder.
    status_cache = sources.FileStatusCache.getOrCreate(java_session)
    status_cache.putLeafFiles(root_path, file_statuses)
    no_value = jvm.scala.Option.apply(None)
    file_index = sources.InMemoryFileIndex(
        java_session,
        _to_seq(jvm, [root_path]),
        options,
        no_value,
        status_cache,
        jvm.scala.Option.apply(partition_spec if partition_columns else sources.PartitionSpec.emptySpec()),
        no_value,
    )
    relation = sources.HadoopFsRelation(
        file_index,
        partition_schema,
        data_schema,
        no_value,
        sources.parquet.ParquetFileFormat(),
        options,
        java_session,
    )
    return DataFrame(java_session.baseRelationToDataFrame(relation), spark)


def _build_partitions(
    jvm: Any, root_path: Any, table_files: Iterable[TableFile], partition_columns: Sequence[str]
) -> list[Any]:
    """Return Spark's description of each folder with files: its path and the values of partition columns."""
    if not partition_columns:
        return []
    values_by_folder = {
        os.path.dirname(table_file.path): table_file.partition_values for table_file in table_files
    }
    return [
        jvm.org.apache.spark.sql.execution.datasources.PartitionPath(
            jvm.org.apache.spark.sql.catalyst.InternalRow.fromSeq(
                _to_seq(jvm, [_to_catalyst(jvm, partition_values[column]) for column in partition_columns])
            ),
            jvm.org.apache.hadoop.fs.Path(root_path, folder_path),
        )
        for folder_path, partition_values in values_by_folder.items()
    ]


def _to_catalyst(jvm: Any, partition_value: Any) -> Any:
    """Convert a value to the form that Spark's rows have inside: days since 1970, and UTF-8 strings."""
    if isinstance(partition_value, date):
        return (partition_value - _EPOCH).days
    if isinstance(partition_value, str):
        return jvm.org.apache.spark.unsafe.types.UTF8String.fromString(partition_value)
    return partition_value


def _to_seq(jvm: Any, items: Iterable[Any]) -> Any:
    java_list = jvm.java.util.ArrayList()
    for item in items:
        java_list.add(item)
    return jvm.PythonUtils.toSeq(java_list)
