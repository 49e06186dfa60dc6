"""The fields of a rebalance plan's file: every key with its shape and meaning."""

from nsadmin.operations.plans.fields import BROKER_NAME, GROUP_NAME, ORDER_CONF, TOPIC_NAME
from nsadmin.operations.plans.shapes import (
    ChoiceShape,
    DecimalShape,
    FlagShape,
    ListShape,
    MapShape,
    RecordField,
    RecordShape,
    TextShape,
    WholeNumberShape,
)

PLAN_FORMAT = 1
REBALANCE_GOALS = ("load", "queues", "disk")
_MAX_LONG = 2**63 - 1

_QUEUE_COUNT = WholeNumberShape(0, 65536)
_QUEUE_COUNTS = RecordShape(
    (
        RecordField("read", _QUEUE_COUNT, "number of read queues", is_required=True),
        RecordField("write", _QUEUE_COUNT, "number of write queues", is_required=True),
    )
)
_PERCENT = DecimalShape(0, 100)
_SHARES = RecordShape(
    (
        RecordField("writes", _PERCENT, "percent of the messages that producers send", is_required=True),
        RecordField("reads", _PERCENT, "percent of the messages that consumers receive", is_required=True),
        RecordField("disk", _PERCENT, "percent of the bytes that producers send", is_required=True),
        RecordField("queues", _PERCENT, "percent of the write queues", is_required=True),
    )
)
_TOPIC_MOVE = RecordShape(
    (
        RecordField("ordered", FlagShape(), "whether the order of its messages matters", False),
        RecordField(
            "perm", WholeNumberShape(0, 7), "permission on new brokers: 4 read, 2 write, or a sum", 6
        ),
        RecordField("orderConf", ORDER_CONF, "its order configuration after the move, if it has one"),
        RecordField(
            "messagesToConsume",
            WholeNumberShape(0, _MAX_LONG),
            "messages in queues that the move removes, when the plan was made",
            0,
        ),
        RecordField(
            "before",
            MapShape(BROKER_NAME, _QUEUE_COUNTS),
            "queues by broker when the plan was made",
            is_required=True,
        ),
        RecordField(
            "after",
            MapShape(BROKER_NAME, _QUEUE_COUNTS),
            "queues by broker after the move; the topic is deleted from brokers that are not listed",
            is_required=True,
        ),
    )
)

PLAN_FIELDS = RecordShape(
    (
        RecordField(
            "rebalancePlan",
            WholeNumberShape(PLAN_FORMAT, PLAN_FORMAT),
            "version of this format",
            is_required=True,
        ),
        RecordField("cluster", TextShape(), "name of the cluster", is_required=True),
        RecordField("created", TextShape(), "time (UTC) at which the plan was made", ""),
        RecordField("goal", ChoiceShape(REBALANCE_GOALS), "the figure to level", "load"),
        RecordField("source", TextShape(), "where the measured load comes from", ""),
        RecordField("add", ListShape(BROKER_NAME), "brokers that are brought into use", ()),
        RecordField("remove", ListShape(BROKER_NAME), "brokers that lose all their queues", ()),
        RecordField("topics", MapShape(TOPIC_NAME, _TOPIC_MOVE), "moves by topic", is_required=True),
        RecordField(
            "groupsToCreate",
            MapShape(BROKER_NAME, ListShape(GROUP_NAME)),
            "consumer groups that a broker lacks, by broker",
            {},
        ),
        RecordField(
            "shares",
            MapShape(
                BROKER_NAME,
                RecordShape(
                    (
                        RecordField("before", _SHARES, "shares when the plan was made", is_required=True),
                        RecordField("after", _SHARES, "shares after the plan", is_required=True),
                    )
                ),
            ),
            "shares of each broker, in percent of the cluster",
            {},
        ),
        RecordField("risks", ListShape(TextShape()), "risks to check before the plan is run", ()),
    )
)
