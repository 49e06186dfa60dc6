"""Who changed what."""

from datetime import date

from pyspark.sql import SparkSession
from pyspark.testing import assertDataFrameEqual

from namesrv_core.events import KvDeleted, KvPut, SettingChange, SettingsChanged
from nsreport.reports.config_changes import config_changes
from tests.support.ns_events import Teller, at, frame
from tests.support.silver_rows import moment


def test_values_before_and_after(spark: SparkSession) -> None:
    own = Teller().tell(5, KvPut("N", "k", None, "early"))
    own.tell(7, KvPut("N", "k", "a", "a"))
    own.tell(10, KvPut("N", "k", "a", "b"), KvDeleted("N", "l", "x"), cause="KV", client="10.0.0.9:1")
    own.tell(20, SettingsChanged((SettingChange("s", None, "1"), SettingChange("t", "2", None))), cause="SET")
    found = config_changes(frame(spark, own), at(6), at(100))
    day, server = date(2025, 11, 21), "ns-1"
    expected = [
        (day, moment(10), server, "KvPut", "KV", "10.0.0.9:1", "N", "k", "a", "b"),
        (day, moment(10), server, "KvDeleted", "KV", "10.0.0.9:1", "N", "l", "x", None),
        (day, moment(20), server, "SettingsChanged", "SET", None, None, "s", None, "1"),
        (day, moment(20), server, "SettingsChanged", "SET", None, None, "t", "2", None),
    ]
    assertDataFrameEqual(found, spark.createDataFrame(expected, found.schema))
