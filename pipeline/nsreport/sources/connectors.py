"""Connectors: the Hadoop libraries for object stores, which Spark does not contain."""

from typing import Any
from urllib.parse import urlsplit

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

CONNECTORS_BY_SCHEME = {
    "s3a": "org.apache.hadoop:hadoop-aws",
    "abfs": "org.apache.hadoop:hadoop-azure",
    "abfss": "org.apache.hadoop:hadoop-azure",
    "gs": "org.apache.hadoop:hadoop-gcp",
}
"""The Maven artifact that reads URLs of a scheme. It needs the release of Spark's Hadoop."""


def explain_missing_connector(spark: SparkSession, input_path: str) -> str | None:
    """Return what to do if Spark cannot read URLs of this kind; None if it can."""
    url_scheme = urlsplit(input_path).scheme
    if not url_scheme or _has_file_system(spark, url_scheme):
        return None
    artifact = CONNECTORS_BY_SCHEME.get(url_scheme)
    if artifact is None:
        return f'cannot read "{input_path}": Hadoop has no file system for {url_scheme}:// URLs'
    jvm: Any = spark.sparkContext._jvm
    hadoop_version = jvm.org.apache.hadoop.util.VersionInfo.getVersion()
    return (
        f'cannot read "{input_path}": Spark has no connector for {url_scheme}:// URLs; '
        f"pass --conf spark.jars.packages={artifact}:{hadoop_version}"
    )


def _has_file_system(spark: SparkSession, url_scheme: str) -> bool:
    jvm: Any = spark.sparkContext._jvm
    hadoop_conf: Any = spark.sparkContext._jsc.hadoopConfiguration()
    try:
        jvm.org.apache.hadoop.fs.FileSystem.getFileSystemClass(url_scheme, hadoop_conf)
    except Py4JJavaError:
        return False
    return True


def describe_read_error(input_path: str, error: Py4JJavaError) -> str:
    """Describe in one line why a file system could not list an input, such as a rejected key."""
    java_error: Any = error.java_exception
    while java_error.getCause() is not None:
        java_error = java_error.getCause()
    error_lines = (java_error.getMessage() or java_error.getClass().getSimpleName()).splitlines()
    return f'cannot read "{input_path}": {error_lines[0]}'
