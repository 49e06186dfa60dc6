"""Logs of Java's name servers and brokers, 4.x and 5.x: what happened, as journals have it, and other facts.

DataFrames in, DataFrames out, nothing is run here.
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
"""What is read here, by patterns of files' names."""

CUT = 500
"""Letters of a line that quarantine keeps."""

_OTHERWISE = "begins like a known message, and goes on otherwise"


class Parsed(NamedTuple):
    """`events` are as `schemas.ns_event`, `facts` as `facts.LOG_FACT`, `stats` as `facts.STATS_MINUTE`.

    All of them lean on `kept`, the lines that mean something, which stay in memory once somebody has asked:
    `kept.unpersist()` lets go of them.
    """

    events: DataFrame
    facts: DataFrame
    stats: DataFrame
    quarantine: DataFrame
    kept: DataFrame


def read(lines: DataFrame) -> Parsed:
    """What messages say: `joined` lines with `server`, `kind` (one of KINDS) and `hash` (`hash_of`)."""
    said = messages(lines)
    kept = parsed(said).persist()
    known = identity.known(kept)
    found = facts.facts(kept, said)
    return Parsed(events.events(known), found, facts.stats(said), _quarantine(lines, kept), kept)


def _quarantine(lines: DataFrame, found: DataFrame) -> DataFrame:
    """Lines that nobody understands: torn off from what they continue, or not as what they begin like."""
    lost = orphans(lines)
    broken = found.where(col("rule") == BROKEN).select(
        "file", "line", col("message").alias("text"), lit(_OTHERWISE).alias("reason"),
        "kind", to_date("ts").alias("date"),
    )  # fmt: skip
    own = ("file", "line", substring("text", 1, CUT).alias("text"), "reason", "kind", "date")
    return lost.select(*own).unionByName(broken.select(*own))
