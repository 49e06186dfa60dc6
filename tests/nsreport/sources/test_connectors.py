"""What an operator reads when Spark cannot read a URL."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from nsreport.sources import input_files
from nsreport.sources.connectors import CONNECTORS_BY_SCHEME, explain_missing_connector
from nsreport.sources.input_files import InputNotFoundError, InputSource


@pytest.mark.parametrize("scheme", CONNECTORS_BY_SCHEME)
def test_a_missing_connector_is_named(spark: SparkSession, scheme: str) -> None:
    url = f"{scheme}://bucket@host/journals"
    with pytest.raises(InputNotFoundError) as raised:
        input_files.list_files(spark, InputSource(url))
    jvm: Any = spark.sparkContext._jvm
    version = jvm.org.apache.hadoop.util.VersionInfo.getVersion()
    package = f"{CONNECTORS_BY_SCHEME[scheme]}:{version}"
    assert str(raised.value) == (
        f'cannot read "{url}": Spark has no connector for {scheme}:// URLs; '
        f"pass --conf spark.jars.packages={package}"
    )


def test_paths_and_unknown_urls(spark: SparkSession) -> None:
    assert explain_missing_connector(spark, "/var/history") is None
    assert explain_missing_connector(spark, "hdfs://host/journals") is None
    assert explain_missing_connector(spark, "ftps://host/journals") == (
        'cannot read "ftps://host/journals": Hadoop has no file system for ftps:// URLs'
    )


def test_a_file_system_that_cannot_be_reached_says_why_in_one_line(spark: SparkSession) -> None:
    with pytest.raises(
        InputNotFoundError, match=r'^cannot read "hdfs://127.0.0.1:1/journals": .*refused[^\n]*$'
    ):
        input_files.list_files(spark, InputSource("hdfs://127.0.0.1:1/journals"))
