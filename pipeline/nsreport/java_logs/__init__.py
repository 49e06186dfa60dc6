"""Java logs: turns logs of Apache's name servers and brokers (4.x, 5.x) into events and log facts.

The functions only build DataFrames; they start no Spark job.
"""

from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql.functions import col, lit, substring, to_date

from nsreport.java_logs import events, facts, identity
from nsreport.java_logs.heads import hash_of as hash_of
from nsreport.java_logs.heads import joined as joined
from nsreport.java_logs.heads import messages, orphans
from nsreport.java_logs.parsing import BROKEN, parsed
from nsreport.sources import LOGS

KINDS = LOGS
"""The kinds of logs that this package reads, with patterns of their file names."""

CUT = 500
"""The quarantine keeps this many characters of a line."""

_OTHERWISE = "begins like a known message, and goes on otherwise"


class Parsed(NamedTuple):
    """The result of parsing logs: events, log facts, minute statistics and quarantine.

    Their schemas are `schemas.event_schema`, `log_facts.LOG_FACT_SCHEMA` and
    `log_facts.STATS_MINUTE_SCHEMA`. They depend on `parsed_messages`, which Spark persists after the first
    job: call `parsed_messages.unpersist()` at the end.
    """

    events: DataFrame
    facts: DataFrame
    stats: DataFrame
    quarantine: DataFrame
    kept: DataFrame


def read(lines: DataFrame) -> Parsed:
    """Parse the lines that `join_continuations` returned, with `kind` (one of LOG_KINDS) and `hash`."""
    said = messages(lines)
    kept = parsed(said).persist()
    known = identity.known(kept)
    found = facts.facts(kept, said)
    return Parsed(events.events(known), found, facts.stats(said), _quarantine(lines, kept), kept)


def _quarantine(lines: DataFrame, found: DataFrame) -> DataFrame:
    """Return lines that continue no message, and messages that start like a rule but do not match it."""
    lost = orphans(lines)
    broken = found.where(col("rule") == BROKEN).select(
        "file", "line", col("message").alias("text"), lit(_OTHERWISE).alias("reason"),
        "kind", to_date("ts").alias("date"),
    )  # fmt: skip
    own = ("file", "line", substring("text", 1, CUT).alias("text"), "reason", "kind", "date")
    return lost.select(*own).unionByName(broken.select(*own))
