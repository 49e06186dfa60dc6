"""broker_availability: how long each broker was up, down, drained or unknown, day by day. Pure."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import (
    array,
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

from nsreport.facts.drains import find_drains
from nsreport.facts.knowledge_intervals import select_known_spans
from nsreport.facts.presence import BROKER_KEY, REGISTRATION_KEY, build_presence
from nsreport.facts.spans import clip_spans, count_spans, hash_key, intersect_spans, split_by_day
from nsreport.runtime.session import broadcast_rows

GRACE_MS = 150_000
"""Brokers that register within this time after a name server's start do not count as down."""


def broker_availability(
    lifecycle_events: DataFrame, knowledge_intervals: DataFrame, since_ms: int, until_ms: int
) -> DataFrame:
    """Return a row for each known broker and day, from `since_ms` to `until_ms` (ms since 1970).

    Only name servers whose tables are known at that time count. A broker is

    - planned while it is drained on one of them (a stop during a drain is planned too),
    - up while one of them has it,
    - down while all of them miss it,
    - unknown while there is none of them.

    Its days begin when an observer first sees it. `partialSeconds` is the part of `upSeconds` in which some
    name servers missed it.
    """
    registration_spans = build_presence(lifecycle_events, until_ms).select(
        *REGISTRATION_KEY, "since", "until", "state"
    )
    drains_by_broker = find_drains(lifecycle_events, until_ms).groupBy("observer", "brokerName")
    drain_lists = drains_by_broker.agg(collect_list(struct("since", "until")).alias("drained"))
    # From here on Spark keeps the rows of a broker in one partition: later windows by `broker` move no rows.
    first_up = min(when(col("state") == "up", col("since"))).over(Window.partitionBy("broker"))
    watch_spans = broadcast_rows(
        select_known_spans(knowledge_intervals, until_ms).select("observer", "since", "until")
    )
    known_registrations = intersect_spans(
        registration_spans.withColumn("broker", hash_key(BROKER_KEY)), watch_spans, ["observer"]
    )
    seen_registrations = known_registrations.select("*", first_up.alias("first")).where("first is not null")
    registrations_with_drains = seen_registrations.join(
        broadcast_rows(drain_lists), ["observer", "brokerName"], "left"
    )
    broker_key = ["broker", *BROKER_KEY]
    kind_spans = registrations_with_drains.select(
        *broker_key, explode(_span_kinds(until_ms)).alias("span")
    ).select(*broker_key, "span.*")
    span_counts = count_spans(kind_spans, broker_key, ["alive", "up", "down", "planned"])
    broker_states = span_counts.where("alive > 0").select(
        *broker_key, "since", "until", "down", _broker_state().alias("state")
    )
    return _sum_days(_mark_failures(broker_states), since_ms, until_ms)


def _span_kinds(until_ms: int) -> Column:
    """The kinds as which a span counts. `alive` covers all time from the broker's first registration on."""
    is_up = col("state") == "up"
    # Brokers have GRACE_MS to register with a name server that started.
    late_since = when(col("state") == "starting", col("since") + GRACE_MS).otherwise(col("since"))
    state_span = _span_struct(
        when(is_up, "up").otherwise("down"), when(is_up, col("since")).otherwise(late_since), col("until")
    )
    is_first_up = is_up & (col("since") == col("first"))
    alive_span = _span_struct(lit("alive"), col("since"), when(is_first_up, until_ms).otherwise(col("since")))
    planned_spans = transform(
        coalesce("drained", array()),
        lambda drain_span: _span_struct(
            lit("planned"), greatest(drain_span["since"], "since"), least(drain_span["until"], "until")
        ),
    )
    all_spans = concat(array(state_span, alive_span), planned_spans)
    return filter(all_spans, lambda span: span["since"] < span["until"])


def _span_struct(span_kind: Column, since_ms: Column, until_ms: Column) -> Column:
    # All structs of a Spark array need exactly the same types.
    return struct(
        span_kind.cast("string").alias("kind"),
        since_ms.cast("long").alias("since"),
        until_ms.cast("long").alias("until"),
    )


def _broker_state() -> Column:
    return (
        when((col("up") == 0) & (col("down") == 0), "unknown")
        .when(col("planned") > 0, "planned")
        .when(col("up") > 0, "up")
        .otherwise("down")
    )


def _mark_failures(state_spans: DataFrame) -> DataFrame:
    """Add `failed`: the broker is down in this span, and was not in the last known span before it."""
    known_state = when(col("state") != "unknown", col("state"))
    earlier_window = Window.partitionBy("broker").orderBy("since").rowsBetween(Window.unboundedPreceding, -1)
    has_failed = (col("state") == "down") & (
        coalesce(last(known_state, ignorenulls=True).over(earlier_window), lit("")) != "down"
    )
    return state_spans.withColumn("failed", has_failed)


def _sum_days(state_spans: DataFrame, since_ms: int, until_ms: int) -> DataFrame:
    is_inside = col("since") >= since_ms
    clipped_spans = clip_spans(
        state_spans.withColumn("failed", col("failed") & is_inside), since_ms, until_ms
    )
    day_spans = split_by_day(clipped_spans, *BROKER_KEY, "state", "down", "failed")
    span_seconds = (col("until") - col("since")) / 1000

    def sum_seconds(condition: Column) -> Column:
        return round(sum(when(condition, span_seconds).otherwise(0.0)), 3)

    state_column = col("state")
    day_sums = day_spans.groupBy("date", *BROKER_KEY).agg(
        *(
            sum_seconds(state_column == state_name).alias(f"{state_name}Seconds")
            for state_name in ("up", "down", "planned", "unknown")
        ),
        sum_seconds((state_column == "up") & (col("down") > 0)).alias("partialSeconds"),
        count_if(col("failed") & col("isFirst")).alias("failures"),
    )
    up_seconds, down_seconds = col("upSeconds"), col("downSeconds")
    failure_count = when(col("failures") > 0, col("failures"))
    return day_sums.select(
        "date",
        *BROKER_KEY,
        "upSeconds",
        "downSeconds",
        "plannedSeconds",
        "unknownSeconds",
        "partialSeconds",
        round(100 * up_seconds / when(up_seconds + down_seconds > 0, up_seconds + down_seconds), 4).alias(
            "availability"
        ),
        "failures",
        round(up_seconds / failure_count, 3).alias("mtbfSeconds"),
        round(down_seconds / failure_count, 3).alias("mttrSeconds"),
    )
