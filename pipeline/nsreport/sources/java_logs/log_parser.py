"""The parser of Java logs: from lines to events, log facts, minute statistics and quarantine.

The functions build DataFrames. For rows in memory, they run parts of the query at once (`shorten_plan`); for
other rows, only `keep_rows` may start a Spark job.
"""

from collections.abc import Callable
from functools import reduce
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql.functions import col, lit, substring, to_date

from nsreport.runtime.local_rows import shorten_plan
from nsreport.sources.java_logs import broker_identity, events, log_facts, minute_statistics
from nsreport.sources.java_logs.message_splitter import select_orphan_lines, split_messages
from nsreport.sources.java_logs.rule_matcher import BROKEN_RULE, match_rules
from nsreport.sources.journals import MAX_QUARANTINED_LENGTH

_BROKEN_REASON = "starts like a known message, but does not match its pattern"
_ODD_STATISTIC_REASON = "not a statistic that brokers are known to write"


class ParsedLogs(NamedTuple):
    """The result of parsing logs: events, log facts, minute statistics and quarantine.

    Their schemas are `schemas.event_schema`, `log_facts.LOG_FACT_SCHEMA` and
    `minute_statistics.STATS_MINUTE_SCHEMA`. They depend on `parsed_messages`, which `parse_logs` keeps for
    them: call `parsed_messages.unpersist()` at the end.
    """

    event_rows: DataFrame
    fact_rows: DataFrame
    stats_rows: DataFrame
    quarantine_rows: DataFrame
    parsed_messages: DataFrame


def parse_logs(
    message_lines: DataFrame, keep_rows: Callable[[DataFrame], DataFrame] = DataFrame.persist
) -> ParsedLogs:
    """Parse the lines that `join_continuations` returned, with `kind` (a key of LOG_PATTERNS) and `hash`.

    `keep_rows` returns rows that several queries read without computing them again.
    """
    all_messages = shorten_plan(split_messages(message_lines))
    parsed_messages = keep_rows(match_rules(all_messages))
    identified_lines = broker_identity.identify_brokers(parsed_messages)
    fact_rows = log_facts.build_log_facts(parsed_messages, all_messages)
    return ParsedLogs(
        events.build_events(identified_lines),
        fact_rows,
        minute_statistics.build_minute_stats(all_messages),
        _select_quarantine(message_lines, parsed_messages, all_messages),
        parsed_messages,
    )


def _select_quarantine(
    message_lines: DataFrame, parsed_messages: DataFrame, all_messages: DataFrame
) -> DataFrame:
    """Return lines that continue no message, messages that do not match their rule, and odd statistics."""
    orphan_lines = select_orphan_lines(message_lines)
    broken_lines, odd_statistics = (
        messages.withColumns({"text": col("message"), "reason": lit(reason), "date": to_date("ts")})
        for messages, reason in (
            (parsed_messages.where(col("rule") == BROKEN_RULE), _BROKEN_REASON),
            (minute_statistics.select_unread_statistics(all_messages), _ODD_STATISTIC_REASON),
        )
    )
    quarantine_columns = (
        "file", "line", substring("text", 1, MAX_QUARANTINED_LENGTH).alias("text"), "reason", "kind", "date",
    )  # fmt: skip
    return reduce(
        DataFrame.unionByName,
        (lines.select(*quarantine_columns) for lines in (orphan_lines, broken_lines, odd_statistics)),
    )
