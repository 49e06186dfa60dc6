"""The fields of a cluster file: every key with its shape, default and meaning.

Settings have the protocol's names. Their defaults are those of items that mqadmin creates.
"""

from nsadmin.operations.plans.shapes import Field, Flag, ListOf, MapOf, Name, OneOf, Record, Text, Whole

FORMAT = 1
_INT = 2**31 - 1
_LONG = 2**63 - 1

TOPIC = Name("topic", r"[%|a-zA-Z0-9_-]{1,255}", "letters, digits and % | _ -, 255 at most")
GROUP = Name("group", r"[%|a-zA-Z0-9_-]{1,255}", "letters, digits and % | _ -, 255 at most")
BROKER = Name("broker name", r"[^;:\s]+", "no blank, no : and no ;")
ORDER_CONF = Name(
    "order configuration",
    r"[^:;\s]+:\d{1,9}(;[^:;\s]+:\d{1,9})*",
    "BROKER:QUEUES;BROKER:QUEUES",
)

TOPIC_SETTINGS = Record(
    (
        Field("readQueueNums", Whole(0, 65536), "queues to read from", 8),
        Field("writeQueueNums", Whole(0, 65536), "queues to write to", 8),
        Field("perm", Whole(0, 7), "4 read, 2 write, 1 inherit, or a sum of them", 6),
        Field("order", Flag(), "whether its messages are ordered; an orderConf makes it so", False),
        Field("topicFilterType", OneOf(("SINGLE_TAG", "MULTI_TAG")), "tags of a message", "SINGLE_TAG"),
        Field("topicSysFlag", Whole(0, _INT), "1 for a unit, 2 for units that subscribe", 0),
        Field(
            "attributes",
            MapOf(Name("attribute", r"[^+,=\s-][^,=\s]*", "its name without a sign"), Text()),
            "attributes by name, such as message.type: FIFO; brokers since 5.0 have them",
            {},
        ),
    )
)

EXPONENTIAL = Record(
    (
        Field("initial", Whole(0, _LONG), "ms before the first retry", 5000),
        Field("max", Whole(0, _LONG), "ms before a retry at most", 7_200_000),
        Field("multiplier", Whole(0, _LONG), "each wait as a multiple of the one before", 2),
    )
)
_RETRY_POLICY = Record(
    (
        Field("type", OneOf(("CUSTOMIZED", "EXPONENTIAL")), "which of them is in force", "CUSTOMIZED"),
        Field(
            "customizedRetryPolicy",
            Record((Field("next", ListOf(Whole(0, _LONG)), "ms before each retry", required=True),)),
            "waits one by one",
        ),
        Field("exponentialRetryPolicy", EXPONENTIAL, "waits that grow"),
    )
)
SUBSCRIPTION = Record(
    (
        Field("topic", TOPIC, "the topic", required=True),
        Field("expressionType", Text(), "TAG or SQL92", "TAG"),
        Field("expression", Text(), "which of its messages", "*"),
        Field("version", Whole(0, _LONG), "version of the subscription", 0),
    )
)

GROUP_SETTINGS = Record(
    (
        Field("consumeEnable", Flag(), "whether the group may consume", True),
        Field(
            "consumeFromMinEnable", Flag(), "whether a new queue is read from its oldest message on", False
        ),
        Field("consumeBroadcastEnable", Flag(), "whether every client may get every message", False),
        Field("consumeMessageOrderly", Flag(), "whether messages come in order; since 5.0", False),
        Field("retryQueueNums", Whole(0, 65536), "queues of its retry topic", 1),
        Field("retryMaxTimes", Whole(-1, _INT), "retries before a message is a dead letter", 16),
        Field("groupRetryPolicy", _RETRY_POLICY, "waits before retries; since 5.0", {"type": "CUSTOMIZED"}),
        Field("consumeTimeoutMinute", Whole(0, _INT), "minutes to consume a message in; since 5.0", 15),
        Field("brokerId", Whole(0, _LONG), "id of the broker to consume from; 0 is the master", 0),
        Field("whichBrokerWhenConsumeSlowly", Whole(0, _LONG), "id of the broker when it is far behind", 1),
        Field("notifyConsumerIdsChangedEnable", Flag(), "whether clients hear of each other at once", True),
        Field("groupSysFlag", Whole(0, _INT), "flags of the group; since 5.0", 0),
        Field("subscriptionDataSet", ListOf(SUBSCRIPTION), "what it has to subscribe to; since 5.0"),
        Field(
            "attributes",
            MapOf(Name("attribute", r"[^+,=\s-][^,=\s]*", "its name without a sign"), Text()),
            "attributes by name; brokers since 5.0 have them",
            {},
        ),
    )
)


def _spread(settings: Record) -> Record:
    """The settings with the fields that select brokers."""
    names = ListOf(BROKER)
    return Record(
        (
            *settings.fields,
            Field("onlyOn", names, "the brokers that have it; left out: every broker of the cluster"),
            Field("notOn", names, "brokers that do not have it"),
            Field("perBroker", MapOf(BROKER, settings), "settings that are otherwise on one broker"),
        )
    )


CLUSTER = Record(
    (
        Field("version", Whole(FORMAT, FORMAT), "version of this format", FORMAT),
        Field("cluster", Text(), "name of the cluster", required=True),
        Field("topics", MapOf(TOPIC, _spread(TOPIC_SETTINGS)), "topics by name; {} is one with all defaults"),
        Field("groups", MapOf(GROUP, _spread(GROUP_SETTINGS)), "consumer groups by name"),
        Field(
            "orderConf",
            MapOf(TOPIC, ORDER_CONF),
            "order configurations by topic, such as broker-a:8;broker-b:8, on every name server",
        ),
        Field(
            "kv",
            MapOf(Text(), MapOf(Text(), Text())),
            "KV config by namespace and key, on every name server; only namespaces named here are looked at",
        ),
    )
)
