"""broker_availability: how long each broker was up, down, drained or unknown, day by day. Pure."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import (
    array,
    broadcast,
    coalesce,
    col,
    collect_list,
    concat,
    count_if,
    explode,
    filter,
    greatest,
    last,
    least,
    lit,
    min,
    round,
    struct,
    sum,
    transform,
    when,
)

from nsreport.coverage import watched
from nsreport.drains import drains
from nsreport.presence import BROKER, SEAT, presence
from nsreport.spans import by_day, clipped, counted, number, overlaps

GRACE = 150_000
"""Brokers that register within this time after a name server's start do not count as down."""


def broker_availability(told: DataFrame, coverage: DataFrame, since: int, until: int) -> DataFrame:
    """Return a row for each known broker and day, from `since_ms` to `until_ms` (ms since 1970).

    Only name servers whose tables are known at that time count. A broker is

    - planned while it is drained on one of them (a stop during a drain is planned too),
    - up while one of them has it,
    - down while all of them miss it,
    - unknown while there is none of them.

    Its days begin when a witness first sees it. `partialSeconds` is the part of `upSeconds` in which some
    name servers missed it.
    """
    told = told.where(col("time") < until)
    seats = presence(told, until).select(*SEAT, "since", "until", "state")
    closed = drains(told, until).groupBy("witness", "brokerName")
    drained = closed.agg(collect_list(struct("since", "until")).alias("drained"))
    # From here on Spark keeps the rows of a broker in one partition: later windows by `broker` move no rows.
    first = min(when(col("state") == "up", col("since"))).over(Window.partitionBy("broker"))
    looked = broadcast(watched(coverage, until).select("witness", "since", "until"))
    known = overlaps(seats.withColumn("broker", number(BROKER)), looked, ["witness"])
    seen = known.select("*", first.alias("first")).where("first is not null")
    each = seen.join(broadcast(drained), ["witness", "brokerName"], "left")
    key = ["broker", *BROKER]
    spans = each.select(*key, explode(_kinds(until)).alias("span")).select(*key, "span.*")
    counts = counted(spans, key, ["alive", "up", "down", "planned"])
    states = counts.where("alive > 0").select(*key, "since", "until", "down", _state().alias("state"))
    return _days(_begun(states), since, until)


def _kinds(until: int) -> Column:
    """The kinds as which a span counts. `alive` covers all time from the broker's first registration on."""
    is_up = col("state") == "up"
    # Brokers have GRACE_MS to register with a name server that started.
    late = when(col("state") == "starting", col("since") + GRACE).otherwise(col("since"))
    itself = _span(
        when(is_up, "up").otherwise("down"), when(is_up, col("since")).otherwise(late), col("until")
    )
    begins = is_up & (col("since") == col("first"))
    alive = _span(lit("alive"), col("since"), when(begins, until).otherwise(col("since")))
    planned = transform(
        coalesce("drained", array()),
        lambda one: _span(lit("planned"), greatest(one["since"], "since"), least(one["until"], "until")),
    )
    every = concat(array(itself, alive), planned)
    return filter(every, lambda span: span["since"] < span["until"])


def _span(kind: Column, since: Column, until: Column) -> Column:
    # All structs of a Spark array need exactly the same types.
    return struct(
        kind.cast("string").alias("kind"),
        since.cast("long").alias("since"),
        until.cast("long").alias("until"),
    )


def _state() -> Column:
    return (
        when((col("up") == 0) & (col("down") == 0), "unknown")
        .when(col("planned") > 0, "planned")
        .when(col("up") > 0, "up")
        .otherwise("down")
    )


def _begun(spans: DataFrame) -> DataFrame:
    """Add `failed`: the broker is down in this span, and was not in the last known span before it."""
    known = when(col("state") != "unknown", col("state"))
    before = Window.partitionBy("broker").orderBy("since").rowsBetween(Window.unboundedPreceding, -1)
    failed = (col("state") == "down") & (
        coalesce(last(known, ignorenulls=True).over(before), lit("")) != "down"
    )
    return spans.withColumn("failed", failed)


def _days(spans: DataFrame, since: int, until: int) -> DataFrame:
    is_in = col("since") >= since
    inside = clipped(spans.withColumn("failed", col("failed") & is_in), since, until)
    days = by_day(inside, *BROKER, "state", "down", "failed")
    length = (col("until") - col("since")) / 1000

    def seconds(condition: Column) -> Column:
        return round(sum(when(condition, length).otherwise(0.0)), 3)

    state = col("state")
    found = days.groupBy("date", *BROKER).agg(
        *(seconds(state == name).alias(f"{name}Seconds") for name in ("up", "down", "planned", "unknown")),
        seconds((state == "up") & (col("down") > 0)).alias("partialSeconds"),
        count_if(col("failed") & col("isFirst")).alias("failures"),
    )
    up, down = col("upSeconds"), col("downSeconds")
    failures = when(col("failures") > 0, col("failures"))
    return found.select(
        "date",
        *BROKER,
        "upSeconds",
        "downSeconds",
        "plannedSeconds",
        "unknownSeconds",
        "partialSeconds",
        round(100 * up / when(up + down > 0, up + down), 4).alias("availability"),
        "failures",
        round(up / failures, 3).alias("mtbfSeconds"),
        round(down / failures, 3).alias("mttrSeconds"),
    )
