"""The fields of a rebalance plan's file: every key with its shape and meaning."""

from namesrv_core.file_shapes import (
    Choice,
    Decimal,
    Field,
    Flag,
    ListOf,
    MapOf,
    Record,
    Text,
    WholeNumber,
)
from nsadmin.operations.plans.fields import BROKER_NAME, GROUP_NAME, ORDER_CONF, TOPIC_NAME

PLAN_FORMAT = 1
REBALANCE_GOALS = ("load", "queues", "disk")
_MAX_LONG = 2**63 - 1

_QUEUE_COUNT = WholeNumber(0, 65536)
_QUEUE_COUNTS = Record(
    (
        Field("read", _QUEUE_COUNT, "number of read queues", is_required=True),
        Field("write", _QUEUE_COUNT, "number of write queues", is_required=True),
    )
)
_PERCENT = Decimal(0, 100)
_SHARES = Record(
    (
        Field("writes", _PERCENT, "percent of the messages that producers send", is_required=True),
        Field("reads", _PERCENT, "percent of the messages that consumers receive", is_required=True),
        Field("disk", _PERCENT, "percent of the bytes that producers send", is_required=True),
        Field("queues", _PERCENT, "percent of the write queues", is_required=True),
    )
)
_TOPIC_MOVE = Record(
    (
        Field("ordered", Flag(), "whether the order of its messages matters", False),
        Field("perm", WholeNumber(0, 7), "permission on new brokers: 4 read, 2 write, or a sum", 6),
        Field("orderConf", ORDER_CONF, "its order configuration after the move, if it has one"),
        Field(
            "messagesToConsume",
            WholeNumber(0, _MAX_LONG),
            "messages in queues that the move removes, when the plan was made",
            0,
        ),
        Field(
            "before",
            MapOf(BROKER_NAME, _QUEUE_COUNTS),
            "queues by broker when the plan was made",
            is_required=True,
        ),
        Field(
            "after",
            MapOf(BROKER_NAME, _QUEUE_COUNTS),
            "queues by broker after the move; the topic is deleted from brokers that are not listed",
            is_required=True,
        ),
    )
)

PLAN_FIELDS = Record(
    (
        Field(
            "rebalancePlan",
            WholeNumber(PLAN_FORMAT, PLAN_FORMAT),
            "version of this format",
            is_required=True,
        ),
        Field("cluster", Text(), "name of the cluster", is_required=True),
        Field("created", Text(), "time (UTC) at which the plan was made", ""),
        Field("goal", Choice(REBALANCE_GOALS), "the figure to level", "load"),
        Field("source", Text(), "where the measured load comes from", ""),
        Field("add", ListOf(BROKER_NAME), "brokers that are brought into use", ()),
        Field("remove", ListOf(BROKER_NAME), "brokers that lose all their queues", ()),
        Field("topics", MapOf(TOPIC_NAME, _TOPIC_MOVE), "moves by topic", is_required=True),
        Field(
            "groupsToCreate",
            MapOf(BROKER_NAME, ListOf(GROUP_NAME)),
            "consumer groups that a broker lacks, by broker",
            {},
        ),
        Field(
            "shares",
            MapOf(
                BROKER_NAME,
                Record(
                    (
                        Field("before", _SHARES, "shares when the plan was made", is_required=True),
                        Field("after", _SHARES, "shares after the plan", is_required=True),
                    )
                ),
            ),
            "shares of each broker, in percent of the cluster",
            {},
        ),
        Field("risks", ListOf(Text()), "risks to check before the plan is run", ()),
    )
)
