"""Rule matcher: finds the rule that each log message follows, and extracts the rule's fields.

Messages are joined with rules as rows, so that the number of Spark expressions does not grow with the rules.
"""

import re
from collections.abc import Iterable

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import broadcast, coalesce, col, expr, last, lit, row_number

from nsreport.java_logs.rules import PLACES, RULES, names

BROKEN = "broken"
"""The rule of a message that starts like a known message but does not match its pattern."""


def parsed(messages: DataFrame) -> DataFrame:
    """Return each message that follows a rule once, with `rule`, `dialect` and all fields of GROUPS_BY_FIELD.

    A rotated file repeats the lines that a run read under the file's earlier name. Therefore the n-th line
    with the same text in the same second counts once over all files.
    """
    rules = [
        (at, rule.name, rf"(?s)^\Q{rule.starts}\E(?:{rule.rest})$", names(rule), rule.dialect)
        for at, rule in enumerate(RULES)
    ]
    table = messages.sparkSession.createDataFrame(
        rules, "at int, rule string, whole string, names array<string>, own string"
    )
    begun = messages.where(col("message").rlike(begins(rule.starts for rule in RULES))).withColumn(
        "at", _number()
    )
    joined = begun.where(col("at").isNotNull()).join(broadcast(table), "at").drop("at")
    said = joined.withColumn("said", expr(_SAID)).withColumn(
        "rule", expr("if(rlike(message, whole), rule, 'broken')")
    )
    fields = [
        coalesce(*(expr(f"said['{group}']") for group in groups)).alias(name)
        for name, groups in PLACES.items()
    ]
    kept = (col(name) for name in (*_KEPT, "own"))
    return _with_dialect(_once(said.select(*kept, *fields)))


_KEPT = ("server", "file", "line", "kind", "hash", "ts", "level", "thread", "message", "rule")

_SAID = """
map_from_entries(filter(
    transform(names, (name, at) -> struct(name, nullif(regexp_extract(message, whole, at + 1), ''))),
    pair -> pair.col2 is not null
))
"""
"""SQL for the named groups of a matching message."""


def begins(starts: Iterable[str]) -> str:
    """Build a pattern that matches messages with one of these starts."""
    return "^(?:" + "|".join(f"\\Q{start}\\E" for start in starts) + ")"


def _number() -> Column:
    """The index of the first rule whose start a message has."""
    cases = [
        f"when startswith(message, {_quoted(rule.starts)}) and startswith(kind, '{rule.of}') then {at}"
        for at, rule in enumerate(RULES)
    ]
    return expr(f"case {' '.join(cases)} end")


def _quoted(text: str) -> str:
    return "'" + re.sub(r"(['\\])", r"\\\1", text) + "'"


def _once(read: DataFrame) -> DataFrame:
    same = ("server", "kind", "ts", "thread", "message")
    within = Window.partitionBy(*same, "file").orderBy("line")
    again = Window.partitionBy(*same, "nth").orderBy("file")
    numbered = read.withColumn("nth", row_number().over(within)).withColumn("copy", row_number().over(again))
    return numbered.where("copy = 1").drop("nth", "copy")


def _with_dialect(read: DataFrame) -> DataFrame:
    """Add `dialect`: a line that 4.x and 5.x share takes the dialect of the nearest earlier or later line."""
    place = Window.partitionBy("server", "kind")
    earlier = last("own", ignorenulls=True).over(place.orderBy("ts", "line"))
    later = last("own", ignorenulls=True).over(place.orderBy(col("ts").desc(), col("line").desc()))
    return read.withColumn("dialect", coalesce(earlier, later, lit("java"))).drop("own")
