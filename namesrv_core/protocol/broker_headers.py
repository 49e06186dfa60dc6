"""The ext fields of broker requests: a record for each request code that this project sends or answers."""

from typing import NamedTuple


class LogicalTopic(NamedTuple):
    """GET_TOPIC_CONFIG. `lo` (logical) requests the mapping of a static topic as well."""

    topic: str | None = None
    lo: bool = True


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
    """QUERY_CONSUMER_OFFSET, and UPDATE_CONSUMER_OFFSET with the `commit_offset`.

    If `lo` (logical) is False, the queue and the offset are the broker's own, also for a static topic.
    """

    consumer_group: str | None = None
    topic: str | None = None
    queue_id: int = 0
    commit_offset: int | None = None
    set_zero_if_not_found: bool | None = None
    lo: bool | None = None


class QueueOffset(NamedTuple):
    """GET_MAX_OFFSET, GET_MIN_OFFSET, and SEARCH_OFFSET_BY_TIMESTAMP with the `timestamp` (ms)."""

    topic: str | None = None
    queue_id: int = 0
    timestamp: int | None = None


class ConsumerGroup(NamedTuple):
    """GET_CONSUMER_CONNECTION_LIST, and GET_CONSUME_STATS of all topics or of one."""

    consumer_group: str | None = None
    topic: str | None = None


class GroupOfTopic(NamedTuple):
    """QUERY_CONSUME_TIME_SPAN."""

    topic: str | None = None
    group: str | None = None


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
    """DELETE_SUBSCRIPTIONGROUP. Brokers of 4.9 read `remove_offset`, later ones `clean_offset`."""

    group_name: str | None = None
    clean_offset: bool = False
    remove_offset: bool = False


class ForbidTopic(NamedTuple):
    """UPDATE_AND_GET_GROUP_FORBIDDEN: whether a group may read a topic; without `readable` only read back."""

    group: str | None = None
    topic: str | None = None
    readable: bool | None = None


class ResetOffset(NamedTuple):
    """INVOKE_BROKER_TO_RESET_OFFSET: all queues to a `timestamp` (ms, -1: the end) or one to an `offset`."""

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
    """PULL_MESSAGE. By default the broker answers at once, commits no offset and registers no consumer.

    If `lo` (logical) is False, the queue and the offset are the broker's own, also for a static topic.
    """

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
    lo: bool | None = None


class EndTransaction(NamedTuple):
    """END_TRANSACTION. `commit_or_rollback` is a value of MessageSysFlag: 8 commits, 12 rolls back.

    `tran_state_table_offset` is the offset of the half message in its queue.
    """

    topic: str | None = None
    producer_group: str | None = None
    tran_state_table_offset: int = 0
    commit_log_offset: int = 0
    commit_or_rollback: int = 0
    from_transaction_check: bool = False
    msg_id: str | None = None
    transaction_id: str | None = None


class RecallMessage(NamedTuple):
    """RECALL_MESSAGE. The handle names a timed message (RecallMessageHandle upstream)."""

    producer_group: str | None = None
    topic: str | None = None
    recall_handle: str | None = None


class ResumeCheckHalfMessage(NamedTuple):
    """RESUME_CHECK_HALF_MESSAGE. Brokers read only the position in `msg_id`, an offset id."""

    topic: str | None = None
    msg_id: str | None = None


class ViewBrokerStats(NamedTuple):
    """VIEW_BROKER_STATS_DATA: for example TOPIC_PUT_NUMS of a topic, GROUP_GET_NUMS of "topic@group"."""

    stats_name: str | None = None
    stats_key: str | None = None


class MasterFlushOffset(NamedTuple):
    """RESET_MASTER_FLUSH_OFFSET, in bytes of the commit log."""

    master_flush_offset: int | None = None


class CheckRocksdb(NamedTuple):
    """CHECK_ROCKSDB_CQ_WRITE_PROGRESS of messages since `check_store_time` (ms). No topic: of all topics."""

    topic: str | None = None
    check_store_time: int | None = 0


class AddBroker(NamedTuple):
    """ADD_BROKER. `config_path` is a file on the container's machine."""

    config_path: str | None = None


class RemoveBroker(NamedTuple):
    """REMOVE_BROKER."""

    broker_cluster_name: str | None = None
    broker_name: str | None = None
    broker_id: int | None = None
