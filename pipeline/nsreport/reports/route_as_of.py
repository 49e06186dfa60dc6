"""route_as_of: the routes in the tables of each name server at a given time. Pure."""

from pyspark.sql import DataFrame
from pyspark.sql.functions import col, lit, timestamp_millis, to_date


def route_as_of(route_fact: DataFrame, since: int, until: int) -> DataFrame:
    """Return a row for each server, topic and broker name at `until_ms` (ms since 1970); ignores `since_ms`.

    If `known` is false, the tables were unknown at that time, and the row shows the last known state.
    """
    moment = timestamp_millis(lit(until))
    holds = (col("validFrom") <= moment) & (col("validTo").isNull() | (col("validTo") > moment))
    return route_fact.where(holds).select(
        to_date(moment).alias("date"),
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
