"""Log facts: scans, water marks, registrations, complaints and statistics, which are not events."""

from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql.functions import (
    any_value,
    coalesce,
    col,
    count,
    date_trunc,
    explode,
    expr,
    lit,
    max,
    min,
    substring,
    sum,
    to_date,
    unix_millis,
    when,
)
from pyspark.sql.types import DateType, TimestampType

from nsreport.runtime.local_rows import build_rows
from nsreport.runtime.session import broadcast_rows
from nsreport.sources.java_logs.log_line_patterns import (
    FACT_KINDS,
    KNOWN_WARNINGS,
    LOG_MEASURES,
    LOG_RULES,
    LogMeasure,
)
from nsreport.sources.java_logs.rule_matcher import build_start_pattern
from nsreport.sources.schemas import REAL_TYPE, TEXT_TYPE, WHOLE_TYPE, build_schema

LOG_FACT_SCHEMA = build_schema(
    server=TEXT_TYPE,
    time=WHOLE_TYPE,
    ts=TimestampType(),
    kind=TEXT_TYPE,
    name=TEXT_TYPE,
    key=TEXT_TYPE,
    value=REAL_TYPE,
    text=TEXT_TYPE,
    file=TEXT_TYPE,
    line=WHOLE_TYPE,
    date=DateType(),
)
"""A fact from a log that is not an event; `server` is the name server or broker that wrote the log."""

MAX_COMPLAINT_LENGTH = 500
"""A fact keeps this many characters of its line."""


def build_log_facts(parsed_messages: DataFrame, all_messages: DataFrame) -> DataFrame:
    """Build all facts: from parsed lines, figures per minute, complaints, and line counts."""
    fact_parts = (
        _rule_facts(parsed_messages),
        _measure_facts(all_messages),
        _complaint_facts(all_messages),
        _line_count_facts(all_messages),
    )
    fact_rows = reduce(DataFrame.unionByName, fact_parts)
    dated_facts = fact_rows.withColumn("time", unix_millis("ts")).withColumn("date", to_date("ts"))
    return dated_facts.select(*(col(field.name).cast(field.dataType) for field in LOG_FACT_SCHEMA.fields))


def _rule_facts(parsed_messages: DataFrame) -> DataFrame:
    """Return a fact per parsed line: `name` is a broker or a group, `key` an address, a client or a topic."""
    case_clauses = " ".join(
        f"when '{rule_name}' then '{fact_kind}'" for rule_name, fact_kind in FACT_KINDS.items()
    )
    return parsed_messages.where(col("rule").isin(*FACT_KINDS)).select(
        "server", "ts", expr(f"case rule {case_clauses} end").alias("kind"),
        coalesce("broker", "group").alias("name"),
        coalesce("key", "addr", "client", "topic").alias("key"),
        coalesce(col("value").try_cast("double"), lit(1.0)).alias("value"),
        substring("message", 1, MAX_COMPLAINT_LENGTH).alias("text"), "file", "line",
    )  # fmt: skip


def _measure_facts(all_messages: DataFrame) -> DataFrame:
    """Aggregate figures that a server logs every second to one row per minute."""
    measure_columns = {
        "at": "int", "kind": "string", "pairs": "string", "named": "string", "sums": "boolean"
    }  # fmt: skip
    measure_rows = [
        (
            measure_index,
            log_measure.fact_kind,
            log_measure.pairs_pattern,
            log_measure.name_pattern,
            log_measure.is_summed,
        )
        for measure_index, log_measure in enumerate(LOG_MEASURES)
    ]
    measure_table = build_rows(all_messages.sparkSession, measure_rows, measure_columns)
    case_clauses = " ".join(
        f"when {_measure_condition(log_measure)} then {measure_index}"
        for measure_index, log_measure in enumerate(LOG_MEASURES)
    )
    measure_lines = all_messages.where(" or ".join(map(_measure_condition, LOG_MEASURES)))
    matched_lines = (
        measure_lines.withColumn("at", expr(f"case {case_clauses} end"))
        .drop("kind")
        .join(broadcast_rows(measure_table), "at")
    )
    pairs_sql = "arrays_zip(regexp_extract_all(message, pairs, 1), regexp_extract_all(message, pairs, 2))"
    figure_rows = matched_lines.select(
        "server", "ts", "kind", "sums", "file", "line",
        expr("nullif(regexp_extract(message, named, 1), '')").alias("name"),
        explode(expr(pairs_sql)).alias("pair"),
    )  # fmt: skip
    minute_start = date_trunc("minute", "ts").alias("ts")
    minute_groups = figure_rows.groupBy("server", "kind", "name", col("pair.0").alias("key"), minute_start)
    figure_value = col("pair.1").try_cast("double")
    return minute_groups.agg(
        when(any_value("sums"), sum(figure_value)).otherwise(max(figure_value)).alias("value"),
        lit(None).cast("string").alias("text"),
        min("file").alias("file"),
        min("line").alias("line"),
    )


def _measure_condition(log_measure: LogMeasure) -> str:
    """SQL: whether a message has the figures of a measure."""
    if log_measure.file_kind:
        return f"kind = '{log_measure.file_kind}'"
    return f"startswith(message, '{log_measure.message_start}')"


def _complaint_facts(all_messages: DataFrame) -> DataFrame:
    """Return the warnings and errors that match no rule."""
    known_pattern = build_start_pattern([*(rule.message_start for rule in LOG_RULES), *KNOWN_WARNINGS])
    return all_messages.where(col("level").isin("WARN",
    "ERROR") & ~col("message").rlike(known_pattern)).select(
        "server", "ts", lit("complaint").alias("kind"),
        col("level").alias("name"), col("thread").alias("key"),
        lit(1.0).alias("value"), substring("message", 1, MAX_COMPLAINT_LENGTH).alias("text"), "file", "line",
    )  # fmt: skip


def _line_count_facts(all_messages: DataFrame) -> DataFrame:
    """Count the lines per file, day and level: `name` is the level, "" if the file has no levels."""
    return (
        all_messages.groupBy(
            "server", "file", date_trunc("day", "ts").alias("ts"), col("level").alias("name")
        )
        .agg(count("*").cast("double").alias("value"), min("line").alias("line"))
        .withColumns(
            {"kind": lit("lines"), "key": lit(None).cast("string"), "text": lit(None).cast("string")}
        )
    )
