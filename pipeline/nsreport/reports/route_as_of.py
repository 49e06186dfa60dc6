"""route_as_of: the routes that each name server gave at a moment. Pure."""

from pyspark.sql import DataFrame
from pyspark.sql.functions import col, lit, timestamp_millis, to_date


def route_as_of(route_fact: DataFrame, since: int, until: int) -> DataFrame:
    """A row for each server, topic and broker name at `until` (ms since 1970), whatever `since` is.

    Where `known` is false nobody looked then: the row is what was known before.
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
