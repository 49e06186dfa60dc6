"""Owns topicStatus, which shows the offsets of a topic's queues on each broker."""

from collections.abc import Sequence
from typing import Annotated

from nsadmin.client.results import error_text
from nsadmin.client.topic_stats import BrokerTopicStats
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.times import utc
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = (
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
IN_TABLE = (
    "brokerName", "queueId", "minOffset", "maxOffset", "lastUpdated", "topicPutTps", "error"
)  # fmt: skip


@shows(COLUMNS)
def topic_status(
    session: Session,
    topic: Annotated[str, Word(("-t", "--topic"), "TOPIC", "Name of a topic.")],
    cluster: Annotated[
        str | None,
        Option(
            "-c",
            "--cluster",
            metavar="CLUSTER",
            help="Ask the brokers of this cluster (or topic) about a topic without a route of its own.",
        ),
    ] = None,
) -> Rows:
    """Show the queues of a topic on each of its brokers: offsets, and when it was last written.

    maxOffset is the offset that the next message gets. lastUpdated is when the newest message came, in
    UTC; nothing for a queue that was never written. topicPutTps is that of the whole topic on the broker
    of that row; brokers before 5.3.3 do not tell it. Of a static topic the logical queues are shown, each
    at the broker that takes its messages now.

    Examples:
        # How far the queues of a topic go
        nsadmin topicStatus payments
        # Only what one broker has
        nsadmin topicStatus payments --filter brokerName=broker-a-0
    """
    found = session.admin.topics.stats(topic, cluster)
    rows = [row for broker in found for row in _rows(topic, broker)]
    return Rows(COLUMNS, rows, [broker.error for broker in found], _notes(found), IN_TABLE)


def _notes(found: Sequence[BrokerTopicStats]) -> list[str]:
    """A line for each different error, with the brokers that returned it."""
    silent: dict[str, list[str]] = {}
    for broker in found:
        if broker.error is not None:
            silent.setdefault(error_text(broker.error), []).append(broker.broker_name)
    return [f"broker {', '.join(names)}: {text}" for text, names in silent.items()]


def _rows(topic: str, broker: BrokerTopicStats) -> list[Row]:
    place = {"topic": topic, "brokerName": broker.broker_name, "brokerAddr": broker.broker_addr}
    if broker.stats is None:
        return [{**place, "error": broker.error and error_text(broker.error)}]
    return [
        {
            **place,
            "queueId": queue.queue_id,
            "minOffset": queue.min_offset,
            "maxOffset": queue.max_offset,
            "lastUpdated": utc(queue.last_update_timestamp),
            "topicPutTps": broker.stats.put_tps,
        }
        for queue in broker.stats.queues
    ]
