"""The table of commands: what there is, where it lives, what it is for. No command is imported here."""

from typing import Literal, NamedTuple

Kind = Literal["read", "change", "delete", "local", "program"]


class Entry(NamedTuple):
    """One command.

    `kind` says what it does to servers: "change" can be undone, "delete" cannot, "local" has to do with none.
    A "program" gets the words behind its name as they are.
    """

    name: str
    module: str
    function: str
    group: str
    kind: Kind
    help: str


COMMANDS = (
    Entry("clusterList", "clusters", "cluster_list", "Clusters", "read", "Brokers with their load and state"),
    Entry(
        "brokerStatus",
        "clusters",
        "broker_status",
        "Clusters",
        "read",
        "All that a broker tells about itself",
    ),
    Entry("wipeWritePerm", "brokers", "wipe_write_perm", "Brokers", "change", "Stop writes to a broker"),
    Entry("addWritePerm", "brokers", "add_write_perm", "Brokers", "change", "Allow writes to a broker again"),
    Entry("haStatus", "replication", "ha_status", "Brokers", "read", "How far slaves are behind"),
    Entry(
        "getBrokerConfig",
        "broker_configs",
        "get_broker_config",
        "Brokers",
        "read",
        "Settings in force on brokers",
    ),
    Entry(
        "updateBrokerConfig",
        "broker_configs",
        "update_broker_config",
        "Brokers",
        "change",
        "Set one item on brokers",
    ),
    Entry(
        "cleanExpiredCQ",
        "upkeep",
        "clean_expired_cq",
        "Brokers",
        "change",
        "Delete parts of queues whose messages expired",
    ),
    Entry(
        "cleanUnusedTopic",
        "upkeep",
        "clean_unused_topic",
        "Brokers",
        "delete",
        "Delete queues of topics without config",
    ),
    Entry("topicList", "topics", "topic_list", "Topics", "read", "Names of topics, or who consumes them"),
    Entry("topicRoute", "topics", "topic_route", "Topics", "read", "Brokers and queues of a topic"),
    Entry("topicClusterList", "topics", "topic_cluster_list", "Topics", "read", "Clusters that have a topic"),
    Entry("topicStatus", "topic_stats", "topic_status", "Topics", "read", "Offsets of a topic's queues"),
    Entry("statsAll", "traffic", "stats_all", "Topics", "read", "What topics take and groups read"),
    Entry("allocateMQ", "allocation", "allocate_mq", "Topics", "read", "Which client gets which queues"),
    Entry("updateTopic", "topic_configs", "update_topic", "Topics", "change", "Create or change a topic"),
    Entry(
        "updateTopicPerm",
        "topic_configs",
        "update_topic_perm",
        "Topics",
        "change",
        "Change a topic's permission",
    ),
    Entry(
        "updateOrderConf",
        "order_conf",
        "update_order_conf",
        "Topics",
        "change",
        "Show or write a topic's order configuration",
    ),
    Entry("deleteTopic", "topics", "delete_topic", "Topics", "delete", "Delete a topic with its messages"),
    Entry(
        "consumerProgress",
        "consumers",
        "consumer_progress",
        "Consumers",
        "read",
        "How far a group is behind, or all groups",
    ),
    Entry(
        "consumerConnection",
        "consumers",
        "consumer_connection",
        "Consumers",
        "read",
        "Clients of a group, and what they subscribe to",
    ),
    Entry(
        "consumerStatus",
        "consumer_status",
        "consumer_status",
        "Consumers",
        "read",
        "What the clients of a group tell about themselves",
    ),
    Entry(
        "brokerConsumeStats",
        "consumers",
        "broker_consume_stats",
        "Consumers",
        "read",
        "How far all groups are behind on one broker",
    ),
    Entry("getConsumerConfig", "groups", "get_consumer_config", "Consumers", "read", "Settings of a group"),
    Entry("updateSubGroup", "groups", "update_sub_group", "Consumers", "change", "Create or change a group"),
    Entry("deleteSubGroup", "groups", "delete_sub_group", "Consumers", "delete", "Delete a group"),
    Entry(
        "resetOffsetByTime",
        "offsets",
        "reset_offset_by_time",
        "Consumers",
        "delete",
        "Move a group to a time or an offset",
    ),
    Entry(
        "skipAccumulatedMessage",
        "offsets",
        "skip_accumulated_message",
        "Consumers",
        "delete",
        "Move a group to the end of a topic",
    ),
    Entry("producer", "producers", "producer", "Producers", "read", "All producers of a broker, or of all"),
    Entry(
        "producerConnection", "producers", "producer_connection", "Producers", "read", "Clients of a group"
    ),
    Entry(
        "queryMsgByKey", "messages", "query_msg_by_key", "Messages", "read", "Messages with a business key"
    ),
    Entry(
        "queryMsgByUniqueKey",
        "messages",
        "query_msg_by_unique_key",
        "Messages",
        "read",
        "Messages by the id in a producer's log",
    ),
    Entry(
        "queryMsgById", "messages", "query_msg_by_id", "Messages", "read", "A message by an id of either kind"
    ),
    Entry(
        "queryMsgByOffset",
        "messages",
        "query_msg_by_offset",
        "Messages",
        "read",
        "The message at one place of a queue",
    ),
    Entry(
        "printMsgByQueue",
        "queue_reading",
        "print_msg_by_queue",
        "Messages",
        "read",
        "Messages in one queue, or its tags",
    ),
    Entry("printMsg", "queue_reading", "print_msg", "Messages", "read", "Messages in all queues of a topic"),
    Entry("sendMessage", "sending", "send_message", "Messages", "change", "Send one text message to a topic"),
    Entry(
        "queryMsgTraceById",
        "traces",
        "query_msg_trace_by_id",
        "Messages",
        "read",
        "Who sent and who consumed a message",
    ),
    Entry("kvGet", "kv", "kv_get", "Name servers", "read", "One value of the KV config"),
    Entry("kvList", "kv", "kv_list", "Name servers", "read", "All values of a KV namespace"),
    Entry(
        "updateKvConfig", "kv", "update_kv_config", "Name servers", "change", "Write a value of the KV config"
    ),
    Entry(
        "deleteKvConfig",
        "kv",
        "delete_kv_config",
        "Name servers",
        "delete",
        "Delete a value of the KV config",
    ),
    Entry(
        "getNamesrvConfig", "name_servers", "get_namesrv_config", "Name servers", "read", "Settings in force"
    ),
    Entry(
        "updateNamesrvConfig",
        "name_servers",
        "update_namesrv_config",
        "Name servers",
        "change",
        "Set one item",
    ),
    Entry("contextList", "contexts", "context_list", "Contexts", "local", "Clusters that are known by name"),
    Entry("contextShow", "contexts", "context_show", "Contexts", "local", "One of them"),
    Entry("contextUse", "contexts", "context_use", "Contexts", "local", "Choose one for all commands"),
    Entry("contextSet", "contexts", "context_set", "Contexts", "local", "Make or change one"),
    Entry("contextDelete", "contexts", "context_delete", "Contexts", "local", "Forget one"),
    Entry("namesrv", "namesrv", "namesrv", "Programs", "program", "Run a name server here"),
    Entry(
        "lab", "lab", "lab", "Programs", "program", "Run a name server and simulated brokers, to play with"
    ),
)


def _plain(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()


_BY_NAME = {_plain(entry.name): entry for entry in COMMANDS}


def find(word: str) -> Entry | None:
    """The command of that name: topicRoute, TOPICROUTE, topic-route and topic_route are the same."""
    return _BY_NAME.get(_plain(word))


def nearest(word: str) -> list[str]:
    """Up to three command names that look like this one."""
    from difflib import get_close_matches

    return [_BY_NAME[name].name for name in get_close_matches(_plain(word), _BY_NAME, 3, 0.5)]
