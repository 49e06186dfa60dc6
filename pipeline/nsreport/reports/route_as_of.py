"""route_as_of: the routes in the tables of each name server at a given time. Pure."""

from pyspark.sql import DataFrame
from pyspark.sql.functions import col, lit, timestamp_millis, to_date


def route_as_of(route_interval: DataFrame, since_ms: int, until_ms: int) -> DataFrame:
    """Return a row for each server, topic and broker name at `until_ms` (ms since 1970); ignores `since_ms`.

    If `known` is false, the tables were unknown at that time, and the row shows the last known state.
    """
    as_of_time = timestamp_millis(lit(until_ms))
    # Spark reads no files of routes that ended on earlier days.
    is_late_end = col("endDate").isNull() | (col("endDate") >= to_date(as_of_time))
    is_valid = (
        is_late_end
        & (col("validFrom") <= as_of_time)
        & (col("validTo").isNull() | (col("validTo") > as_of_time))
    )
    return route_interval.where(is_valid).select(
        to_date(as_of_time).alias("date"),
        "cluster",
        "server",
        "topic",
        "brokerName",
        "readQueueNums",
        "writeQueueNums",
        "perm",
        "topicSysFlag",
        "known",
        "validFrom",
        "fromType",
        "fromCause",
        "fromClient",
    )
