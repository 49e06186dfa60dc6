"""From messages to what they say: the rule that each one follows, and its fields.

Rules are rows that messages are joined with, so that there are few expressions however many rules there are.
"""

import re
from collections.abc import Iterable

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import broadcast, coalesce, col, expr, last, lit, row_number

from nsreport.java_logs.rules import PLACES, RULES, names

BROKEN = "broken"
"""The rule of a message that begins like one that is known, and goes on otherwise."""


def parsed(messages: DataFrame) -> DataFrame:
    """The messages that mean something, each once: with `rule`, `dialect`, and every field of `rules.PLACES`.

    A rotated file that was read under its earlier name too has the same lines again: the n-th that says the
    same in the same second counts once.
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
"""The groups of a message that matches."""


def begins(starts: Iterable[str]) -> str:
    """A pattern for what begins in one of these ways."""
    return "^(?:" + "|".join(f"\\Q{start}\\E" for start in starts) + ")"


def _number() -> Column:
    """The number of the rule whose beginning a message has."""
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
    """A line that both releases write is of the one whose own words stand before it, or else behind it."""
    place = Window.partitionBy("server", "kind")
    earlier = last("own", ignorenulls=True).over(place.orderBy("ts", "line"))
    later = last("own", ignorenulls=True).over(place.orderBy(col("ts").desc(), col("line").desc()))
    return read.withColumn("dialect", coalesce(earlier, later, lit("java"))).drop("own")
