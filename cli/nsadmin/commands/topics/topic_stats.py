"""Owns topicStatus, which shows the offsets of a topic's queues on each broker."""

from collections.abc import Sequence
from typing import Annotated

from typer import Argument, Option

from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client.brokers.clusters import BrokerAddrGroup, describe_shared_addr, find_shared_addrs
from nsadmin.client.results import error_text
from nsadmin.client.topics.topic_stats import BrokerTopicStats
from nsadmin.command_line.declarations import Flags, command
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session

TOPIC_STATUS_COLUMNS = (
    "topic",
    "brokerName",
    "brokerAddr",
    "queueId",
    "minOffset",
    "maxOffset",
    "lastUpdated",
    "topicPutTps",
    "error",
)
TOPIC_STATUS_TABLE_COLUMNS = (
    "brokerName", "queueId", "minOffset", "maxOffset", "lastUpdated", "topicPutTps", "error"
)  # fmt: skip


@command(columns=TOPIC_STATUS_COLUMNS)
def topic_status(
    session: Session,
    topic: Annotated[str, Argument(metavar="TOPIC", help="Name of a topic."), Flags("-t", "--topic")],
    cluster_name: Annotated[
        str | None,
        Option(
            "-c",
            "--cluster",
            metavar="CLUSTER",
            help="If the topic has no route: ask the brokers of this cluster or topic.",
        ),
    ] = None,
) -> ResultRows:
    """Show the queues of a topic on each of its brokers: offsets, and the time of the last write.

    maxOffset is the offset of the next message. lastUpdated is the time in UTC when the newest message
    arrived. It is empty for a queue without messages. topicPutTps is the send rate of the whole topic on the
    broker; brokers before 5.3.3 do not report it. For a static topic, each row is a logical queue, with the
    broker that receives its messages now.

    Examples:
        # The queues of a topic
        nsadmin topicStatus payments
        # The queues on one broker
        nsadmin topicStatus payments --filter brokerName=broker-a-0
    """
    broker_stats = session.admin.topics.get_stats(topic, cluster_name)
    queue_rows = [
        queue_row for stats_of_broker in broker_stats for queue_row in _queue_rows(topic, stats_of_broker)
    ]
    return ResultRows(
        TOPIC_STATUS_COLUMNS,
        queue_rows,
        [stats_of_broker.error for stats_of_broker in broker_stats],
        [*_failure_notes(broker_stats), *_shared_notes(broker_stats)],
        TOPIC_STATUS_TABLE_COLUMNS,
    )


def _failure_notes(broker_stats: Sequence[BrokerTopicStats]) -> list[str]:
    """A line for each different error, with the brokers that returned it."""
    brokers_by_error: dict[str, list[str]] = {}
    for stats_of_broker in broker_stats:
        if stats_of_broker.error is not None:
            brokers_by_error.setdefault(error_text(stats_of_broker.error), []).append(
                stats_of_broker.broker_name
            )
    return [
        f"broker {', '.join(broker_names)}: {error_line}"
        for error_line, broker_names in brokers_by_error.items()
    ]


def _shared_notes(broker_stats: Sequence[BrokerTopicStats]) -> list[str]:
    shared_addrs = find_shared_addrs(
        BrokerAddrGroup("", stats.broker_name, {MASTER_BROKER_ID: stats.broker_addr})
        for stats in broker_stats
        if stats.broker_addr is not None
    )
    return [
        f"{describe_shared_addr(addr, names)}: its queues are shown once for each name"
        for addr, names in shared_addrs.items()
    ]


def _queue_rows(topic: str, stats_of_broker: BrokerTopicStats) -> list[ResultRow]:
    broker_cells = {
        "topic": topic,
        "brokerName": stats_of_broker.broker_name,
        "brokerAddr": stats_of_broker.broker_addr,
    }
    if stats_of_broker.stats is None:
        return [{**broker_cells, "error": stats_of_broker.error and error_text(stats_of_broker.error)}]
    return [
        {
            **broker_cells,
            "queueId": queue_stats.queue_id,
            "minOffset": queue_stats.min_offset,
            "maxOffset": queue_stats.max_offset,
            "lastUpdated": format_utc(queue_stats.last_update_timestamp),
            "topicPutTps": stats_of_broker.stats.put_tps,
        }
        for queue_stats in stats_of_broker.stats.queues
    ]
