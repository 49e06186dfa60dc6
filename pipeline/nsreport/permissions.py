"""Permissions: what a change of topics does to whether they can be written to. Pure."""

from pyspark.sql import Column
from pyspark.sql.functions import coalesce, col, expr, lit, when

CLOSES = "change.before.perm & 2 > 0 and change.after.perm & 2 = 0"
OPENS = "change.after.perm & 2 > 0 and coalesce(change.before.perm & 2, 0) = 0"
"""Of a `change`: what could be written to cannot any more; what could not, or was not there, can."""


def changes_write(kind: Column) -> Column:
    """Whether the `changes` of an event of this kind close or open any topic; null for the others."""
    found = expr(f"exists(changes, change -> ({CLOSES}) or ({OPENS}))")
    return when(kind == "TopicsChanged", coalesce(found, lit(False)))


def may_change_write() -> Column:
    """Whether that is so, or nobody has looked: what tables are asked for."""
    return col("changesWrite").isNull() | col("changesWrite")
