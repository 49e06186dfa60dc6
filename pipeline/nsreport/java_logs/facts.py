"""Log facts: scans, water marks, registrations, complaints and statistics, which are not events."""

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import (
    any_value,
    broadcast,
    coalesce,
    col,
    count,
    date_trunc,
    element_at,
    explode,
    expr,
    lit,
    max,
    min,
    regexp_extract,
    size,
    substring,
    sum,
    to_date,
    unix_millis,
    when,
)
from pyspark.sql.types import DateType, TimestampType

from nsreport.java_logs.parsing import begins
from nsreport.java_logs.rules import FACTS, KNOWN_WARNINGS, MEASURES, RULES, STATISTIC
from nsreport.schemas import REAL, TEXT, WHOLE, shape

LOG_FACT = shape(
    server=TEXT,
    time=WHOLE,
    ts=TimestampType(),
    kind=TEXT,
    name=TEXT,
    key=TEXT,
    value=REAL,
    text=TEXT,
    file=TEXT,
    line=WHOLE,
    date=DateType(),
)
"""A fact from a log that is not an event; `server` is the name server or broker that wrote the log."""

STATS_MINUTE = shape(
    broker=TEXT,
    ts=TimestampType(),
    name=TEXT,
    key=TEXT,
    topic=TEXT,
    group=TEXT,
    sum=REAL,
    date=DateType(),
)
"""A statistic that `broker` logged for the minute that begins at `ts`; sizes are in bytes."""

CUT = 500
"""A fact keeps this many characters of its line."""


def facts(read: DataFrame, messages: DataFrame) -> DataFrame:
    """Build all facts: from parsed lines, figures per minute, complaints, and line counts."""
    parts = (_single(read), _measured(messages), _complaints(messages), _counted(messages))
    found = reduce(DataFrame.unionByName, parts)
    shaped = found.withColumn("time", unix_millis("ts")).withColumn("date", to_date("ts"))
    return shaped.select(*(col(field.name).cast(field.dataType) for field in LOG_FACT.fields))


def _single(read: DataFrame) -> DataFrame:
    """Return one fact per parsed line: `name` is a broker, `key` an address or the subject of the line."""
    cases = " ".join(f"when '{rule}' then '{kind}'" for rule, kind in FACTS.items())
    return read.where(col("rule").isin(*FACTS)).select(
        "server", "ts", expr(f"case rule {cases} end").alias("kind"), col("broker").alias("name"),
        coalesce("key", "addr", "client", "topic").alias("key"),
        coalesce(col("value").try_cast("double"), lit(1.0)).alias("value"),
        substring("message", 1, CUT).alias("text"), "file", "line",
    )  # fmt: skip


def _measured(messages: DataFrame) -> DataFrame:
    """Aggregate figures that a server logs every second to one row per minute."""
    shape = "at int, kind string, pairs string, named string, sums boolean"
    rows = [(at, item.kind, item.pairs, item.named, item.sums) for at, item in enumerate(MEASURES)]
    table = messages.sparkSession.createDataFrame(rows, shape)
    cases = " ".join(
        f"when startswith(message, '{item.starts}') then {at}" for at, item in enumerate(MEASURES)
    )
    lines = messages.where(col("message").rlike(begins(item.starts for item in MEASURES)))
    joined = lines.drop("kind").withColumn("at", expr(f"case {cases} end")).join(broadcast(table), "at")
    found = "arrays_zip(regexp_extract_all(message, pairs, 1), regexp_extract_all(message, pairs, 2))"
    each = joined.select(
        "server", "ts", "kind", "sums", "file", "line",
        expr("nullif(regexp_extract(message, named, 1), '')").alias("name"),
        explode(expr(found)).alias("pair"),
    )  # fmt: skip
    start = date_trunc("minute", "ts").alias("ts")
    minute = each.groupBy("server", "kind", "name", col("pair.0").alias("key"), start)
    value = col("pair.1").try_cast("double")
    return minute.agg(
        when(any_value("sums"), sum(value)).otherwise(max(value)).alias("value"),
        lit(None).cast("string").alias("text"),
        min("file").alias("file"),
        min("line").alias("line"),
    )


def _complaints(messages: DataFrame) -> DataFrame:
    """Return the warnings and errors that match no rule."""
    known = begins([*(rule.starts for rule in RULES), *KNOWN_WARNINGS])
    return messages.where(col("level").isin("WARN", "ERROR") & ~col("message").rlike(known)).select(
        "server", "ts", lit("complaint").alias("kind"),
        col("level").alias("name"), col("thread").alias("key"),
        lit(1.0).alias("value"), substring("message", 1, CUT).alias("text"), "file", "line",
    )  # fmt: skip


def _counted(messages: DataFrame) -> DataFrame:
    """Count the lines per file, day and level: `name` is the level, "" if the file has no levels."""
    return (
        messages.groupBy("server", "file", date_trunc("day", "ts").alias("ts"), col("level").alias("name"))
        .agg(count("*").cast("double").alias("value"), min("line").alias("line"))
        .withColumns(
            {"kind": lit("lines"), "key": lit(None).cast("string"), "text": lit(None).cast("string")}
        )
    )


def stats(messages: DataFrame) -> DataFrame:
    """Return the statistics that brokers log per minute.

    The brokers' own sums per hour and day are wrong (apache/rocketmq#3190): add up the minutes instead.
    """
    lines = messages.where(col("message").rlike(f"^{STATISTIC}$"))
    found = lines.select(
        col("server").alias("broker"),
        # The broker writes the line at the end of the minute, sometimes a moment late.
        date_trunc("minute", col("ts") - expr("interval 30 seconds")).alias("ts"),
        *(
            regexp_extract("message", STATISTIC, number).alias(name)
            for number, name in ((1, "name"), (2, "key"))
        ),
        regexp_extract("message", STATISTIC, 3).try_cast("double").alias("sum"),
        "file",
    ).dropDuplicates(["broker", "ts", "name", "key", "sum"])
    named = found.withColumns({"topic": _topic(), "group": _group(), "date": to_date("ts")})
    return named.select(*(col(field.name).cast(field.dataType) for field in STATS_MINUTE.fields))


def _parts() -> Column:
    """The parts of a key without the queue id: the topic, or topic and consumer group."""
    return expr("filter(split(key, '@'), part -> not part rlike '^-?[0-9]+$')")


def _topic() -> Column:
    about = col("name").rlike("^(TOPIC|QUEUE|GROUP|SNDBCK|DLQ)_") & (size(_parts()) > 0)
    return when(about, element_at(_parts(), 1))


def _group() -> Column:
    return when(_topic().isNotNull() & (size(_parts()) > 1), element_at(_parts(), 2))
