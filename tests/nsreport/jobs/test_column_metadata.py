"""Files of a table have the meaning and unit of each column."""

from pathlib import Path

from pyspark.sql import SparkSession

from nsreport.jobs.column_metadata import add_column_metadata


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
