"""Owns topicStatus, which shows the offsets of a topic's queues on each broker."""

from collections.abc import Sequence
from operator import itemgetter
from typing import Annotated

from typer import Argument, Option

from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client.brokers.clusters import BrokerAddrGroup, describe_shared_addr, find_shared_addrs
from nsadmin.client.results import error_text
from nsadmin.client.topics.topic_stats import BrokerTopicStats, QueueStats
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.brokers import BROKER_ADDR, BROKER_NAME
from nsadmin.commands.columns.servers import ERROR
from nsadmin.commands.columns.topics import MAX_OFFSET, MIN_OFFSET, QUEUE_ID, TOPIC
from nsadmin.console.output import Column, Columns, ResultRows, of_part
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session

TOPIC_STATUS_COLUMNS: Columns[tuple[BrokerTopicStats, QueueStats | None]] = (
    TOPIC.in_wide(),
    BROKER_NAME.of(lambda r: r[0].broker_name),
    BROKER_ADDR.in_wide().of(lambda r: r[0].broker_addr),
    *of_part(
        itemgetter(1),
        (
            QUEUE_ID,
            MIN_OFFSET,
            MAX_OFFSET,
            Column(
                "lastUpdated",
                "when the newest message of the queue arrived (UTC)",
                lambda q: format_utc(q.last_update_timestamp),
            ),
        ),
    ),
    Column(
        "topicPutTps",
        "messages per second that the broker receives for the whole topic; since 5.3.3",
        lambda r: r[0].stats and r[0].stats.put_tps,
    ),
    *of_part(itemgetter(0), (ERROR,)),
)


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
    brokers = session.admin.topics.get_stats(topic, cluster_name)
    queues = [(b, q) for b in brokers for q in (b.stats.queues if b.stats else (None,))]
    notes = [*_failure_notes(brokers), *_shared_notes(brokers)]
    return ResultRows.from_records(
        TOPIC_STATUS_COLUMNS, queues, [b.error for b in brokers], notes, common={TOPIC: topic}
    )


def _failure_notes(brokers: Sequence[BrokerTopicStats]) -> list[str]:
    """A line for each different error, with the brokers that returned it."""
    names_by_error: dict[str, list[str]] = {}
    for broker in brokers:
        if broker.error is not None:
            names_by_error.setdefault(error_text(broker.error), []).append(broker.broker_name)
    return [f"broker {', '.join(names)}: {error}" for error, names in names_by_error.items()]


def _shared_notes(brokers: Sequence[BrokerTopicStats]) -> list[str]:
    shared_addrs = find_shared_addrs(
        BrokerAddrGroup("", b.broker_name, {MASTER_BROKER_ID: b.broker_addr})
        for b in brokers
        if b.broker_addr is not None
    )
    return [
        f"{describe_shared_addr(addr, names)}: its queues are shown once for each name"
        for addr, names in shared_addrs.items()
    ]
