"""Java classes and methods that queries use often are looked up once."""

from pyspark.sql import SparkSession
from pyspark.sql.functions import col


def test_methods_are_looked_up_once_and_work(spark: SparkSession) -> None:
    functions = spark._jvm.functions  # type: ignore[union-attr]
    assert functions is spark._jvm.functions  # type: ignore[union-attr]
    assert functions.lit is functions.lit
    assert spark.range(3).where(col("id") > 1).count() == 1
