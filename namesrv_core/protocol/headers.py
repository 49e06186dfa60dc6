"""Ext fields as records, one for each request code that this project reads or writes.

Reading never fails, as upstream's does not: a field that is missing or unreadable is null, or its default
where the Java type is a primitive. Which fields may not be null is for the handler to say.
"""

import re
from typing import Any, NamedTuple, TypeVar

from namesrv_core.protocol.command import ExtFields

H = TypeVar("H", bound=NamedTuple)

# Python reads no more than 4300 digits.
_INTEGER = re.compile(r"[+-]?\d{1,4000}")
_ODD_NAMES = {
    "zone_name": "__ZONE_NAME",
    "zone_mode": "__ZONE_MODE",
    "unique_key_query": "_UNIQUE_KEY_QUERY",
}


def _wire_name(field: str) -> str:
    first, *more = field.split("_")
    return _ODD_NAMES.get(field) or first + "".join(word.capitalize() for word in more)


def integer(text: str, bits: int) -> int | None:
    """What Java's `parseInt` (or `parseLong`, with 64 bits) makes of a text; None where it fails."""
    if not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -(1 << bits - 1) <= number < 1 << bits - 1 else None


def read(kind: type[H], ext: ExtFields | None) -> H:
    """The record `kind` of these ext fields.

    `int | None` is a Java Long, `int` an int with a default, `bool` is true only for "true" in any case.
    """
    fields: Any = ext or {}
    values: list[Any] = []
    for field, type_ in kind.__annotations__.items():
        text = fields.get(_wire_name(field))
        default = kind._field_defaults.get(field)
        if text is None or type_ == str | None:
            values.append(default if text is None else text)
        elif type_ is bool or type_ == bool | None:
            values.append(text.lower() == "true")
        else:
            number = integer(text, 32 if type_ is int else 64)
            values.append(default if number is None else number)
    return kind(*values)


def write(header: NamedTuple) -> dict[str, str]:
    """The ext fields of a record; what is None is left out."""
    return {
        _wire_name(field): value if isinstance(value, str) else str(value).lower()
        for field, value in zip(header._fields, header, strict=True)
        if value is not None
    }


class PutKvConfig(NamedTuple):
    namespace: str | None = None
    key: str | None = None
    value: str | None = None


class KvKey(NamedTuple):
    """GET_KV_CONFIG and DELETE_KV_CONFIG."""

    namespace: str | None = None
    key: str | None = None


class KvNamespace(NamedTuple):
    """GET_KVLIST_BY_NAMESPACE."""

    namespace: str | None = None


class RegisterBroker(NamedTuple):
    broker_name: str | None = None
    broker_addr: str | None = None
    cluster_name: str | None = None
    ha_server_addr: str | None = None
    broker_id: int | None = None
    compressed: bool = False
    body_crc32: int = 0
    heartbeat_timeout_millis: int | None = None
    enable_acting_master: bool | None = None
    zone_name: str | None = None


class BrokerIdentity(NamedTuple):
    """UNREGISTER_BROKER and QUERY_DATA_VERSION."""

    broker_name: str | None = None
    broker_addr: str | None = None
    cluster_name: str | None = None
    broker_id: int | None = None


class BrokerHeartbeat(NamedTuple):
    cluster_name: str | None = None
    broker_addr: str | None = None
    broker_name: str | None = None


class GetRoute(NamedTuple):
    """GET_ROUTEINFO_BY_TOPIC."""

    topic: str | None = None
    accept_standard_json_only: bool = False
    zone_mode: bool = False
    zone_name: str | None = None


class GetClusterInfo(NamedTuple):
    """GET_BROKER_CLUSTER_INFO; the field is ours, and Java's name servers pass over it."""

    with_heartbeats: bool = False


class BrokerName(NamedTuple):
    """WIPE_WRITE_PERM_OF_BROKER and ADD_WRITE_PERM_OF_BROKER."""

    broker_name: str | None = None


class ClusterName(NamedTuple):
    """GET_TOPICS_BY_CLUSTER."""

    cluster: str | None = None


class DeleteTopic(NamedTuple):
    """DELETE_TOPIC_IN_NAMESRV, and DELETE_TOPIC_IN_BROKER without a cluster."""

    topic: str | None = None
    cluster_name: str | None = None


class TopicName(NamedTuple):
    """REGISTER_TOPIC_IN_NAMESRV, GET_TOPIC_CONFIG, QUERY_TOPIC_CONSUME_BY_WHO."""

    topic: str | None = None


class LogicalTopic(NamedTuple):
    """GET_TOPIC_CONFIG; `lo` (logical) asks for the mapping of a static topic, too."""

    topic: str | None = None
    lo: bool = True


class MemberGroup(NamedTuple):
    """GET_BROKER_MEMBER_GROUP."""

    cluster_name: str | None = None
    broker_name: str | None = None


class MinBrokerIdChange(NamedTuple):
    """NOTIFY_MIN_BROKER_ID_CHANGE, sent by name servers."""

    min_broker_id: int | None = None
    min_broker_addr: str | None = None
    offline_broker_addr: str | None = None
    ha_broker_addr: str | None = None


class CreateTopic(NamedTuple):
    """UPDATE_AND_CREATE_TOPIC, sent to brokers."""

    topic: str | None = None
    default_topic: str | None = None
    read_queue_nums: int = 8
    write_queue_nums: int = 8
    perm: int = 6
    topic_filter_type: str | None = "SINGLE_TAG"
    topic_sys_flag: int | None = None
    order: bool = False
    attributes: str | None = None


class ConsumerOffset(NamedTuple):
    """QUERY_CONSUMER_OFFSET, and UPDATE_CONSUMER_OFFSET with the `commit_offset`."""

    consumer_group: str | None = None
    topic: str | None = None
    queue_id: int = 0
    commit_offset: int | None = None
    set_zero_if_not_found: bool | None = None


class QueueOffset(NamedTuple):
    """GET_MAX_OFFSET, GET_MIN_OFFSET, and SEARCH_OFFSET_BY_TIMESTAMP with the `timestamp` (ms)."""

    topic: str | None = None
    queue_id: int = 0
    timestamp: int | None = None


class ConsumerGroup(NamedTuple):
    """GET_CONSUMER_CONNECTION_LIST, and GET_CONSUME_STATS of all topics or of one."""

    consumer_group: str | None = None
    topic: str | None = None


class ProducerGroup(NamedTuple):
    """GET_PRODUCER_CONNECTION_LIST."""

    producer_group: str | None = None


class ConsumerClient(NamedTuple):
    """GET_CONSUMER_RUNNING_INFO."""

    consumer_group: str | None = None
    client_id: str | None = None
    jstack_enable: bool = False


class ConsumeDirectly(NamedTuple):
    """CONSUME_MESSAGE_DIRECTLY; `msg_id` is an offset id."""

    consumer_group: str | None = None
    client_id: str | None = None
    msg_id: str | None = None
    topic: str | None = None


class BrokerConsumeStats(NamedTuple):
    """GET_BROKER_CONSUME_STATS."""

    is_order: bool = False


class DeleteGroup(NamedTuple):
    """DELETE_SUBSCRIPTIONGROUP."""

    group_name: str | None = None
    clean_offset: bool = False


class ResetOffset(NamedTuple):
    """INVOKE_BROKER_TO_RESET_OFFSET: all queues to a `timestamp` (ms; -1 the end), or one to an `offset`."""

    group: str | None = None
    topic: str | None = None
    timestamp: int | None = -1
    is_force: bool = True
    offset: int | None = None
    queue_id: int | None = None


class QueryMessage(NamedTuple):
    """QUERY_MESSAGE: times in ms; `index_type` is "K" for keys and "T" for tags (5.5.0)."""

    topic: str | None = None
    key: str | None = None
    max_num: int = 64
    begin_timestamp: int | None = 0
    end_timestamp: int | None = None
    index_type: str | None = None
    last_key: str | None = None
    unique_key_query: bool = False


class ViewMessage(NamedTuple):
    """VIEW_MESSAGE_BY_ID: `offset` is the position in the commit log."""

    topic: str | None = None
    offset: int | None = None


class PullMessage(NamedTuple):
    """PULL_MESSAGE, by default as a tool asks: answered at once, nothing committed, nobody registered."""

    consumer_group: str | None = "TOOLS_CONSUMER"
    topic: str | None = None
    queue_id: int = 0
    queue_offset: int | None = 0
    max_msg_nums: int = 32
    sys_flag: int = 4
    commit_offset: int | None = 0
    suspend_timeout_millis: int | None = 0
    sub_version: int | None = 0
    subscription: str | None = "*"
    expression_type: str | None = "TAG"


class ViewBrokerStats(NamedTuple):
    """VIEW_BROKER_STATS_DATA: for example TOPIC_PUT_NUMS of a topic, GROUP_GET_NUMS of "topic@group"."""

    stats_name: str | None = None
    stats_key: str | None = None


class MasterFlushOffset(NamedTuple):
    """RESET_MASTER_FLUSH_OFFSET, in bytes of the commit log."""

    master_flush_offset: int | None = None


class CheckRocksdb(NamedTuple):
    """CHECK_ROCKSDB_CQ_WRITE_PROGRESS: of all topics where it is empty, of messages since then (ms)."""

    topic: str | None = None
    check_store_time: int | None = 0


class AddBroker(NamedTuple):
    """ADD_BROKER: a file on the machine of the container."""

    config_path: str | None = None


class RemoveBroker(NamedTuple):
    """REMOVE_BROKER."""

    broker_cluster_name: str | None = None
    broker_name: str | None = None
    broker_id: int | None = None
