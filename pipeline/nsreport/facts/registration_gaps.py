"""Registration gaps: the times in which a broker's own log shows no registration with a name server. Pure."""

from pyspark.sql import DataFrame
from pyspark.sql.functions import (
    col,
    collect_set,
    concat,
    count_distinct,
    lit,
    max,
    when,
)

from nsreport.facts.spans import find_silences

MIN_SILENCE_MS = 90_000
"""A longer time without a registration is a silence: three quarters of the name server's broker expiry."""


def find_registration_silences(log_fact: DataFrame, until_ms: int) -> DataFrame:
    """Return the silences between a broker's registrations with a name server, for `heartbeat_gaps`.

    `server` is the name server's address as the broker logs it; `brokerName` is the server name of the log.
    If the last try of a broker failed, its last silence is open, and ends with that try.
    """
    registration_facts = log_fact.where(
        col("kind").isin("registered", "notRegistered") & (col("time") < until_ms)
    )
    success_time, failure_time = (
        when(col("kind") == fact_kind, col("time")) for fact_kind in ("registered", "notRegistered")
    )
    pair_key = ["server", "key"]
    last_times = registration_facts.groupBy(*pair_key).agg(
        max(success_time).alias("beat"), max(failure_time).alias("failed")
    )
    last_times = last_times.select(*pair_key, when(col("failed") > col("beat"), col("failed")).alias("open"))
    failed_tries = last_times.where("open is not null").select(*pair_key, col("open").alias("time"))
    beat_times = (
        registration_facts.where(success_time.isNotNull()).select(*pair_key, "time").unionByName(failed_tries)
    )
    broker_counts = registration_facts.groupBy("key").agg(count_distinct("server").alias("brokers"))
    server_counts = registration_facts.groupBy("server").agg(collect_set("key").alias("servers"))
    registration_silences = (
        find_silences(beat_times, pair_key, MIN_SILENCE_MS)
        .join(last_times, pair_key)
        .join(broker_counts, "key")
        .join(server_counts, "server")
    )
    return registration_silences.select(
        concat("key", lit(" brokers")).alias("observer"),
        col("key").alias("server"),
        lit(None).cast("string").alias("cluster"),
        col("server").alias("brokerName"),
        lit(None).cast("bigint").alias("brokerId"),
        "since",
        "until",
        when(col("until") == col("open"), "open").otherwise("resumed").alias("outcome"),
        "brokers",
        "servers",
    )
