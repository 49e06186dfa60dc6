"""Owns the meanings of the columns of the commands about lite topics."""

LITE_TOPIC_MEANINGS = {
    "getBrokerLiteInfo": {
        "storeType": "how the broker stores queues: default or defaultRocksDB",
        "maxLmqNum": "queues of lite topics there may be",
        "currentLmqNum": "queues of lite topics there are",
        "liteSubscriptionCount": "subscriptions of clients to lite topics",
        "orderInfoCount": "queues with popped messages of which the order is kept",
        "cqTableSize": "consume queues that are open",
        "offsetTableSize": "topics and groups with a committed offset",
        "eventMapSize": "clients that wait for messages of lite topics",
        "topicMeta": "parent topics with their time to live in minutes",
        "groupMeta": "the groups of each parent topic",
    },
    "getLiteClientInfo": {
        "liteTopicCount": "how many lite topics there are, or the client subscribes to",
        "lastAccessTime": "when the client last asked (UTC)",
        "lastConsumeTime": "when it last consumed (UTC)",
        "liteTopics": "their names",
    },
    "getLiteGroupInfo": {
        "liteTopic": "name of the lite topic; null for the sum of all",
        "lagCount": "messages not consumed; null where the group never consumed any",
        "earliestUnconsumedTime": "when the oldest message that is not consumed was stored (UTC)",
        "lastTime": "when the last consumed message was stored (UTC)",
    },
    "getLiteTopicInfo": {
        "lastUpdated": "when the last message was stored (UTC)",
        "shardingToBroker": "whether clients are told to write it on this broker",
        "subscriberCount": "clients that subscribe to it",
        "subscribers": "these clients, as GROUP@CLIENT; * where the group reads all lite topics",
    },
    "getParentTopicInfo": {
        "ttl": "minutes after which a lite topic goes that nothing was written to",
        "liteTopicCount": "how many lite topics there are, or the client subscribes to",
        "lmqNum": "queues of lite topics of all parent topics of the broker",
        "groups": "groups that may read its lite topics",
    },
}
"""Column meanings by command."""
