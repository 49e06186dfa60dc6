"""The fields of a cluster file: every key with its shape, default and meaning.

Settings have the protocol's names. Their defaults are those of items that mqadmin creates.
"""

from namesrv_core.protocol.resource_names import EXISTING_NAME_PATTERN, MAX_OLD_NAME_LENGTH
from nsadmin.operations.plans.shapes import (
    ChoiceShape,
    FlagShape,
    ListShape,
    MapShape,
    NameShape,
    RecordField,
    RecordShape,
    TextShape,
    WholeNumberShape,
)

FILE_FORMAT = 1
_MAX_INT = 2**31 - 1
_MAX_LONG = 2**63 - 1

# An export can have names that brokers no longer accept. `diff` refuses to create them.
TOPIC_NAME, GROUP_NAME = (
    NameShape(kind, EXISTING_NAME_PATTERN, f"1 to {MAX_OLD_NAME_LENGTH} characters, in one line")
    for kind in ("topic", "group")
)
BROKER_NAME = NameShape("broker name", r"[^;:\s]+", "a name without blanks, colons and semicolons")
ORDER_CONF = NameShape(
    "order configuration",
    r"[^:;\s]+:\d{1,9}(;[^:;\s]+:\d{1,9})*",
    "BROKER:QUEUES;BROKER:QUEUES",
)

TOPIC_SETTINGS = RecordShape(
    (
        RecordField("readQueueNums", WholeNumberShape(0, 65536), "number of read queues", 8),
        RecordField("writeQueueNums", WholeNumberShape(0, 65536), "number of write queues", 8),
        RecordField("perm", WholeNumberShape(0, 7), "4 read, 2 write, 1 inherit, or a sum of them", 6),
        RecordField(
            "order", FlagShape(), "whether messages are ordered; true if the topic has an orderConf", False
        ),
        RecordField(
            "topicFilterType",
            ChoiceShape(("SINGLE_TAG", "MULTI_TAG")),
            "number of tags per message",
            "SINGLE_TAG",
        ),
        RecordField(
            "topicSysFlag", WholeNumberShape(0, _MAX_INT), "1 for a unit, 2 for units that subscribe", 0
        ),
        RecordField(
            "attributes",
            MapShape(NameShape("attribute", r"[^+,=\s-][^,=\s]*", "a name without a sign"), TextShape()),
            "attributes by name, such as message.type: FIFO; brokers since 5.0 have them",
            {},
        ),
    )
)

EXPONENTIAL_POLICY = RecordShape(
    (
        RecordField("initial", WholeNumberShape(0, _MAX_LONG), "ms before the first retry", 5000),
        RecordField("max", WholeNumberShape(0, _MAX_LONG), "most ms before a retry", 7_200_000),
        RecordField("multiplier", WholeNumberShape(0, _MAX_LONG), "factor from one wait to the next", 2),
    )
)
_RETRY_POLICY = RecordShape(
    (
        RecordField("type", ChoiceShape(("CUSTOMIZED", "EXPONENTIAL")), "the policy in use", "CUSTOMIZED"),
        RecordField(
            "customizedRetryPolicy",
            RecordShape(
                (
                    RecordField(
                        "next",
                        ListShape(WholeNumberShape(0, _MAX_LONG)),
                        "ms before each retry",
                        is_required=True,
                    ),
                )
            ),
            "a list of waits",
        ),
        RecordField("exponentialRetryPolicy", EXPONENTIAL_POLICY, "waits that grow by a factor"),
    )
)
SUBSCRIPTION_FIELDS = RecordShape(
    (
        RecordField("topic", TOPIC_NAME, "the topic", is_required=True),
        RecordField("expressionType", TextShape(), "syntax: TAG or SQL92", "TAG"),
        RecordField("expression", TextShape(), "filter for messages", "*"),
        RecordField("version", WholeNumberShape(0, _MAX_LONG), "version of the subscription", 0),
    )
)

GROUP_SETTINGS = RecordShape(
    (
        RecordField("consumeEnable", FlagShape(), "whether the group may consume", True),
        RecordField(
            "consumeFromMinEnable",
            FlagShape(),
            "whether a new queue is read from its oldest message",
            False,
        ),
        RecordField(
            "consumeBroadcastEnable", FlagShape(), "whether every client may receive all messages", False
        ),
        RecordField(
            "consumeMessageOrderly", FlagShape(), "whether messages are consumed in order; since 5.0", False
        ),
        RecordField("retryQueueNums", WholeNumberShape(0, 65536), "number of queues of its retry topic", 1),
        RecordField(
            "retryMaxTimes",
            WholeNumberShape(-1, _MAX_INT),
            "retries before a message becomes a dead letter",
            16,
        ),
        RecordField(
            "groupRetryPolicy", _RETRY_POLICY, "waits before retries; since 5.0", {"type": "CUSTOMIZED"}
        ),
        RecordField(
            "consumeTimeoutMinute",
            WholeNumberShape(0, _MAX_INT),
            "minutes to consume a message; since 5.0",
            15,
        ),
        RecordField(
            "brokerId", WholeNumberShape(0, _MAX_LONG), "id of the broker to consume from; 0 is the master", 0
        ),
        RecordField(
            "whichBrokerWhenConsumeSlowly",
            WholeNumberShape(0, _MAX_LONG),
            "id of the broker to consume from when the group is far behind",
            1,
        ),
        RecordField(
            "notifyConsumerIdsChangedEnable", FlagShape(), "whether clients learn of each other at once", True
        ),
        RecordField("groupSysFlag", WholeNumberShape(0, _MAX_INT), "flags of the group; since 5.0", 0),
        RecordField(
            "subscriptionDataSet", ListShape(SUBSCRIPTION_FIELDS), "required subscriptions; since 5.0"
        ),
        RecordField(
            "attributes",
            MapShape(NameShape("attribute", r"[^+,=\s-][^,=\s]*", "a name without a sign"), TextShape()),
            "attributes by name; brokers since 5.0 have them",
            {},
        ),
    )
)


def _with_broker_fields(settings_shape: RecordShape) -> RecordShape:
    """The settings with the fields that select brokers."""
    broker_list = ListShape(BROKER_NAME)
    return RecordShape(
        (
            *settings_shape.record_fields,
            RecordField("onlyOn", broker_list, "brokers that have it; default: every broker of the cluster"),
            RecordField("notOn", broker_list, "brokers that do not have it"),
            RecordField(
                "perBroker",
                MapShape(BROKER_NAME, settings_shape),
                "settings that differ on one broker",
            ),
        )
    )


CLUSTER_FIELDS = RecordShape(
    (
        RecordField(
            "version", WholeNumberShape(FILE_FORMAT, FILE_FORMAT), "version of this format", FILE_FORMAT
        ),
        RecordField("cluster", TextShape(), "name of the cluster", is_required=True),
        RecordField(
            "topics",
            MapShape(TOPIC_NAME, _with_broker_fields(TOPIC_SETTINGS)),
            "topics by name; {} stands for all defaults",
        ),
        RecordField(
            "groups", MapShape(GROUP_NAME, _with_broker_fields(GROUP_SETTINGS)), "consumer groups by name"
        ),
        RecordField(
            "orderConf",
            MapShape(TOPIC_NAME, ORDER_CONF),
            "order configurations by topic, such as broker-a:8;broker-b:8, on every name server",
        ),
        RecordField(
            "kv",
            MapShape(TextShape(), MapShape(TextShape(), TextShape())),
            "KV config by namespace and key, on every name server; other namespaces are ignored",
        ),
    )
)
