"""Drains: the spans in which an operator closed a broker to writes, and the events that ended them. Pure."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import (
    array,
    array_contains,
    array_distinct,
    array_intersect,
    coalesce,
    col,
    collect_set,
    explode,
    expr,
    flatten,
    lag,
    last,
    lit,
    min_by,
    size,
    struct,
    sum,
    transform,
    when,
)

from nsreport.facts.spans import hash_key
from nsreport.runtime.local_rows import share_rows
from nsreport.runtime.session import broadcast_rows
from nsreport.sources.write_permissions import CLOSES_SQL, OPENS_SQL

BY_PERMISSION = "brokerPermission"
_REQUEST_MS = 1_000
"""The lines of one request have the same second or the next one."""

_EVENT_TYPES = ("WritePermWiped", "WritePermAdded", "TopicsChanged", "BrokerRegistered", "ServerStarted")
_OPENING_COLUMNS = (
    "openPlace",
    "openTime",
    "openType",
    "openCause",
    "openClient",
    "openTopics",
    "restarted",
    "asked",
)


@share_rows
def find_drains(lifecycle_events: DataFrame, until_ms: int) -> DataFrame:
    """Return the spans in which an observer saw a broker closed to writes.

    `lifecycle_events` come from `presence.select_lifecycle_events`; those from `until_ms` on do not count. A
    drain begins in one of two ways:

    - An operator wipes the write permission; `method` is the cause of that request.
    - The broker registers even the topic of its own name without WRITE, because its brokerPermission was set;
      `method` is brokerPermission.

    A drain ends when one of the closed topics is open again, or when the name server starts and forgets all
    tables. `openType`, `openCause` and `openClient` describe the event that ended it, and `openTopics` counts
    the topics that it opened. `restarted` is true if the broker registered anew with that event. `asked` is
    true if another client than the broker registered its topics, as `nsadmin undrain` does. While a drain
    lasts, these columns are null and `until` is `until_ms`. `closed` counts the closed topics, `has` all
    topics of the broker.
    """
    permission_changes = _build_permission_changes(
        _select_relevant_events(lifecycle_events.where(col("time") < until_ms))
    )
    closing_events = permission_changes.where("isClosing").select(
        "observer",
        "server",
        "cluster",
        "brokerName",
        "recordOrder",
        "time",
        "method",
        "client",
        "closedNames",
        "has",
        "start",
    )
    opening_events = permission_changes.where("size(openNames) > 0 or openAgain > 0").select(
        "observer",
        "brokerName",
        struct(
            col("recordOrder").alias("openPlace"),
            col("time").alias("openTime"),
            col("type").alias("openType"),
            col("cause").alias("openCause"),
            col("client").alias("openClient"),
            "openNames",
            "openAgain",
            "restarted",
            "asked",
        ).alias("open"),
    )
    # A log line about a wipe does not name the topics.
    common_topic_count = size(array_intersect("closedNames", "open.openNames"))
    opened_topic_count = when(size("closedNames") > 0, common_topic_count).otherwise(col("open.openAgain"))
    drain_pairs = closing_events.join(opening_events, ["observer", "brokerName"], "left")
    is_reopening = (col("open.openPlace") > col("recordOrder")) & (opened_topic_count > 0)
    opening_match = when(
        is_reopening,
        struct(
            *(
                opened_topic_count.alias(opening_column)
                if opening_column == "openTopics"
                else col(f"open.{opening_column}").alias(opening_column)
                for opening_column in _OPENING_COLUMNS
            )
        ),
    )
    drain_key = [
        column_name for column_name in closing_events.columns if column_name not in ("start", "closedNames")
    ]
    first_openings = (
        drain_pairs.select(
            *drain_key, size("closedNames").alias("closed"), "start", opening_match.alias("found")
        )
        .groupBy(*drain_key, "closed", "start")
        .agg(min_by("found", "found.openPlace").alias("found"))
    )
    is_forgotten = coalesce(col("start.openPlace") < col("found.openPlace"), col("start").isNotNull())
    ended_drains = first_openings.withColumn("end", when(is_forgotten, col("start")).otherwise(col("found")))
    return ended_drains.select(
        "observer",
        "server",
        "cluster",
        "brokerName",
        col("time").alias("since"),
        coalesce("end.openTime", lit(until_ms)).alias("until"),
        "method",
        "client",
        "closed",
        "has",
        *(col(f"end.{column_name}").alias(column_name) for column_name in _OPENING_COLUMNS[2:]),
    )


def _select_relevant_events(lifecycle_events: DataFrame) -> DataFrame:
    """Keep the topic changes that close a topic, or that open a topic which was ever closed there.

    Events from logs lack these details: all of them stay.
    """
    permission_events = lifecycle_events.where(col("type").isin(*_EVENT_TYPES))
    is_closing = expr(f"exists(changes, change -> {CLOSES_SQL})")
    topic_name = explode(flatten(_topic_lists(CLOSES_SQL)))
    closed_topics = permission_events.where(is_closing).select(
        "observer", "brokerName", topic_name.alias("topic")
    )
    topics_by_broker = closed_topics.groupBy("observer", "brokerName").agg(
        collect_set("topic").alias("everClosed")
    )
    events_with_history = permission_events.join(
        broadcast_rows(topics_by_broker), ["observer", "brokerName"], "left"
    )
    reopens_sql = "(change.before is not null or arrays_overlap(change.topics, everClosed))"
    is_opening = expr(f"exists(changes, change -> {OPENS_SQL} and {reopens_sql})")
    is_plain_event = col("isLog") | ~col("type").isin("TopicsChanged", "BrokerRegistered")
    is_return = (col("type") == "BrokerRegistered") & col("everClosed").isNotNull()
    return events_with_history.where(
        is_plain_event | is_return | coalesce(is_closing, lit(False)) | coalesce(is_opening, lit(False))
    ).drop("everClosed")


def _build_permission_changes(lifecycle_events: DataFrame) -> DataFrame:
    """Return the events that close or open topics, with the next start of the name server.

    A name server forgets closed topics when it starts.
    """
    permission_events = lifecycle_events.where(col("type").isin(*_EVENT_TYPES))
    reverse_window = Window.partitionBy(hash_key(["observer"])).orderBy(col("recordOrder").desc())
    start_event = when(
        col("type") == "ServerStarted",
        struct(
            col("recordOrder").alias("openPlace"),
            col("time").alias("openTime"),
            col("type").alias("openType"),
            col("cause").alias("openCause"),
            lit(None).cast("string").alias("openClient"),
            lit(None).cast("int").alias("openTopics"),
            lit(False).alias("restarted"),
            lit(False).alias("asked"),
        ),
    )
    next_start = last(start_event, ignorenulls=True).over(
        reverse_window.rowsBetween(Window.unboundedPreceding, -1)
    )
    broker_window = Window.partitionBy(hash_key(["observer", "brokerName"])).orderBy("recordOrder")
    # The registration of a returning broker is the record right before the change of its topics.
    is_returned = (lag("type").over(broker_window) == "BrokerRegistered") & (
        lag("recordOrder").over(broker_window) == col("recordOrder") - 1
    )
    # A log has no line for topics that leave with their broker, and one line for each topic that comes.
    is_new_in_log = col("isLog") & array_contains(
        _changed_topics(OPENS_SQL + " and change.before is null"), col("brokerName")
    )
    # Java logs the topics of a registration first. The topics of a master whose slave stayed are not new.
    is_master = (col("type") == "BrokerRegistered") & (coalesce("brokerId", lit(0)) == 0)
    same_second = (
        Window.partitionBy(hash_key(["observer", "brokerName"])).orderBy("time").rangeBetween(0, _REQUEST_MS)
    )
    is_returned_in_log = col("isLog") & (sum(is_master.cast("int")).over(same_second) > 0)
    registering_clients = collect_set(when(col("cause") == "REGISTER_BROKER", col("client")))
    own_clients = registering_clients.over(Window.partitionBy(hash_key(["observer", "brokerName"])))
    is_requested = (col("cause") == "REGISTER_TOPIC_IN_NAMESRV") & ~array_contains(own_clients, col("client"))
    is_wipe = col("type") == "WritePermWiped"
    # A log line counts the topics that a request opened, but does not name them.
    restored_count = when(
        (col("type") == "WritePermAdded") & col("changes").isNull(), col("topics").cast("int")
    )
    is_by_broker = (col("type") == "TopicsChanged") & col("reason").isin("registration", "poll")
    described_events = permission_events.select(
        "observer", "server", "cluster", "brokerName", "recordOrder", "time", "type", "cause", "client",
        next_start.alias("start"),
        coalesce(is_returned | is_new_in_log | is_returned_in_log, lit(False)).alias("restarted"),
        coalesce(is_requested, lit(False)).alias("asked"),
        when(is_wipe, col("cause")).otherwise(BY_PERMISSION).alias("method"),
        when(is_wipe | is_by_broker,
        _changed_topics(CLOSES_SQL)).otherwise(_empty_topic_array()).alias("closedNames"),
        when(~is_wipe, _changed_topics(OPENS_SQL)).otherwise(_empty_topic_array()).alias("openNames"),
        coalesce(restored_count, when(is_new_in_log, 1),
        size(_changed_topics(OPENS_SQL + " and change.before is not null"))).alias(
            "openAgain"
        ),
        when(is_wipe, col("topics").cast("int")).alias("wipedTopics"),
    )  # fmt: skip
    is_closing = is_wipe | array_contains("closedNames", col("brokerName"))
    topic_count = coalesce("wipedTopics", size("closedNames")).alias("has")
    flagged_events = described_events.select(
        "*", coalesce(is_closing, lit(False)).alias("isClosing"), topic_count
    )
    return flagged_events.where("type != 'BrokerRegistered'")


def _empty_topic_array() -> Column:
    return array().cast("array<string>")


def _changed_topics(change_filter: str) -> Column:
    """The distinct topics of the changes that satisfy a SQL condition on `change`."""
    return array_distinct(flatten(_topic_lists(change_filter)))


def _topic_lists(change_filter: str) -> Column:
    matching_changes = expr(f"filter(coalesce(changes, array()), change -> {change_filter})")
    return transform(matching_changes, lambda change: change["topics"])
