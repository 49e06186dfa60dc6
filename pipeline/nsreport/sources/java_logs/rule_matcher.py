"""Rule matcher: finds the rule that each log message follows, and extracts the rule's fields.

Messages are joined with rules as rows, so that the number of Spark expressions does not grow with the rules.
"""

import re
from collections.abc import Iterable

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import coalesce, col, expr, last, lit, row_number

from nsreport.runtime.local_rows import build_rows
from nsreport.runtime.session import broadcast_rows
from nsreport.sources.java_logs.log_line_patterns import GROUPS_BY_FIELD, LOG_RULES, group_names

BROKEN_RULE = "broken"
"""The rule of a message that starts like a known message but does not match its pattern."""


def match_rules(all_messages: DataFrame) -> DataFrame:
    """Return each message that follows a rule once, with `rule`, `dialect` and all fields of GROUPS_BY_FIELD.

    A rotated file repeats the lines that a run read under the file's earlier name. Therefore the n-th line
    with the same text in the same second counts once over all files.
    """
    rule_rows = [
        (
            rule_index,
            rule.rule_name,
            rf"(?s)^\Q{rule.message_start}\E(?:{rule.rest_pattern})$",
            group_names(rule),
            rule.dialect,
        )
        for rule_index, rule in enumerate(LOG_RULES)
    ]
    rule_table = build_rows(
        all_messages.sparkSession,
        rule_rows,
        {"at": "int", "rule": "string", "whole": "string", "names": "array<string>", "own": "string"},
    )
    candidate_messages = all_messages.where(
        col("message").rlike(build_start_pattern(rule.message_start for rule in LOG_RULES))
    ).withColumn("at", _matching_rule_index())
    joined_messages = (
        candidate_messages.where(col("at").isNotNull()).join(broadcast_rows(rule_table), "at").drop("at")
    )
    messages_with_groups = joined_messages.withColumn("said", expr(_GROUPS_SQL)).withColumn(
        "rule", expr("if(rlike(message, whole), rule, 'broken')")
    )
    field_columns = [
        coalesce(*(expr(f"said['{group_name}']") for group_name in field_groups)).alias(field_name)
        for field_name, field_groups in GROUPS_BY_FIELD.items()
    ]
    kept_columns = (col(field_name) for field_name in (*_KEPT_COLUMNS, "own"))
    return _add_dialect(_drop_copies(messages_with_groups.select(*kept_columns, *field_columns)))


_KEPT_COLUMNS = ("server", "file", "line", "kind", "hash", "ts", "level", "thread", "message", "rule")

_GROUPS_SQL = """
map_from_entries(filter(
    transform(names, (name, at) -> struct(name, nullif(regexp_extract(message, whole, at + 1), ''))),
    pair -> pair.col2 is not null
))
"""
"""SQL for the named groups of a matching message."""


def build_start_pattern(message_starts: Iterable[str]) -> str:
    """Build a pattern that matches messages with one of these starts."""
    return "^(?:" + "|".join(f"\\Q{message_start}\\E" for message_start in message_starts) + ")"


def _matching_rule_index() -> Column:
    """The index of the first rule whose start a message has."""
    case_clauses = [
        f"when startswith(message, {_quote_sql(rule.message_start)}) and startswith(kind, "
        f"'{rule.file_kind}') then {rule_index}"
        for rule_index, rule in enumerate(LOG_RULES)
    ]
    return expr(f"case {' '.join(case_clauses)} end")


def _quote_sql(sql_text: str) -> str:
    return "'" + re.sub(r"(['\\])", r"\\\1", sql_text) + "'"


def _drop_copies(matched_messages: DataFrame) -> DataFrame:
    copy_key = ("server", "kind", "ts", "thread", "message")
    file_window = Window.partitionBy(*copy_key, "file").orderBy("line")
    copy_window = Window.partitionBy(*copy_key, "nth").orderBy("file")
    numbered_messages = matched_messages.withColumn("nth", row_number().over(file_window)).withColumn(
        "copy", row_number().over(copy_window)
    )
    return numbered_messages.where("copy = 1").drop("nth", "copy")


def _add_dialect(matched_messages: DataFrame) -> DataFrame:
    """Add `dialect`: a line that 4.x and 5.x share takes the dialect of the nearest earlier or later line."""
    server_window = Window.partitionBy("server", "kind")
    earlier_dialect = last("own", ignorenulls=True).over(server_window.orderBy("ts", "line"))
    later_dialect = last("own", ignorenulls=True).over(
        server_window.orderBy(col("ts").desc(), col("line").desc())
    )
    return matched_messages.withColumn("dialect", coalesce(earlier_dialect, later_dialect, lit("java"))).drop(
        "own"
    )
