"""Owns statsAll, which shows the message rates of topics and consumer groups."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

from typer import Argument, Option

from namesrv_core.protocol.resource_names import GROUP_TOPIC_PREFIXES
from nsadmin.client.advised_command import quote_command
from nsadmin.client.results import NotFound
from nsadmin.client.topics.topic_traffic import TopicTraffic
from nsadmin.command_line.broker_targets import (
    ClusterMastersOption,
    ReadMasterOption,
    describe_targets,
    distinct_addrs,
    list_masters,
)
from nsadmin.command_line.declarations import Each, Flags, command
from nsadmin.commands.columns.consumers import CONSUMER_GROUP
from nsadmin.commands.columns.servers import ERROR
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.commands.topics.topics import IncludeSystem
from nsadmin.console.output import Column, Columns, ResultRows, replace_columns
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session

LAG: Column[TopicTraffic] = Column("lag", "messages that the group has not read yet", lambda t: t.lag)
TRAFFIC_COLUMNS: Columns[TopicTraffic] = (
    TOPIC,
    CONSUMER_GROUP.of(lambda t: t.group),
    LAG,
    Column(
        "inTps", "messages that arrive per second", lambda t: t.in_count and t.in_count.messages_per_second
    ),
    Column(
        "outTps",
        "messages that are delivered per second",
        lambda t: t.out_count and t.out_count.messages_per_second,
    ),
    Column(
        "inMsg24Hour", "messages that arrived in 24 hours", lambda t: t.in_count and t.in_count.message_count
    ),
    Column(
        "outMsg24Hour",
        "messages that were delivered in 24 hours",
        lambda t: t.out_count and t.out_count.message_count,
    ),
    Column(
        "lagReason",
        "why lag is unknown, or lacks some queues; null if it is complete",
        lambda t: t.lag_reason,
    ),
    ERROR,
)
IN_BYTES: Column[TopicTraffic] = Column(
    "inBytes24Hour", "with --bytes: bytes of the messages that arrived in 24 hours", lambda t: t.in_bytes
)
MQADMIN_TRAFFIC_COLUMNS = replace_columns(TRAFFIC_COLUMNS, LAG.of(lambda t: t.offset_distance))


@command(columns=(*TRAFFIC_COLUMNS, IN_BYTES), nothing="no topic is registered with {servers}")
def stats_all(
    session: Session,
    topic: Annotated[
        str | None,
        Argument(metavar="TOPIC", help="Only this topic."),
        Flags("-t", "--topic"),
        Each("topic"),
    ],
    only_active: Annotated[
        bool, Option("-a", "--activeTopic", help="Only topics with a message in the last 24 hours.")
    ] = False,
    include_system: IncludeSystem = True,
    with_bytes: Annotated[
        bool, Option("--bytes", help="Also show the bytes of the messages that arrived in 24 hours.")
    ] = False,
    broker_text: ReadMasterOption = None,
    cluster_name: ClusterMastersOption = None,
) -> ResultRows:
    """Show the incoming and outgoing messages of each topic and its consumer groups.

    nsadmin shows retry and dead-letter topics only by name. Rates cover the last minute. lag counts the
    messages that the group has not read. lagReason says why it is unknown, or lacks some queues. All figures
    are sums over the masters of the topic; with -b or -c, over these masters only. Brokers count 24 hours by
    hourly samples. So during the first hour after a broker's start, the counts cover the last minute. If a
    master does not answer, the sums lack its part, and `error` reports it. --limit counts topics, and shows
    all groups of each.

    `nsadmin topicStatus '*' --from yesterday --until today --sum` counts the messages of each topic of a day.

    Brokers do not report the disk space of a topic, because one commit log has the messages of all topics.
    The share of a topic in inBytes24Hour is about its share of the disk.

    Examples:
        # What floods the cluster now, which topics grow fastest: the five with most messages per second
        nsadmin statsAll --no-system --sort -inTps --limit 5
        # The five busiest topics of the last 24 hours, a day
        nsadmin statsAll --no-system --sort -inMsg24Hour --limit 5
        # Largest topics, which take the most disk space (storage, cost): the bytes of the last 24 hours
        nsadmin statsAll --no-system --bytes --sort -inBytes24Hour --limit 5
        # Which topics fill the disk of one broker: the bytes that it got in 24 hours
        nsadmin statsAll -b broker-a-1 --bytes --sort -inBytes24Hour --limit 5
        # Topics that nobody writes to: without a message in the last 24 hours
        nsadmin statsAll --no-system --filter inMsg24Hour=0
        # Messages of one topic in the last 24 hours, produced, and consumed by each group
        nsadmin statsAll payments
    """
    topics = session.admin.topics
    if topic is None:
        names = topics.list_names() if include_system else topics.list_user_names()
        names = tuple(name for name in names if not name.startswith(GROUP_TOPIC_PREFIXES))
    else:
        names = (topic,)
        topics.get_route(topic)
    master_addrs = None
    if broker_text is not None or cluster_name is not None:
        targets = list_masters(session, broker_text, cluster_name)
        master_addrs = distinct_addrs(targets)
    all_traffic = topics.get_traffic(names, master_addrs=master_addrs)
    if master_addrs is not None and not all_traffic:
        raise NotFound(f"no topic has queues on the master {describe_targets(targets)}")
    traffic = [t for t in all_traffic if not only_active or _has_traffic(t)]
    columns = TRAFFIC_COLUMNS if session.output_form is None else MQADMIN_TRAFFIC_COLUMNS
    if with_bytes:
        in_bytes = topics.get_put_bytes({t.topic for t in traffic}, master_addrs=master_addrs)
        traffic = [t._replace(in_bytes=in_bytes.get(t.topic)) for t in traffic]
        columns = (*columns[:-2], IN_BYTES, *columns[-2:])
    # One dead broker can affect thousands of topics: a line for each different error.
    counts = Counter(str(t.error).split("\n", 1)[0] for t in traffic if t.error is not None)
    notes = [f"{error} (missing in {count_noun(count, 'row')})" for error, count in counts.items()]
    # None stands for the name server, which answered: not everything failed, even if all brokers did.
    rows = ResultRows.from_records(columns, traffic, [None, *(t.error for t in traffic)], notes)
    return rows._replace(limited_column=TOPIC.key, table_notes=_sum_messages(traffic))


def _sum_messages(traffic: Sequence[TopicTraffic]) -> list[str]:
    """The messages of all topics, under a table of several: each row of a topic repeats what arrived."""
    arrived = {t.topic: t.in_count.message_count for t in traffic if t.in_count is not None}
    if len(arrived) < 2:
        return []
    delivered = sum(t.out_count.message_count for t in traffic if t.out_count is not None)
    total = sum(arrived.values())
    at_least = "at least " if any(t.error is not None for t in traffic) else ""
    day = quote_command("topicStatus", "*", "--from", "yesterday", "--until", "today", "--sum")
    return [
        f"total of {len(arrived)} topics in 24 hours: {at_least}{total} messages arrived, "
        f"{at_least}{delivered} were delivered; of a calendar day: {day}"
    ]


def _has_traffic(traffic: TopicTraffic) -> bool:
    counts = (traffic.in_count, traffic.out_count)
    return traffic.error is not None or any(c is not None and c.message_count > 0 for c in counts)
