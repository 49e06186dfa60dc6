"""Route intervals: the spans in which a topic had certain queues on a broker, per name server. Pure.

Only fresh snapshots count. The others repeat the events before them, which `journalVerify` checks.
"""

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql.functions import (
    coalesce,
    col,
    explode,
    expr,
    greatest,
    lag,
    lead,
    least,
    lit,
    posexplode,
    struct,
    timestamp_millis,
    to_date,
    unix_millis,
    when,
)
from pyspark.sql.functions import max as highest

from nsreport.facts import knowledge_intervals
from nsreport.facts.knowledge_changes import add_counted_time, add_observer_columns, select_route_records
from nsreport.facts.spans import ALWAYS_MS, NEVER_MS, hash_key
from nsreport.runtime.session import broadcast_rows
from nsreport.sources import journals

QUEUE_COLUMNS = ("readQueueNums", "writeQueueNums", "perm", "topicSysFlag")
_BEGIN_COLUMNS = ("fromType", "fromCause", "fromClient")
_END_COLUMNS = ("toType", "toCause", "toClient")
_ROUTE_KEY = ("server", "topic", "brokerName")
_CARRIED = -2
"""The place of a carried interval among the steps of a record: before those of a snapshot."""


def list_broker_clusters(ns_event: DataFrame) -> DataFrame:
    """Return the clusters that each observer named for each broker name, day by day."""
    return journals.list_broker_clusters(add_observer_columns(ns_event), "date", "observer")


def build_route_intervals(
    ns_event: DataFrame,
    knowledge_changes: DataFrame,
    broker_clusters: DataFrame,
    carried_intervals: DataFrame | None = None,
    since_ms: int = ALWAYS_MS,
) -> DataFrame:
    """Return a row for each span in which a topic's queues on a broker stayed the same.

    `known` is false while the tables were unknown; the row then has the last known queues. `validTo` is null
    for the present state. `from…` and `to…` describe the record that began or ended the span, or a mark of
    `knowledge_intervals.find_route_marks`.

    With `carried_intervals`, the intervals that began before `since_ms` and last until then, the events are
    those from then on, and so are the ends of intervals.
    """
    observer_events = select_route_records(add_observer_columns(ns_event), knowledge_changes)
    route_marks = knowledge_intervals.find_route_marks(knowledge_changes)
    route_steps = _change_steps(observer_events, knowledge_changes).unionByName(
        _snapshot_steps(observer_events, route_marks)
    )
    if carried_intervals is not None:
        route_steps = route_steps.unionByName(_carried_steps(carried_intervals, route_marks, since_ms))
    route_steps = route_steps.withColumn("key", hash_key(_ROUTE_KEY))
    merged_spans = _merge_equal_spans(_split_at_marks(_add_step_ends(route_steps, route_marks), route_marks))
    clustered_spans = merged_spans.join(
        broadcast_rows(
            journals.find_broker_clusters(select_route_records(broker_clusters, knowledge_changes))
        ),
        "brokerName",
        "left",
    )
    return clustered_spans.select(
        "server",
        journals.known_cluster().alias("cluster"),
        "topic",
        "brokerName",
        *QUEUE_COLUMNS,
        timestamp_millis("since").alias("validFrom"),
        timestamp_millis("until").alias("validTo"),
        *_BEGIN_COLUMNS,
        *_END_COLUMNS,
        "known",
        to_date(timestamp_millis("since")).alias("date"),
        to_date(timestamp_millis("until")).alias("endDate"),
    )


def _change_steps(observer_events: DataFrame, knowledge_changes: DataFrame) -> DataFrame:
    """Return the steps from events: queues that are new, changed or gone."""
    change_events = observer_events.where("changes is not null").select(
        "observer", "server", "recordOrder", "time", "type", "cause", "client", "changes"
    )
    timed_changes = add_counted_time(change_events, knowledge_changes).withColumnRenamed("recordOrder", "seq")
    change_groups = timed_changes.select("*", posexplode("changes").alias("nth", "group"))
    topic_changes = change_groups.select("*", explode("group.topics").alias("topic"))
    broker_name = coalesce("group.after.brokerName", "group.before.brokerName")
    return topic_changes.select(
        "server",
        "seq",
        "nth",
        "since",
        "topic",
        broker_name.alias("brokerName"),
        *(col(f"group.after.{queue_column}").alias(queue_column) for queue_column in QUEUE_COLUMNS),
        col("group.after").isNotNull().alias("isThere"),
        *_cause_columns(),
    )


def _snapshot_steps(observer_events: DataFrame, route_marks: DataFrame) -> DataFrame:
    """Return the steps from fresh snapshots: one per topic and broker."""
    fresh_marks = route_marks.where("isFresh").select("server", col("epoch").alias("seq"), "since")
    snapshot_tables = observer_events.select("server", "seq", "routes", "queues", "type", "cause", "client")
    fresh_snapshots = snapshot_tables.where("type = 'Snapshot'").join(
        broadcast_rows(fresh_marks), ["server", "seq"]
    )
    alike_routes = fresh_snapshots.select("*", explode("routes").alias("alike"))
    placed_routes = alike_routes.select("*", explode("alike.places").alias("at"))
    routes_with_queues = placed_routes.select(
        "*", expr("element_at(queues, int(at) + 1)").alias("queue")
    ).drop("queues")
    snapshot_topics = routes_with_queues.select("*", explode("alike.topics").alias("topic"))
    return snapshot_topics.select(
        "server",
        "seq",
        lit(-1).alias("nth"),
        "since",
        "topic",
        "queue.brokerName",
        *(col(f"queue.{queue_column}").alias(queue_column) for queue_column in QUEUE_COLUMNS),
        lit(True).alias("isThere"),
        *_cause_columns(),
    )


def _carried_steps(carried_intervals: DataFrame, route_marks: DataFrame, since_ms: int) -> DataFrame:
    """Return a step for each interval that lasts until `since_ms`, in the epoch of that time."""
    present_epochs = (
        route_marks.where(col("isFresh") & (col("since") < since_ms))
        .groupBy("server")
        .agg(highest("epoch").alias("seq"))
    )
    return carried_intervals.join(broadcast_rows(present_epochs), "server").select(
        "server",
        "seq",
        lit(_CARRIED).alias("nth"),
        unix_millis("validFrom").alias("since"),
        "topic",
        "brokerName",
        *QUEUE_COLUMNS,
        lit(True).alias("isThere"),
        *_BEGIN_COLUMNS,
    )


def _key_window(*order_columns: str) -> WindowSpec:
    return Window.partitionBy("key").orderBy(*order_columns)


def _cause_columns() -> list[Column]:
    return [
        col(event_column).alias(begin_column)
        for event_column, begin_column in zip(("type", "cause", "client"), _BEGIN_COLUMNS, strict=True)
    ]


def _add_step_ends(route_steps: DataFrame, route_marks: DataFrame) -> DataFrame:
    """Add the end of each step: the next step of the same key, or the next fresh snapshot."""
    server_window = Window.partitionBy("server").orderBy("epoch")
    epoch_spans = route_marks.where("isFresh").select(
        col("server").alias("of"),
        "epoch",
        lead("epoch").over(server_window).alias("nextEpoch"),
        *(
            lead(column_name).over(server_window).alias(f"next_{column_name}")
            for column_name in ("since", "type", "cause", "client")
        ),
    )
    is_in_epoch = (col("seq") >= col("epoch")) & (col("nextEpoch").isNull() | (col("seq") < col("nextEpoch")))
    steps_in_epoch = route_steps.join(
        broadcast_rows(epoch_spans), (col("server") == col("of")) & is_in_epoch
    ).drop("of")
    step_window = _key_window("seq", "nth")
    is_continued = lead("epoch").over(step_window) == col("epoch")
    next_step_columns = {"until": "since", **dict(zip(_END_COLUMNS, _BEGIN_COLUMNS, strict=True))}
    next_epoch_columns = {
        "until": "since",
        **dict(zip(_END_COLUMNS, ("type", "cause", "client"), strict=True)),
    }
    ended_steps = steps_in_epoch.select(
        "*",
        *(
            when(is_continued, lead(next_step_columns[column_name]).over(step_window))
            .otherwise(col(f"next_{next_epoch_columns[column_name]}"))
            .alias(column_name)
            for column_name in ("until", *_END_COLUMNS)
        ),
    )
    return ended_steps.where("isThere").drop(
        "isThere", "nextEpoch", *(f"next_{column_name}" for column_name in next_epoch_columns.values())
    )


def _split_at_marks(lasting_steps: DataFrame, route_marks: DataFrame) -> DataFrame:
    """Split the steps where the tables become unknown, and where they become known again."""
    epoch_window = Window.partitionBy("server", "epoch").orderBy("recordOrder", "orderOffset")
    knowledge_changes = route_marks.select("*", lag("known").over(epoch_window).alias("before")).where(
        "before is null or before <> known"
    )
    knowledge_spans = knowledge_changes.select(
        col("server").alias("s"),
        col("epoch").alias("e"),
        "known",
        col("before").isNull().alias("isFirst"),
        *(
            span_column
            for event_column in ("since", "type", "cause", "client")
            for span_column in (
                col(event_column).alias(f"span_{event_column}"),
                lead(event_column).over(epoch_window).alias(f"past_{event_column}"),
            )
        ),
    )
    step_end, span_end = coalesce("until", lit(NEVER_MS)), coalesce("past_since", lit(NEVER_MS))
    # A carried interval may have begun before its epoch.
    span_begin = when(col("isFirst") & (col("nth") == _CARRIED), ALWAYS_MS).otherwise(col("span_since"))
    begin_ms = greatest("since", span_begin)
    is_overlapping = (
        (col("server") == col("s")) & (col("epoch") == col("e")) & (begin_ms < least(step_end, span_end))
    )
    cut_steps = lasting_steps.join(broadcast_rows(knowledge_spans), is_overlapping)
    is_whole_begin, is_whole_end = col("since") >= span_begin, step_end <= span_end
    event_columns = ("type", "cause", "client")
    return cut_steps.select(
        "key",
        *_ROUTE_KEY,
        *QUEUE_COLUMNS,
        "known",
        *(
            when(is_whole_begin, col(begin_column)).otherwise(col(f"span_{event_column}")).alias(begin_column)
            for begin_column, event_column in zip(_BEGIN_COLUMNS, event_columns, strict=True)
        ),
        *(
            when(is_whole_end, col(end_column)).otherwise(col(f"past_{event_column}")).alias(end_column)
            for end_column, event_column in zip(_END_COLUMNS, event_columns, strict=True)
        ),
        begin_ms.alias("since"),
        when(least(step_end, span_end) < NEVER_MS, least(step_end, span_end)).alias("until"),
    )


def _merge_equal_spans(split_steps: DataFrame) -> DataFrame:
    """Merge adjacent rows with equal values: the begin of the first row, the end of the last."""
    time_window = _key_window("since")
    is_continuation = lag("until").over(time_window).eqNullSafe(col("since"))
    for compared_column in (*QUEUE_COLUMNS, "known"):
        is_continuation = is_continuation & col(compared_column).eqNullSafe(
            lag(compared_column).over(time_window)
        )
    marked_steps = split_steps.select("*", is_continuation.alias("follows"))
    edge_steps = marked_steps.select(
        "*", coalesce(~lead("follows").over(time_window), lit(True)).alias("isEnd")
    ).where("isEnd or not follows")
    end_struct = struct("until", *_END_COLUMNS)
    merged_steps = edge_steps.select(
        *_ROUTE_KEY, *QUEUE_COLUMNS, "known", "since", *_BEGIN_COLUMNS, "follows",
        when(col("isEnd"), end_struct).otherwise(lead(end_struct).over(time_window)).alias("end"),
    )  # fmt: skip
    return merged_steps.where("not follows").select("*", "end.*")
