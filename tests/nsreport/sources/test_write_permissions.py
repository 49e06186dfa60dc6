"""What changes of topics do to whether they can be written to."""

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.functions import col, lit

from nsreport.sources.write_permissions import changes_write, may_change_write
from tests.support.ns_events import Teller, frame, opened, wiped


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [(6, 4, True), (4, 6, True), (None, 6, True), (None, 4, False), (6, None, False), (6, 6, False)],
)
def test_few_changes_of_topics_change_whether_they_are_written(
    spark: SparkSession, before: int | None, after: int | None, changes: bool
) -> None:
    told = Teller().tell(0, opened("b", "T", before=before, after=after), wiped("b", "T"))
    read = frame(spark, told).orderBy("seq").select(changes_write(col("type")).alias("changesWrite"))
    assert [row.changesWrite for row in read.collect()] == [changes, None]


def test_who_did_not_look_may_have_missed_one(spark: SparkSession) -> None:
    told = Teller().tell(0, *[opened("b", "T")] * 3)
    values = [True, False, None]
    found = [
        frame(spark, told).withColumn("changesWrite", lit(value).cast("boolean")).where(may_change_write())
        for value in values
    ]
    assert [rows.count() for rows in found] == [3, 0, 3]
