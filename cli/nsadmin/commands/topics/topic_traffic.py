"""Owns statsAll, which shows the message rates of topics and consumer groups."""

from collections.abc import Sequence
from typing import Annotated

from typer import Argument, Option

from nsadmin.client.results import error_text
from nsadmin.client.topics.topic_traffic import TopicTraffic
from nsadmin.command_line.declarations import Flags, command
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.session import Session

TRAFFIC_COLUMNS = (
    "topic", "consumerGroup", "accumulation", "inTps", "outTps", "inMsg24Hour", "outMsg24Hour",
    "accumulationReason", "error",
)  # fmt: skip


@command(columns=TRAFFIC_COLUMNS)
def stats_all(
    session: Session,
    topic: Annotated[str | None, Argument(metavar="TOPIC", help="Only this topic."), Flags("-t", "--topic")],
    only_active: Annotated[
        bool, Option("-a", "--activeTopic", help="Only topics with a message in the last 24 hours.")
    ] = False,
) -> ResultRows:
    """Show the incoming and outgoing messages of each topic and its consumer groups.

    nsadmin shows retry and dead-letter topics only by name. Rates cover the last minute. accumulation counts
    the messages that the group has not read. accumulationReason says why it is unknown, or lacks some queues.
    All figures are sums over the masters of the topic. Brokers count 24 hours by hourly samples. So during
    the first hour after a broker's start, the counts cover the last minute. If a master does not answer, the
    sums lack its part, and `error` reports it.

    Examples:
        # Topics with a message in the last 24 hours
        nsadmin statsAll -a
        # The traffic of one topic, by consumer group
        nsadmin statsAll payments
    """
    topic_admin = session.admin.topics
    topic_names = (topic,) if topic is not None else tuple(filter(_is_user_topic, topic_admin.list_names()))
    if topic is not None:
        topic_admin.get_route(topic)
    traffic_records = [
        traffic_record
        for traffic_record in topic_admin.get_traffic(topic_names)
        if not only_active or _has_traffic(traffic_record)
    ]
    # None stands for the name server, which answered: not everything failed, even if all brokers did.
    return ResultRows(
        TRAFFIC_COLUMNS,
        [_traffic_row(record, is_for_mqadmin=session.output_form is not None) for record in traffic_records],
        [None, *(traffic_record.error for traffic_record in traffic_records)],
        _failure_notes(traffic_records),
    )


def _is_user_topic(topic: str) -> bool:
    return not topic.startswith(("%RETRY%", "%DLQ%"))


def _has_traffic(traffic_record: TopicTraffic) -> bool:
    message_counts = (traffic_record.in_count, traffic_record.out_count)
    return traffic_record.error is not None or any(
        message_count is not None and message_count.message_count > 0 for message_count in message_counts
    )


def _traffic_row(traffic_record: TopicTraffic, *, is_for_mqadmin: bool) -> ResultRow:
    accumulation = traffic_record.offset_distance if is_for_mqadmin else traffic_record.accumulation
    return {
        "topic": traffic_record.topic,
        "consumerGroup": traffic_record.consumer_group,
        "accumulation": accumulation,
        "inTps": traffic_record.in_count and traffic_record.in_count.messages_per_second,
        "outTps": traffic_record.out_count and traffic_record.out_count.messages_per_second,
        "inMsg24Hour": traffic_record.in_count and traffic_record.in_count.message_count,
        "outMsg24Hour": traffic_record.out_count and traffic_record.out_count.message_count,
        "accumulationReason": traffic_record.accumulation_reason,
        "error": traffic_record.error and error_text(traffic_record.error),
    }


def _failure_notes(traffic_records: Sequence[TopicTraffic]) -> list[str]:
    """A line for each different error: one dead broker can affect thousands of topics."""
    topics_by_error: dict[str, list[str]] = {}
    for traffic_record in traffic_records:
        if traffic_record.error is not None:
            topics_by_error.setdefault(str(traffic_record.error).split("\n", 1)[0], []).append(
                traffic_record.topic
            )
    return [
        f"{error_line} (missing in {len(spoiled_topics)} rows)"
        for error_line, spoiled_topics in topics_by_error.items()
    ]
