"""Owns topicStatus, which shows the offsets of a topic's queues on each broker."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Annotated, NamedTuple

from typer import Argument, Option

from namesrv_core.errors import RocketMQError, TopicNotExist
from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client.advised_command import quote_command
from nsadmin.client.brokers.clusters import BrokerAddrGroup, describe_shared_addr, find_shared_addrs
from nsadmin.client.consumers.lag import NEVER_COMMITTED
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.messages.queue_reader import SpanResult
from nsadmin.client.results import NotFound, error_text
from nsadmin.client.topics.topic_stats import BrokerTopicStats, QueueStats, QueueTimes
from nsadmin.command_line import time_arguments
from nsadmin.command_line.declarations import Each, Flags, command
from nsadmin.commands.columns.brokers import BROKER_ADDR, BROKER_NAME
from nsadmin.commands.columns.consumers import GROUP
from nsadmin.commands.columns.servers import ERROR, failure_notes
from nsadmin.commands.columns.topics import MAX_OFFSET, MIN_OFFSET, QUEUE_ID, TOPIC
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRow, ResultRows, of_part
from nsadmin.console.output.quantities import to_millis
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.phrases import count_noun
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

_MS_PER_HOUR = 3_600_000
_DEFAULT_RESERVED_HOURS = "72"


class GroupTimes(NamedTuple):
    """The times of a queue for a group (None without groups), or the error of its broker."""

    broker: BrokerTopicStats
    group: str | None
    times: QueueTimes | None = None
    expires_in_ms: int | None = None
    error: str | None = None


TIMES_COLUMNS: Columns[GroupTimes] = (
    TOPIC.in_wide(),
    *of_part(lambda t: t.broker, (BROKER_NAME, BROKER_ADDR.in_wide())),
    *of_part(
        lambda t: t.times,
        (
            QUEUE_ID,
            Column("oldest", "when the oldest message was stored (UTC)", lambda q: format_utc(q.oldest_ms)),
            Column("newest", "when the newest message was stored (UTC)", lambda q: format_utc(q.newest_ms)),
        ),
    ),
    GROUP,
    Column(
        "lastConsumed",
        "when the last consumed message was stored (UTC); the oldest one if the group is at offset 0",
        lambda t: format_utc(t.times.consumed_ms) if t.times and t.group else None,
    ),
    Column(
        "unreadAgeMs",
        "age of the oldest unread message, in ms; null if all are read, or without a consumer offset",
        lambda t: to_millis(t.times.unread_age_ms) if t.times and t.group else None,
    ),
    Column(
        "expiresInMs",
        "ms until the broker may delete the oldest unread message (fileReservedTime); below 0: now",
        lambda t: to_millis(t.expires_in_ms),
    ),
    ERROR.of(lambda t: t.error),
)

MESSAGE_COUNT: Column[SpanResult] = Column(
    "messageCount",
    "messages of the queue, or of the topic with --sum, between --from and --until that still exist",
    lambda s: s.queue_span and s.queue_span.offset_count,
)
COUNT_COLUMNS: Columns[SpanResult] = (
    TOPIC.in_wide(),
    BROKER_NAME.of(lambda s: s.broker_name),
    QUEUE_ID.of(lambda s: s.queue_id),
    Column(
        "beginOffset",
        "offset of the first message since --from",
        lambda s: s.queue_span and s.queue_span.begin_offset,
    ),
    Column(
        "endOffset",
        "offset after the last message before --until",
        lambda s: s.queue_span and s.queue_span.end_offset,
    ),
    MESSAGE_COUNT,
    ERROR.of(lambda s: s.error and error_text(s.error)),
)

SUM_COLUMNS: Columns[list[SpanResult]] = (
    TOPIC,
    MESSAGE_COUNT.of(lambda spans: _count_messages(spans)),
    ERROR.of(lambda spans: _describe_silent(spans)),
)


@command(columns=(*TOPIC_STATUS_COLUMNS, *TIMES_COLUMNS, *COUNT_COLUMNS))
def topic_status(
    session: Session,
    topic: Annotated[
        str, Argument(metavar="TOPIC", help="Name of a topic."), Flags("-t", "--topic"), Each("topic")
    ],
    cluster_name: Annotated[
        str | None,
        Option(
            "-c",
            "--cluster",
            metavar="CLUSTER",
            help="If the topic has no route: ask the brokers of this cluster or topic.",
        ),
    ] = None,
    with_times: Annotated[
        bool, Option("--times", help="Show the age of the messages, and how far each group has read.")
    ] = False,
    group: Annotated[
        str | None, Option("-g", "--group", metavar="GROUP", help="With --times: only this group.")
    ] = None,
    begin_text: Annotated[
        str | None,
        Option("--from", "--since", metavar="TIME", help=f"Count messages since: {time_arguments.TIME_HELP}"),
    ] = None,
    end_text: Annotated[
        str | None,
        Option("--until", metavar="TIME", help="With --from: count messages before. Default: now."),
    ] = None,
    sum_queues: Annotated[
        bool, Option("--sum", help="With --from: one row for each topic, with the messages of all queues.")
    ] = False,
) -> ResultRows:
    """Show the queues of a topic on each of its brokers: offsets, and the time of the last write.

    maxOffset is the offset of the next message. lastUpdated is the time in UTC when the newest message
    arrived. It is empty for a queue without messages. topicPutTps is the send rate of the whole topic on the
    broker; brokers before 5.3.3 do not report it. For a static topic, each row is a logical queue, with the
    broker that receives its messages now.

    --times shows when the oldest, the newest and the last consumed message of a queue were stored, for each
    group. Lines on stderr have the oldest and the newest message of the topic, and how long the brokers keep
    messages. If messages can expire before the group has read them, another line says so. The queues are
    those of the brokers, also of a static topic.

    --from counts the messages that were stored since a time and still exist, and a line on stderr has their
    sum. beginOffset is the offset of a queue at that time. --until ends the count at endOffset. With --sum,
    each topic has one row, and the line has the sum of all topics.

    Without these options, a line on stderr has the number of messages in all queues, the sum of maxOffset -
    minOffset. Brokers do not report the size of a topic on disk, because all topics share the files. Multiply
    the messages by the bytes of a message.

    Examples:
        # First and last offset of each queue (partition) of a topic, and how many messages it stores in all
        nsadmin topicStatus payments
        # Hot queues: the queues with the most messages first
        nsadmin topicStatus payments --sort -maxOffset
        # The oldest and the newest message in a topic, by queue: how far back can we replay
        nsadmin topicStatus payments --times
        # In one topic: how long the oldest unread message of a group waits, and will messages expire unread?
        nsadmin topicStatus payments --times -g warehouse
        # How many messages a topic received yesterday, or between two times (14:00 is today)
        nsadmin topicStatus payments --from yesterday --until today
        # How many messages each topic received yesterday, the most first; --from today: since midnight
        nsadmin topicStatus '*' --from yesterday --until today --sum --sort -messageCount
    """
    if group is not None and not with_times:
        raise UsageError("-g GROUP needs --times")
    if begin_text is not None:
        if with_times:
            raise UsageError("pass --times or --from TIME, not both")
        window = time_arguments.parse_window(begin_text, end_text or "now")
    elif end_text is not None or sum_queues:
        raise UsageError(f"{'--sum' if sum_queues else '--until TIME'} needs --from TIME")
    try:
        brokers = session.admin.topics.get_stats(topic, cluster_name)
    except TopicNotExist:
        # Brokers register a topic with the name of their cluster, so this name is the unknown one.
        session.admin.clusters.get_info().groups_in_cluster(cluster_name)
        raise
    if begin_text is not None:
        return _count_rows(session, topic, brokers, *window, sum_queues=sum_queues)
    if with_times:
        return _times_rows(session, topic, brokers, group)
    queues = [(b, q) for b in brokers for q in (b.stats.queues if b.stats else (None,))]
    notes = [
        *failure_notes((b.broker_name, b.error) for b in brokers),
        *_shared_notes(brokers),
        *_count_notes(topic, brokers),
    ]
    return ResultRows.from_records(
        TOPIC_STATUS_COLUMNS, queues, [b.error for b in brokers], notes, common={TOPIC: topic}
    )


def _count_rows(
    session: Session,
    topic: str,
    brokers: Sequence[BrokerTopicStats],
    begin_ms: int,
    end_ms: int,
    *,
    sum_queues: bool,
) -> ResultRows:
    names = {broker.broker_name for broker in brokers}
    routes = [r for r in session.admin.messages.list_queue_routes(topic) if r.broker_name in names]
    # A message of the last millisecond counts in the next window only.
    results = session.admin.queue_reader.get_exact_spans(topic, routes, begin_ms=begin_ms, end_ms=end_ms - 1)
    spans = [r.queue_span for r in results if r.queue_span is not None]
    window = f"from {format_utc(begin_ms)} until {format_utc(end_ms)}"
    total, silent = _count_messages(results), _describe_silent(results)
    notes = []
    if total is not None and not sum_queues:
        without = f", {silent}" if silent else ""
        notes = [f"{topic} received {count_noun(total, 'message')} {window}{without}"]
    min_offsets = {
        (broker.broker_name, queue.queue_id): queue.min_offset
        for broker in brokers
        for queue in (broker.stats.queues if broker.stats else ())
    }
    if any(s.begin_offset <= (min_offsets.get((s.broker_name, s.queue_id)) or -1) for s in spans):
        command = quote_command("topicStatus", topic, "--times")
        notes.append(
            f"brokers have deleted messages of {topic}, and some of this time may be among them: to see the "
            f"oldest that exist, run {command}"
        )
    errors = [r.error for r in results]
    if sum_queues:
        rows = ResultRows.from_records(SUM_COLUMNS, [results], errors, notes, common={TOPIC: topic})
        return rows._replace(describe_all=lambda rows: _sum_topics(rows, window))
    return ResultRows.from_records(COUNT_COLUMNS, results, errors, notes, common={TOPIC: topic})


def _sum_topics(rows: Sequence[ResultRow], window: str) -> str:
    counts = [count for row in rows if isinstance(count := row[MESSAGE_COUNT.key], int)]
    if not counts:
        return "the total is unknown: no queue answered"
    at_least = "at least " if any(row[ERROR.key] for row in rows) else ""
    total = count_noun(sum(counts), "message")
    return f"total of {count_noun(len(counts), 'topic')}: {at_least}{total} {window}"


def _count_messages(results: Sequence[SpanResult]) -> int | None:
    """The messages of all queues that answered; None if none did."""
    spans = [r.queue_span for r in results if r.queue_span is not None]
    return sum(s.offset_count for s in spans) if spans else None


def _describe_silent(results: Sequence[SpanResult]) -> str | None:
    silent_count = sum(r.queue_span is None for r in results)
    return f"without {count_noun(silent_count, 'queue')} that did not answer" if silent_count else None


def _times_rows(
    session: Session, topic: str, brokers: Sequence[BrokerTopicStats], group: str | None
) -> ResultRows:
    answering = {b.broker_addr: b for b in brokers if b.broker_addr is not None and b.error is None}
    groups_by_addr = {
        addr: (group,)
        if group is not None
        else (session.admin.topics.list_consumer_groups(addr, [topic]).result or {}).get(topic, ())
        for addr in answering
    }
    # Without a group, the broker is asked for one that it does not know.
    places = [(addr, topic, name) for addr, names in groups_by_addr.items() for name in names or ("-",)]
    results = session.admin.topics.get_times_at(places)
    queues_at = {place: r.result for place, r in zip(places, results, strict=True) if r.result is not None}
    uncommitted = _find_uncommitted(session, queues_at)
    if group is not None and uncommitted and len(uncommitted) == sum(map(len, queues_at.values())):
        session.admin.groups.check_exists(group)
    configs = {r.addr: r.result or {} for r in session.admin.broker_configs.get_each(list(answering))}
    rows = [GroupTimes(b, group, error=error_text(b.error)) for b in brokers if b.error is not None]
    errors: list[RocketMQError | None] = [b.error for b in brokers if b.error is not None]
    notes = failure_notes((b.broker_name, b.error) for b in brokers)
    for (addr, _, name), result in zip(places, results, strict=True):
        reader = name if groups_by_addr[addr] else None
        errors.append(result.error)
        if result.error is not None or result.result is None:
            text = error_text(result.error or NotFound("the broker reported no queues"))
            notes.append(f"broker {answering[addr].broker_name}: {text}")
            rows.append(GroupTimes(answering[addr], reader, error=text))
            continue
        hours = configs[addr].get("fileReservedTime", _DEFAULT_RESERVED_HOURS)
        reserved_ms = int(hours) * _MS_PER_HOUR if hours.isdecimal() else None
        unknown = [
            times.queue_id
            for times in result.result
            if times.oldest_ms is not None and (addr, name, times.queue_id) in uncommitted
        ]
        queues = [
            GroupTimes(answering[addr], reader, times, _expires_in(times, reserved_ms) if reader else None)
            for times in (
                times._replace(consumed_ms=None, unread_age_ms=None) if times.queue_id in unknown else times
                for times in result.result
            )
        ]
        rows += queues
        broker_name = answering[addr].broker_name
        notes += _expiry_notes(broker_name, reader, queues, hours)
        if unknown and reader:
            where = f"{reader} on {broker_name}"
            notes.append(f"{where}: lag unknown on {count_noun(len(unknown), 'queue')} ({NEVER_COMMITTED})")
    notes += _retention_notes({answering[addr].broker_name: config for addr, config in configs.items()})
    result_rows = ResultRows.from_records(TIMES_COLUMNS, rows, errors, notes, common={TOPIC: topic})
    ages = _age_notes(topic, [row.times for row in rows if row.times is not None])
    return result_rows._replace(table_notes=ages)


def _age_notes(topic: str, queues: Sequence[QueueTimes]) -> list[str]:
    oldest = min((q.oldest_ms for q in queues if q.oldest_ms is not None), default=None)
    newest = max((q.newest_ms for q in queues if q.newest_ms is not None), default=None)
    if oldest is None or newest is None:
        return []
    return [f"the oldest message of {topic} is of {format_utc(oldest)}, the newest of {format_utc(newest)}"]


def _retention_notes(configs_by_broker: Mapping[str, Mapping[str, str]]) -> list[str]:
    """How long the brokers keep messages, so how far back a group can go."""
    names_by_rule: dict[tuple[str, str], list[str]] = {}
    for name, config in configs_by_broker.items():
        hours, delete_when = config.get("fileReservedTime"), config.get("deleteWhen")
        if hours is not None and delete_when is not None:
            names_by_rule.setdefault((hours, delete_when), []).append(name)
    return [
        f"brokers keep messages for {hours} hours (fileReservedTime), and delete older ones at hour "
        f"{delete_when} of the day (deleteWhen), or when a disk is nearly full"
        + (f": {', '.join(names)}" if len(names_by_rule) > 1 else "")
        for (hours, delete_when), names in names_by_rule.items()
    ]


def _find_uncommitted(
    session: Session, queues_at: Mapping[tuple[str, str, str], Sequence[QueueTimes]]
) -> set[tuple[str, str, int]]:
    """The queues (address, group, number) without an offset of the group: brokers take it for offset 0."""
    queues = [
        (addr, group, MessageQueue(topic, "", times.queue_id))
        for (addr, topic, group), queue_times in queues_at.items()
        for times in queue_times
        if times.consumed_ms == times.oldest_ms
    ]
    offsets = session.admin.queue_progress.get_committed_offsets(queues)
    return {
        (addr, group, queue.queue_id)
        for (addr, group, queue), offset in zip(queues, offsets, strict=True)
        if offset == (None, None)
    }


def _expires_in(times: QueueTimes, reserved_ms: int | None) -> int | None:
    return None if times.unread_age_ms is None or reserved_ms is None else reserved_ms - times.unread_age_ms


def _expiry_notes(broker: str, group: str | None, queues: Sequence[GroupTimes], hours: str) -> list[str]:
    """Name the groups whose unread messages have lost a half of their time."""
    soon = [q.expires_in_ms for q in queues if q.expires_in_ms is not None]
    if not soon or min(soon) > int(hours) * _MS_PER_HOUR / 2:
        return []
    first_ms = min(soon)
    when = f"in {first_ms / _MS_PER_HOUR:.1f} h" if first_ms > 0 else "at the next deletion"
    return [f"{group} on {broker}: the oldest unread message expires {when} (fileReservedTime is {hours} h)"]


def _count_notes(topic: str, brokers: Sequence[BrokerTopicStats]) -> list[str]:
    """The messages of all queues, if all are known."""
    stats_by_addr = {b.broker_addr: b.stats for b in brokers}
    queues = [queue for stats in stats_by_addr.values() if stats for queue in stats.queues]
    if any(b.error for b in brokers) or any(queue.min_offset is None for queue in queues):
        return []
    return [f"{topic} has {count_noun(sum(queue.message_count for queue in queues), 'message')}"]


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
