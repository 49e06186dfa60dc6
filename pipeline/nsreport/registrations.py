"""Registration gaps: the times in which a broker's own log shows no registration with a name server. Pure."""

from pyspark.sql import DataFrame
from pyspark.sql.functions import (
    col,
    concat,
    count_distinct,
    lit,
    max,
    when,
)

from nsreport.spans import silences

LONG = 90_000
"""A longer time without a registration is a silence: three quarters of the name server's broker expiry."""


def silences_of_brokers(log_fact: DataFrame, until: int) -> DataFrame:
    """Return the silences between a broker's registrations with a name server, for `heartbeat_gaps`.

    `server` is the name server's address as the broker logs it; `brokerName` is the server name of the log. A
    silence that lasts is open, and ends with the last failed try.
    """
    told = log_fact.where(col("kind").isin("registered", "notRegistered") & (col("time") < until))
    beat, failed = (when(col("kind") == kind, col("time")) for kind in ("registered", "notRegistered"))
    key = ["server", "key"]
    ends = told.groupBy(*key).agg(max(beat).alias("beat"), max(failed).alias("failed"))
    ends = ends.select(*key, when(col("failed") > col("beat"), col("failed")).alias("open"))
    tries = ends.where("open is not null").select(*key, col("open").alias("time"))
    beats = told.where(beat.isNotNull()).select(*key, "time").unionByName(tries)
    brokers = told.groupBy("key").agg(count_distinct("server").alias("brokers"))
    servers = told.groupBy("server").agg(count_distinct("key").cast("int").alias("servers"))
    found = silences(beats, key, LONG).join(ends, key).join(brokers, "key").join(servers, "server")
    return found.select(
        concat("key", lit(" brokers")).alias("witness"),
        col("key").alias("server"),
        lit(None).cast("string").alias("cluster"),
        col("server").alias("brokerName"),
        lit(None).cast("bigint").alias("brokerId"),
        "since",
        "until",
        when(col("until") == col("open"), "open").otherwise("resumed").alias("ended"),
        "brokers",
        "servers",
    )
