"""Events: turns log lines of Java's name servers into the events that journals contain.

Fields that Java does not log are null: `topics` of a registration, `info`, `channel`, and most clients.
"""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql.functions import (
    abs,
    array,
    coalesce,
    col,
    explode,
    expr,
    lag,
    last,
    lead,
    least,
    lit,
    min,
    split,
    struct,
    sum,
    to_date,
    unix_millis,
    when,
)

from nsreport.runtime.local_rows import shorten_plan
from nsreport.sources import schemas
from nsreport.sources.java_logs.broker_identity import SURE_BY_NEIGHBOUR
from nsreport.sources.write_permissions import changes_write

_EXPIRY_SECONDS, _CLOSING_SECONDS = 10, 2
"""Most seconds between the line with the reason why a broker leaves, and the line about its removal."""

_REGISTER_CAUSE = "REGISTER_BROKER"

EVENTS_BY_RULE: Mapping[str, tuple[tuple[str, str], ...]] = {
    "started": (("ServerStarted", "name server"),),
    "ready": (("ServerReady", "name server"),),
    "stopping": (("ServerStopping", "name server"),),
    "registered": (("BrokerRegistered", _REGISTER_CAUSE),),
    "registered4": (("BrokerRegistered", _REGISTER_CAUSE),),
    "conflict": (("AddressConflict", _REGISTER_CAUSE), ("RegistrationRefused", _REGISTER_CAUSE)),
    "stranger": (("RegistrationRefused", _REGISTER_CAUSE),),
    "offPlace": (("BrokerUnregistered", ""),),
    "offPlace4": (("BrokerUnregistered", ""),),
    "offLive": (("AddressForgotten", ""),),
    "minId": (("MinBrokerIdChanged", ""),),
    "topicNew": (("TopicsChanged", _REGISTER_CAUSE),),
    "topicChanged": (("TopicsChanged", _REGISTER_CAUSE),),
    "topicGone": (("TopicsChanged", "UNREGISTER_BROKER"),),
    "topicGone4": (("TopicsChanged", ""),),
    "topicDeleted": (("TopicDeleted", "DELETE_TOPIC_IN_NAMESRV"),),
    "wiped": (("WritePermWiped", "WIPE_WRITE_PERM_OF_BROKER"),),
    "added": (("WritePermAdded", "ADD_WRITE_PERM_OF_BROKER"),),
    "kvNew": (("KvPut", "PUT_KV_CONFIG"),),
    "kvUpdated": (("KvPut", "PUT_KV_CONFIG"),),
    "kvDeleted": (("KvDeleted", "DELETE_KV_CONFIG"),),
    "replaced": (("SettingsChanged", "UPDATE_NAMESRV_CONFIG"),),
}
"""The events and their causes for a line of each rule; "" if the cause depends on why the broker left."""

_CAUSE_BY_REASON = {
    "unregistered": "UNREGISTER_BROKER",
    "channel closed": "channel closed",
    "expired": "no heartbeat",
}


def build_events(identified_lines: DataFrame) -> DataFrame:
    """Build events (`schemas.event_schema`) from lines that `broker_identity.identify_brokers` returned."""
    event_lines = _add_previous_values(_add_requesters(shorten_plan(_add_leave_reasons(identified_lines))))
    event_lines = shorten_plan(
        event_lines.where(_is_event())
        .withColumn("event", _event_structs())
        .withColumn("event", explode("event"))
    )
    event_columns = {**_envelope_columns(), **_field_columns()}
    event_schema = schemas.event_schema()
    event_rows = event_lines.select(
        *(
            (event_columns.get(field.name, lit(None)).cast(field.dataType)).alias(field.name)
            for field in event_schema.fields
        )
    )
    return event_rows.withColumn("changesWrite", changes_write(col("type")))


def _event_structs() -> Column:
    """The types and causes of the events that a line stands for."""

    def format_structs(event_pairs: tuple[tuple[str, str], ...]) -> str:
        return ", ".join(
            f"struct('{event_type}' as type, '{cause}' as cause)" for event_type, cause in event_pairs
        )

    case_clauses = " ".join(
        f"when '{rule_name}' then array({format_structs(event_pairs)})"
        for rule_name, event_pairs in EVENTS_BY_RULE.items()
    )
    return expr(f"case rule {case_clauses} end")


def _is_event() -> Column:
    """Whether a line is an event: a failed removal is none, and a broker that leaves is one event only."""
    return (
        col("rule").isin(*EVENTS_BY_RULE)
        & ~((col("rule") == "offPlace") & (col("result") != "OK"))
        & ~((col("rule") == "offLive") & ((col("result") != "OK") | coalesce("hadPlace", lit(False))))
        & ~((col("rule") == "topicGone4") & col("beforeBroker").isNull())
    )


def _add_leave_reasons(identified_lines: DataFrame) -> DataFrame:
    """Add `gone` (why a broker left), `idle` (its channel was idle) and `hadPlace` (from the next line).

    5.x logs a reason without the broker's address. Each broker that leaves therefore takes the oldest reason
    line that no other broker took. 5.x queues the broker before it logs the reason, so the thread that
    empties the queue may log the removal first.
    """
    address_window = Window.partitionBy("server", "addr").orderBy("ts", "line")
    later_at_address = _select_later_lines("server", "addr")
    server_window = Window.partitionBy("server").orderBy("ts", "line")
    thread_window = Window.partitionBy("server", "thread").orderBy("ts", "line")
    line_seconds = col("ts").cast("long")
    # A broker that registered in between leaves for another reason.
    is_mark = col("rule").isin("expired", "registered", "registered4")
    mark_struct = when(is_mark, struct("rule", line_seconds.alias("at")))
    last_mark = last(mark_struct, True).over(address_window)
    # 4.x closes the channel of an expired broker before it logs the expiry: the thread that handles the
    # closed channel may log first.
    next_mark = last(mark_struct, True).over(later_at_address)
    is_near = next_mark["at"] - line_seconds <= _CLOSING_SECONDS
    is_raced = (col("rule") == "offPlace4") & (next_mark["rule"] == "expired") & is_near
    has_expired = (last_mark["rule"] == "expired") & (line_seconds - last_mark["at"] <= _EXPIRY_SECONDS)
    is_expired = coalesce(has_expired, lit(False)) | coalesce(is_raced, lit(False))
    is_closing = (
        (col("rule") == "destroyed") & ~col("thread").startswith("NSScan") & col("message").endswith("true")
    )
    # An expiry also closes the channel: such a broker is removed twice, and the second removal fails.
    is_taking = (col("rule") == "offLive") & ~(is_expired & (col("result") == "OK"))
    marked_lines = identified_lines.withColumns(
        {"isExpired": is_expired, "isClosing": is_closing, "takes": is_taking}
    )
    forward_lines = _match_reasons(
        shorten_plan(marked_lines), "isClosing", "takes", col("ts"), col("line")
    ).withColumnRenamed("taken", "took")
    leave_seconds = when(col("rule") == "offLive", line_seconds)
    next_leave_seconds = last(leave_seconds, True).over(_select_later_lines("server"))
    is_left_over = col("isClosing") & coalesce(
        next_leave_seconds - line_seconds > _CLOSING_SECONDS, lit(True)
    )
    late_lines = forward_lines.withColumns(
        {"isLeft": is_left_over, "takesLate": col("takes") & ~col("took") & (col("result") == "OK")}
    )
    backward_lines = _match_reasons(
        shorten_plan(late_lines), "isLeft", "takesLate", col("ts").desc(), col("line").desc()
    )
    next_line = lead(struct("rule", "result", "addr")).over(thread_window)
    idle_seconds = last(when(col("rule") == "idle", line_seconds), True).over(server_window)
    matched_lines = shorten_plan(backward_lines).withColumns(
        {
            "took": when(col("rule") == "offLive", col("took") | col("taken")),
            "idle": coalesce(line_seconds - idle_seconds <= _CLOSING_SECONDS, lit(False)),
            "hadPlace": (next_line["rule"] == "offPlace")
            & (next_line["result"] == "OK")
            & (next_line["addr"] == col("addr")),
        }
    )
    is_closed = (col("dialect") == "5.x") & last("took", True).over(thread_window)
    leave_reason = when(col("isExpired"), "expired").when(
        (col("rule") == "offPlace4") | is_closed, "channel closed"
    )
    lines_with_reason = matched_lines.withColumn("gone", leave_reason.otherwise("unregistered"))
    topic_reason = last(when(col("rule") == "offPlace4", col("gone")), True).over(thread_window)
    return lines_with_reason.withColumn(
        "gone", when(col("rule") == "topicGone4", topic_reason).otherwise(col("gone"))
    )


def _select_later_lines(*partition_columns: str) -> WindowSpec:
    """The later lines of a partition, nearest last.

    Spark walks through a window that ends at the current row once. For a window that begins there, it walks
    from each row to the end.
    """
    reverse_window = Window.partitionBy(*partition_columns).orderBy(col("ts").desc(), col("line").desc())
    return reverse_window.rowsBetween(Window.unboundedPreceding, -1)


def _match_reasons(
    log_lines: DataFrame, giving_column: str, taking_column: str, *order_columns: Column
) -> DataFrame:
    """Add `taken`: whether a taking row finds, shortly before it, a giving row that no other row took."""
    window_so_far = Window.partitionBy("server").orderBy(*order_columns)
    queue_step = when(col(giving_column), 1).when(col(taking_column), -1).otherwise(0)
    counted_lines = log_lines.withColumn("total", sum(queue_step).over(window_so_far))
    counted_lines = counted_lines.withColumn(
        "waiting", col("total") - least(min("total").over(window_so_far), lit(0))
    )
    last_given_seconds = last(when(col(giving_column), col("ts").cast("long")), True).over(window_so_far)
    is_near = abs(col("ts").cast("long") - last_given_seconds) <= _CLOSING_SECONDS
    is_taken = col(taking_column) & coalesce((lag("waiting").over(window_so_far) > 0) & is_near, lit(False))
    return counted_lines.withColumn("taken", is_taken).drop("total", "waiting")


def _add_requesters(identified_lines: DataFrame) -> DataFrame:
    """Add `client` of a changed setting (from an earlier line) and `formerly`, a master's last address."""
    thread_window = Window.partitionBy("server", "thread").orderBy("ts", "line")
    config_call = last(when(col("rule") == "configCalled", struct("client", "ts")), True).over(thread_window)
    is_just_called = col("ts").cast("long") - config_call["ts"].cast("long") <= 1
    client_addr = when((col("rule") == "replaced") & is_just_called, config_call["client"]).otherwise(
        col("client")
    )
    master_change = last(when(col("rule") == "master", struct("addr", "former")), True).over(thread_window)
    has_moved = (
        (master_change["addr"] == col("addr"))
        & ~master_change["former"].isin("null", "")
        & (master_change["former"] != col("addr"))
    )
    return identified_lines.withColumn("formerly", when(has_moved, master_change["former"])).withColumn(
        "client", client_addr
    )


def _add_previous_values(identified_lines: DataFrame) -> DataFrame:
    """Add `before`: the previous value of a KV item, if a line contains it."""
    item_window = Window.partitionBy("server", "namespace", "key").orderBy("ts", "line")
    item_value = when(col("rule").isin("kvNew", "kvUpdated", "kvListed"), coalesce("value", lit("")))
    deleted_value = when(col("rule") == "kvDeleted", coalesce("value", lit("")))
    earlier_value = when(col("rule") == "kvUpdated", lag(item_value).over(item_window))
    return identified_lines.withColumn("before", coalesce(deleted_value, earlier_value))


def _envelope_columns() -> dict[str, Column]:
    event_cause = when(col("event.cause") != "", col("event.cause"))
    event_cause = event_cause.when(col("idle") & (col("gone") == "channel closed"), "channel idle")
    for leave_reason, cause_name in _CAUSE_BY_REASON.items():
        event_cause = event_cause.when(col("gone") == leave_reason, cause_name)
    is_guessed = col("rule").isin("offPlace", "offLive", "topicGone") & (col("dialect") == "5.x")
    event_confidence = when(is_guessed, least("sure", lit(SURE_BY_NEIGHBOUR))).otherwise(col("sure"))
    return {
        "v": lit(1),
        "time": unix_millis("ts"),
        "server": col("server"),
        "type": col("event.type"),
        "cause": event_cause,
        "client": col("client"),
        "ts": col("ts"),
        "dialect": col("dialect"),
        "confidence": event_confidence,
        "cluster": coalesce("of_group", lit("-")),
        "sourceFile": col("file"),
        "sourceLine": col("line"),
        "hash": col("hash"),
        "date": to_date("ts"),
    }


def _field_columns() -> dict[str, Column]:
    """The fields of all event types, by column name."""
    event_type = col("event.type")
    is_broker = event_type.isin(
        "BrokerRegistered", "BrokerUnregistered", "RegistrationRefused", "AddressConflict", "AddressForgotten"
    )
    is_kv = event_type.isin("KvPut", "KvDeleted")
    is_conflict = event_type == "AddressConflict"
    setting_change = struct(
        col("key").alias("key"), col("former").alias("before"), col("value").alias("after")
    )
    return {
        "clusterName": when(is_broker, col("cluster")),
        "brokerName": coalesce("afterBroker", "beforeBroker", "broker"),
        "brokerId": when(is_broker & (event_type != "AddressForgotten"), col("id")),
        "brokerAddr": when(is_broker, col("addr")),
        "replaced": when(event_type == "BrokerRegistered", col("formerly")),
        "holderName": when(is_conflict, col("broker")),
        "holderAddr": when(is_conflict, col("former")),
        "reason": _event_reason(event_type),
        "topic": when(event_type == "TopicDeleted", col("topic")),
        "topics": when(event_type.isin("WritePermWiped", "WritePermAdded"), col("value").try_cast("bigint")),
        "changes": when(event_type.isin("TopicsChanged", "TopicDeleted"), _topic_changes()),
        "minBrokerId": col("minId"),
        "offlineBrokerAddr": when(event_type == "MinBrokerIdChanged", col("addr")),
        "recipients": when(event_type == "MinBrokerIdChanged", split("value", ", ")),
        "namespace": when(is_kv, col("namespace")),
        "key": when(is_kv, col("key")),
        "value": when(event_type == "KvPut", coalesce("value", lit(""))),
        "before": when(is_kv, col("before")),
        "settingChanges": when(event_type == "SettingsChanged", array(setting_change)),
        "address": when(event_type == "ServerReady", col("addr")),
    }


def _event_reason(event_type: Column) -> Column:
    return (
        when(event_type.isin("BrokerUnregistered", "AddressForgotten"), col("gone"))
        .when(col("rule") == "conflict", lit("another address is registered with a newer stateVersion"))
        .when(col("rule") == "stranger", lit("an unregistered broker sent only one topic"))
        .when(col("rule").isin("topicNew", "topicChanged"), lit("registration"))
        .when(event_type == "TopicsChanged", lit("unregistration"))
        .when(event_type == "ServerStopping", lit("shutdown hook"))
    )


def _topic_changes() -> Column:
    return array(
        struct(
            array("topic").alias("topics"),
            _queue_struct("before").alias("before"),
            _queue_struct("after").alias("after"),
        )
    )


def _queue_struct(column_prefix: str) -> Column:
    """A topic's queues before or after a change; null if the line has none."""
    queue_columns = {
        "Read": "readQueueNums",
        "Write": "writeQueueNums",
        "Perm": "perm",
        "Flag": "topicSysFlag",
    }
    queue_fields = struct(
        col(f"{column_prefix}Broker").alias("brokerName"),
        *(
            col(f"{column_prefix}{column_part}").try_cast("bigint").alias(queue_column)
            for column_part, queue_column in queue_columns.items()
        ),
    )
    return when(col(f"{column_prefix}Broker").isNotNull(), queue_fields)
