"""Owns the meanings of the columns of the commands about lite topics."""

LITE_TOPIC_MEANINGS = {
    "getBrokerLiteInfo": {
        "storeType": "how the broker stores queues: default or defaultRocksDB",
        "maxLmqNum": "limit of lite topic queues",
        "currentLmqNum": "number of lite topic queues",
        "liteSubscriptionCount": "subscriptions of clients to lite topics",
        "orderInfoCount": "queues with popped messages whose order is kept",
        "cqTableSize": "open consume queues",
        "offsetTableSize": "topics and groups with a committed offset",
        "eventMapSize": "clients that wait for messages of lite topics",
        "topicMeta": "parent topics with their time to live in minutes",
        "groupMeta": "the groups of each parent topic",
    },
    "getLiteClientInfo": {
        "liteTopicCount": "number of lite topics, or of the client's subscriptions",
        "lastAccessTime": "when the client last requested messages (UTC)",
        "lastConsumeTime": "when the client last consumed (UTC)",
        "liteTopics": "names of the lite topics",
    },
    "getLiteGroupInfo": {
        "liteTopic": "name of the lite topic; null for the total",
        "lagCount": "messages not consumed; null if the group never consumed any",
        "earliestUnconsumedTime": "when the oldest unconsumed message was stored (UTC)",
        "lastTime": "when the last consumed message was stored (UTC)",
    },
    "getLiteTopicInfo": {
        "lastUpdated": "when the last message was stored (UTC)",
        "shardingToBroker": "whether the route lets clients write it on this broker",
        "subscriberCount": "clients that subscribe to it",
        "subscribers": "the subscribed clients, as GROUP@CLIENT; * if the group reads all lite topics",
    },
    "getParentTopicInfo": {
        "ttl": "minutes without writes after which a lite topic is removed",
        "liteTopicCount": "number of lite topics, or of the client's subscriptions",
        "lmqNum": "lite topic queues of all parent topics of the broker",
        "groups": "groups that may read its lite topics",
    },
}
"""Column meanings by command."""
