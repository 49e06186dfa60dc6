"""The fields of a cluster file: every key with its shape, default and meaning.

Settings have the protocol's names. Their defaults are those of items that mqadmin creates.
"""

import json

from namesrv_core.file_shapes import (
    Choice,
    Field,
    Flag,
    JsonSchema,
    ListOf,
    MapOf,
    Name,
    Record,
    Text,
    WholeNumber,
)
from namesrv_core.protocol.resource_names import EXISTING_NAME_PATTERN, MAX_OLD_NAME_LENGTH

FILE_FORMAT = 1
_MAX_INT = 2**31 - 1
_MAX_LONG = 2**63 - 1

# An export can have names that brokers no longer accept. `diff` refuses to create them.
TOPIC_NAME, GROUP_NAME = (
    Name(kind, EXISTING_NAME_PATTERN, f"a name of 1 to {MAX_OLD_NAME_LENGTH} characters, in one line")
    for kind in ("topic", "group")
)
BROKER_NAME = Name("broker name", r"[^;:\s]+", "a name without blanks, colons and semicolons")
ORDER_CONF = Name(
    "order configuration", r"[^:;\s]+:\d{1,9}(;[^:;\s]+:\d{1,9})*", "text such as broker-a:8;broker-b:8"
)

TOPIC_SETTINGS = Record(
    (
        Field("readQueueNums", WholeNumber(0, 65536), "number of read queues", 8),
        Field("writeQueueNums", WholeNumber(0, 65536), "number of write queues", 8),
        Field("perm", WholeNumber(0, 7), "4 read, 2 write, 1 inherit, or a sum of them", 6),
        Field("order", Flag(), "whether messages are ordered; true if the topic has an orderConf", False),
        Field(
            "topicFilterType", Choice(("SINGLE_TAG", "MULTI_TAG")), "number of tags per message", "SINGLE_TAG"
        ),
        Field("topicSysFlag", WholeNumber(0, _MAX_INT), "1 for a unit, 2 for units that subscribe", 0),
        Field(
            "attributes",
            MapOf(Name("attribute", r"[^+,=\s-][^,=\s]*", "a name without a sign"), Text()),
            "attributes by name, such as message.type: FIFO; brokers since 5.0 have them",
            {},
        ),
    )
)

EXPONENTIAL_POLICY = Record(
    (
        Field("initial", WholeNumber(0, _MAX_LONG), "ms before the first retry", 5000),
        Field("max", WholeNumber(0, _MAX_LONG), "most ms before a retry", 7_200_000),
        Field("multiplier", WholeNumber(0, _MAX_LONG), "factor from one wait to the next", 2),
    )
)
_RETRY_POLICY = Record(
    (
        Field("type", Choice(("CUSTOMIZED", "EXPONENTIAL")), "the policy in use", "CUSTOMIZED"),
        Field(
            "customizedRetryPolicy",
            Record(
                (Field("next", ListOf(WholeNumber(0, _MAX_LONG)), "ms before each retry", is_required=True),)
            ),
            "a list of waits",
        ),
        Field("exponentialRetryPolicy", EXPONENTIAL_POLICY, "waits that grow by a factor"),
    )
)
SUBSCRIPTION_FIELDS = Record(
    (
        Field("topic", TOPIC_NAME, "the topic", is_required=True),
        Field("expressionType", Text(), "syntax: TAG or SQL92", "TAG"),
        Field("expression", Text(), "filter for messages", "*"),
        Field("version", WholeNumber(0, _MAX_LONG), "version of the subscription", 0),
    )
)

GROUP_SETTINGS = Record(
    (
        Field("consumeEnable", Flag(), "whether the group may consume", True),
        Field("consumeFromMinEnable", Flag(), "whether a new queue is read from its oldest message", False),
        Field("consumeBroadcastEnable", Flag(), "whether every client may receive all messages", False),
        Field("consumeMessageOrderly", Flag(), "whether messages are consumed in order; since 5.0", False),
        Field("retryQueueNums", WholeNumber(0, 65536), "number of queues of its retry topic", 1),
        Field(
            "retryMaxTimes",
            WholeNumber(-1, _MAX_INT),
            "retries before a dead letter; clients that send their own limit ignore it",
            16,
        ),
        Field("groupRetryPolicy", _RETRY_POLICY, "waits before retries; since 5.0", {"type": "CUSTOMIZED"}),
        Field(
            "consumeTimeoutMinute", WholeNumber(0, _MAX_INT), "minutes to consume a message; since 5.0", 15
        ),
        Field("brokerId", WholeNumber(0, _MAX_LONG), "id of the broker to consume from; 0 is the master", 0),
        Field(
            "whichBrokerWhenConsumeSlowly",
            WholeNumber(0, _MAX_LONG),
            "id of the broker to consume from when the group is far behind",
            1,
        ),
        Field("notifyConsumerIdsChangedEnable", Flag(), "whether clients learn of each other at once", True),
        Field("groupSysFlag", WholeNumber(0, _MAX_INT), "flags of the group; since 5.0", 0),
        Field("subscriptionDataSet", ListOf(SUBSCRIPTION_FIELDS), "required subscriptions; since 5.0"),
        Field(
            "attributes",
            MapOf(Name("attribute", r"[^+,=\s-][^,=\s]*", "a name without a sign"), Text()),
            "attributes by name; brokers since 5.0 have them",
            {},
        ),
    )
)


def _with_broker_fields(settings_shape: Record) -> Record:
    """The settings with the fields that select brokers."""
    broker_list = ListOf(BROKER_NAME)
    return Record(
        (
            *settings_shape.fields,
            Field("onlyOn", broker_list, "brokers that have it; default: every broker of the cluster"),
            Field("notOn", broker_list, "brokers that do not have it"),
            Field("perBroker", MapOf(BROKER_NAME, settings_shape), "settings that differ on one broker"),
        )
    )


CLUSTER_FIELDS = Record(
    (
        Field("version", WholeNumber(FILE_FORMAT, FILE_FORMAT), "version of this format", FILE_FORMAT),
        Field("cluster", Text(), "name of the cluster", is_required=True),
        Field(
            "topics",
            MapOf(TOPIC_NAME, _with_broker_fields(TOPIC_SETTINGS)),
            "topics by name; {} stands for all defaults",
        ),
        Field("groups", MapOf(GROUP_NAME, _with_broker_fields(GROUP_SETTINGS)), "consumer groups by name"),
        Field(
            "orderConf",
            MapOf(TOPIC_NAME, ORDER_CONF),
            "order configurations by topic, such as broker-a:8;broker-b:8, on every name server",
        ),
        Field(
            "kv",
            MapOf(Text(), MapOf(Text(), Text())),
            "KV config by namespace and key, on every name server; other namespaces are ignored",
        ),
    )
)


def build_schema() -> JsonSchema:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Desired state of a RocketMQ cluster",
        "description": "Topics, consumer groups, order configurations and KV config. `nsadmin export` "
        "writes this format, `nsadmin plan FILE` and `nsadmin apply FILE` read it.",
        **CLUSTER_FIELDS.schema(),
    }


def format_schema() -> str:
    return json.dumps(build_schema(), indent=2) + "\n"
