"""Owns statsAll, which shows the message rates of topics and consumer groups."""

from collections.abc import Sequence
from typing import Annotated

from nsadmin.client.results import error_text
from nsadmin.client.traffic import Traffic
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = (
    "topic", "consumerGroup", "accumulation", "inTps", "outTps", "inMsg24Hour", "outMsg24Hour", "error"
)  # fmt: skip


@shows(COLUMNS)
def stats_all(
    session: Session,
    topic: Annotated[str | None, Word(("-t", "--topic"), "TOPIC", "Only this topic.", required=False)],
    active: Annotated[
        bool, Option("-a", "--activeTopic", help="Only what had a message in the last 24 hours.")
    ] = False,
) -> Rows:
    """Show for each topic and each of its consumer groups what comes in and goes out.

    Retry and dead-letter topics are left out unless named. Rates are those of the last minute, accumulation
    is what the group has not read yet; all are sums over the masters of the topic. Brokers count 24 hours
    by samples: until the first has come, an hour after the start, it is the last hour, and before that the
    last minute. Where a master did not answer, its part is missing from the sums and `error` says so.

    Examples:
        # All topics that had a message in the last 24 hours
        nsadmin statsAll -a
        # What comes in and goes out of one topic, by consumer group
        nsadmin statsAll payments
    """
    topics = session.admin.topics
    names = (topic,) if topic is not None else tuple(filter(_is_own, topics.names()))
    if topic is not None:
        topics.route(topic)
    found = [row for row in topics.traffic(names) if not active or _is_active(row)]
    # None stands for the name server, which answered: not everything failed, even if all brokers did.
    return Rows(COLUMNS, [_row(row) for row in found], [None, *(row.error for row in found)], _notes(found))


def _is_own(topic: str) -> bool:
    return not topic.startswith(("%RETRY%", "%DLQ%"))


def _is_active(row: Traffic) -> bool:
    counts = (row.in_count, row.out_count)
    return row.error is not None or any(count is not None and count.messages > 0 for count in counts)


def _row(row: Traffic) -> Row:
    return {
        "topic": row.topic,
        "consumerGroup": row.consumer_group,
        "accumulation": row.accumulation,
        "inTps": row.in_count and row.in_count.tps,
        "outTps": row.out_count and row.out_count.tps,
        "inMsg24Hour": row.in_count and row.in_count.messages,
        "outMsg24Hour": row.out_count and row.out_count.messages,
        "error": row.error and error_text(row.error),
    }


def _notes(rows: Sequence[Traffic]) -> list[str]:
    """A line for each different error: one dead broker can affect thousands of topics."""
    spoiled: dict[str, list[str]] = {}
    for row in rows:
        if row.error is not None:
            spoiled.setdefault(str(row.error).split("\n", 1)[0], []).append(row.topic)
    return [f"{text} (rows it is missing from: {len(topics)})" for text, topics in spoiled.items()]
