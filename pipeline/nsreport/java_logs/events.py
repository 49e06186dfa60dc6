"""Events: turns log lines of Java's name servers into the events that journals contain.

Fields that Java does not log are null: `topics` of a registration, `info`, `channel`, and most clients.
"""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import (
    abs,
    array,
    coalesce,
    col,
    explode,
    expr,
    first,
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

from nsreport import schemas
from nsreport.java_logs.identity import NEAR
from nsreport.permissions import changes_write

_EXPIRY, _CLOSING = 10, 2
"""Most seconds between the line with the reason why a broker leaves, and the line about its removal."""

_REGISTER = "REGISTER_BROKER"

TYPES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "started": (("ServerStarted", "name server"),),
    "ready": (("ServerReady", "name server"),),
    "stopping": (("ServerStopping", "name server"),),
    "registered": (("BrokerRegistered", _REGISTER),),
    "registered4": (("BrokerRegistered", _REGISTER),),
    "conflict": (("AddressConflict", _REGISTER), ("RegistrationRefused", _REGISTER)),
    "stranger": (("RegistrationRefused", _REGISTER),),
    "offPlace": (("BrokerUnregistered", ""),),
    "offPlace4": (("BrokerUnregistered", ""),),
    "offLive": (("AddressForgotten", ""),),
    "minId": (("MinBrokerIdChanged", ""),),
    "topicNew": (("TopicsChanged", _REGISTER),),
    "topicChanged": (("TopicsChanged", _REGISTER),),
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

_GONE = {"unregistered": "UNREGISTER_BROKER", "channel closed": "channel closed", "expired": "no heartbeat"}


def events(known: DataFrame) -> DataFrame:
    """Build events (`schemas.event_schema`) from lines that `broker_identity.identify_brokers` returned."""
    told = _before(_asked(_reasons(known)))
    told = told.where(_happened()).withColumn("event", _events()).withColumn("event", explode("event"))
    columns = {**_envelope(), **_fields()}
    own = schemas.ns_event()
    found = told.select(
        *((columns.get(field.name, lit(None)).cast(field.dataType)).alias(field.name) for field in own.fields)
    )
    return found.withColumn("changesWrite", changes_write(col("type")))


def _events() -> Column:
    """The types and causes of the events that a line stands for."""

    def several(items: tuple[tuple[str, str], ...]) -> str:
        return ", ".join(f"struct('{kind}' as type, '{cause}' as cause)" for kind, cause in items)

    cases = " ".join(f"when '{rule}' then array({several(items)})" for rule, items in TYPES.items())
    return expr(f"case rule {cases} end")


def _happened() -> Column:
    """Whether a line is an event: a failed removal is none, and a broker that leaves is one event only."""
    return (
        col("rule").isin(*TYPES)
        & ~((col("rule") == "offPlace") & (col("result") != "OK"))
        & ~((col("rule") == "offLive") & ((col("result") != "OK") | coalesce("hadPlace", lit(False))))
        & ~((col("rule") == "topicGone4") & col("beforeBroker").isNull())
    )


def _reasons(known: DataFrame) -> DataFrame:
    """Add `gone` (why a broker left), `idle` (its channel was idle) and `hadPlace` (from the next line).

    5.x logs a reason without the broker's address. Each broker that leaves therefore takes the oldest reason
    line that no other broker took. 5.x queues the broker before it logs the reason, so the thread that
    empties the queue may log the removal first.
    """
    of_address = Window.partitionBy("server", "addr").orderBy("ts", "line")
    of_server = Window.partitionBy("server").orderBy("ts", "line")
    of_thread = Window.partitionBy("server", "thread").orderBy("ts", "line")
    seconds = col("ts").cast("long")
    # A broker that registered in between leaves for another reason.
    is_mark = col("rule").isin("expired", "registered", "registered4")
    its_mark = when(is_mark, struct("rule", seconds.alias("at")))
    mark = last(its_mark, True).over(of_address)
    # 4.x closes the channel of an expired broker before it logs the expiry: the thread that handles the
    # closed channel may log first.
    coming = first(its_mark, True).over(of_address.rowsBetween(1, Window.unboundedFollowing))
    is_near = coming["at"] - seconds <= _CLOSING
    is_raced = (col("rule") == "offPlace4") & (coming["rule"] == "expired") & is_near
    has_expired = (mark["rule"] == "expired") & (seconds - mark["at"] <= _EXPIRY)
    is_expired = coalesce(has_expired, lit(False)) | coalesce(is_raced, lit(False))
    is_closing = (
        (col("rule") == "destroyed") & ~col("thread").startswith("NSScan") & col("message").endswith("true")
    )
    # An expiry also closes the channel: such a broker is removed twice, and the second removal fails.
    takes = (col("rule") == "offLive") & ~(is_expired & (col("result") == "OK"))
    marked = known.withColumns({"isExpired": is_expired, "isClosing": is_closing, "takes": takes})
    forth = _taken(marked, "isClosing", "takes", col("ts"), col("line")).withColumnRenamed("taken", "took")
    goes = when(col("rule") == "offLive", seconds)
    following = first(goes, True).over(of_server.rowsBetween(1, Window.unboundedFollowing))
    is_left = col("isClosing") & coalesce(following - seconds > _CLOSING, lit(True))
    late = forth.withColumns(
        {"isLeft": is_left, "takesLate": col("takes") & ~col("took") & (col("result") == "OK")}
    )
    back = _taken(late, "isLeft", "takesLate", col("ts").desc(), col("line").desc())
    behind = lead(struct("rule", "result", "addr")).over(of_thread)
    idle = last(when(col("rule") == "idle", seconds), True).over(of_server)
    seen = back.withColumns(
        {
            "took": when(col("rule") == "offLive", col("took") | col("taken")),
            "idle": coalesce(seconds - idle <= _CLOSING, lit(False)),
            "hadPlace": (behind["rule"] == "offPlace")
            & (behind["result"] == "OK")
            & (behind["addr"] == col("addr")),
        }
    )
    is_closed = (col("dialect") == "5.x") & last("took", True).over(of_thread)
    own = when(col("isExpired"), "expired").when((col("rule") == "offPlace4") | is_closed, "channel closed")
    gone = seen.withColumn("gone", own.otherwise("unregistered"))
    topics = last(when(col("rule") == "offPlace4", col("gone")), True).over(of_thread)
    return gone.withColumn("gone", when(col("rule") == "topicGone4", topics).otherwise(col("gone")))


def _taken(rows: DataFrame, gives: str, takes: str, *order: Column) -> DataFrame:
    """Add `taken`: whether a taking row finds, shortly before it, a giving row that no other row took."""
    so_far = Window.partitionBy("server").orderBy(*order)
    step = when(col(gives), 1).when(col(takes), -1).otherwise(0)
    counted = rows.withColumn("total", sum(step).over(so_far))
    counted = counted.withColumn("waiting", col("total") - least(min("total").over(so_far), lit(0)))
    given = last(when(col(gives), col("ts").cast("long")), True).over(so_far)
    is_near = abs(col("ts").cast("long") - given) <= _CLOSING
    taken = col(takes) & coalesce((lag("waiting").over(so_far) > 0) & is_near, lit(False))
    return counted.withColumn("taken", taken).drop("total", "waiting")


def _asked(known: DataFrame) -> DataFrame:
    """Add `client` of a changed setting (from an earlier line) and `formerly`, a master's last address."""
    thread = Window.partitionBy("server", "thread").orderBy("ts", "line")
    call = last(when(col("rule") == "configCalled", struct("client", "ts")), True).over(thread)
    just = col("ts").cast("long") - call["ts"].cast("long") <= 1
    client = when((col("rule") == "replaced") & just, call["client"]).otherwise(col("client"))
    master = last(when(col("rule") == "master", struct("addr", "former")), True).over(thread)
    moved = (
        (master["addr"] == col("addr"))
        & ~master["former"].isin("null", "")
        & (master["former"] != col("addr"))
    )
    return known.withColumn("formerly", when(moved, master["former"])).withColumn("client", client)


def _before(known: DataFrame) -> DataFrame:
    """Add `before`: the previous value of a KV item, if a line contains it."""
    order = Window.partitionBy("server", "namespace", "key").orderBy("ts", "line")
    value = when(col("rule").isin("kvNew", "kvUpdated", "kvListed"), coalesce("value", lit("")))
    own = when(col("rule") == "kvDeleted", coalesce("value", lit("")))
    earlier = when(col("rule") == "kvUpdated", lag(value).over(order))
    return known.withColumn("before", coalesce(own, earlier))


def _envelope() -> dict[str, Column]:
    cause = when(col("event.cause") != "", col("event.cause"))
    cause = cause.when(col("idle") & (col("gone") == "channel closed"), "channel idle")
    for reason, name in _GONE.items():
        cause = cause.when(col("gone") == reason, name)
    guessed = col("rule").isin("offPlace", "offLive", "topicGone") & (col("dialect") == "5.x")
    confidence = when(guessed, least("sure", lit(NEAR))).otherwise(col("sure"))
    return {
        "v": lit(1),
        "time": unix_millis("ts"),
        "server": col("server"),
        "type": col("event.type"),
        "cause": cause,
        "client": col("client"),
        "ts": col("ts"),
        "dialect": col("dialect"),
        "confidence": confidence,
        "cluster": coalesce("of_group", lit("-")),
        "sourceFile": col("file"),
        "sourceLine": col("line"),
        "hash": col("hash"),
        "date": to_date("ts"),
    }


def _fields() -> dict[str, Column]:
    """The fields of all event types, by column name."""
    kind = col("event.type")
    is_broker = kind.isin(
        "BrokerRegistered", "BrokerUnregistered", "RegistrationRefused", "AddressConflict", "AddressForgotten"
    )
    is_kv = kind.isin("KvPut", "KvDeleted")
    is_conflict = kind == "AddressConflict"
    changed = struct(col("key").alias("key"), col("former").alias("before"), col("value").alias("after"))
    return {
        "clusterName": when(is_broker, col("cluster")),
        "brokerName": coalesce("afterBroker", "beforeBroker", "broker"),
        "brokerId": when(is_broker & (kind != "AddressForgotten"), col("id")),
        "brokerAddr": when(is_broker, col("addr")),
        "replaced": when(kind == "BrokerRegistered", col("formerly")),
        "holderName": when(is_conflict, col("broker")),
        "holderAddr": when(is_conflict, col("former")),
        "reason": _why(kind),
        "topic": when(kind == "TopicDeleted", col("topic")),
        "topics": when(kind.isin("WritePermWiped", "WritePermAdded"), col("value").try_cast("bigint")),
        "changes": when(kind.isin("TopicsChanged", "TopicDeleted"), _changes()),
        "minBrokerId": col("minId"),
        "offlineBrokerAddr": when(kind == "MinBrokerIdChanged", col("addr")),
        "recipients": when(kind == "MinBrokerIdChanged", split("value", ", ")),
        "namespace": when(is_kv, col("namespace")),
        "key": when(is_kv, col("key")),
        "value": when(kind == "KvPut", coalesce("value", lit(""))),
        "before": when(is_kv, col("before")),
        "settingChanges": when(kind == "SettingsChanged", array(changed)),
        "address": when(kind == "ServerReady", col("addr")),
    }


def _why(kind: Column) -> Column:
    return (
        when(kind.isin("BrokerUnregistered", "AddressForgotten"), col("gone"))
        .when(col("rule") == "conflict", lit("another address holds the place, with a newer state"))
        .when(col("rule") == "stranger", lit("it is not registered, and brought one topic only"))
        .when(col("rule").isin("topicNew", "topicChanged"), lit("registration"))
        .when(kind == "TopicsChanged", lit("unregistration"))
        .when(kind == "ServerStopping", lit("shutdown hook"))
    )


def _changes() -> Column:
    return array(
        struct(
            array("topic").alias("topics"), _queues("before").alias("before"), _queues("after").alias("after")
        )
    )


def _queues(prefix: str) -> Column:
    """A topic's queues before or after a change; null if the line has none."""
    numbers = {"Read": "readQueueNums", "Write": "writeQueueNums", "Perm": "perm", "Flag": "topicSysFlag"}
    found = struct(
        col(f"{prefix}Broker").alias("brokerName"),
        *(col(f"{prefix}{part}").try_cast("bigint").alias(name) for part, name in numbers.items()),
    )
    return when(col(f"{prefix}Broker").isNotNull(), found)
