"""Write permissions: whether a change of topics removes or adds WRITE. Pure."""

from pyspark.sql import Column
from pyspark.sql.functions import coalesce, col, expr, lit, when

CLOSES_SQL = "change.before.perm & 2 > 0 and change.after.perm & 2 = 0"
OPENS_SQL = "change.after.perm & 2 > 0 and coalesce(change.before.perm & 2, 0) = 0"
"""Conditions on a `change`: a writable topic loses WRITE; an unwritable or new topic gets WRITE."""


def changes_write(event_type: Column) -> Column:
    """Whether the `changes` of a TopicsChanged event close or open a topic; null for other events."""
    has_write_change = expr(f"exists(changes, change -> ({CLOSES_SQL}) or ({OPENS_SQL}))")
    return when(event_type == "TopicsChanged", coalesce(has_write_change, lit(False)))


def may_change_write() -> Column:
    """Whether `changesWrite` is true or null: the filter for queries of event tables."""
    return col("changesWrite").isNull() | col("changesWrite")
