"""Owns consumerProgress, consumerConnection and brokerConsumeStats: the lag and the clients of groups."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, NamedTuple

from typer import Argument, Option

from namesrv_core.errors import RequestError, RocketMQError
from nsadmin.client import NotFound, ServerResult
from nsadmin.client.advised_command import quote_command
from nsadmin.client.brokers.targets import target_at_addr
from nsadmin.client.consumers.client_runtime import ALL_QUEUES, find_subscription_problems
from nsadmin.client.consumers.connected_clients import (
    ConnectedClient,
    GroupConnections,
    TopicSubscription,
    is_group_offline,
)
from nsadmin.client.consumers.consume_stats import ConsumeStats, GroupQueueLag, find_waiting_since
from nsadmin.client.consumers.consumer_progress import BROKER_STATS_TIMEOUT_SECONDS, GroupProgress
from nsadmin.client.consumers.lag import describe_no_offsets, sum_lags
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.results import error_text
from nsadmin.command_line import argument_values
from nsadmin.command_line.broker_expectation import ExpectedBrokersOption, open_expected_inventory
from nsadmin.command_line.broker_targets import find_broker_addr
from nsadmin.command_line.declarations import Each, Flags, command
from nsadmin.commands.columns.brokers import BROKER_ADDR, BROKER_NAME, VERSION
from nsadmin.commands.columns.consumers import (
    BROKER_OFFSET,
    CLIENT_ADDR,
    CLIENT_BROKERS,
    CLIENT_ID,
    CONSUME_TYPE,
    CONSUMER_OFFSET,
    GROUP,
    LANGUAGE,
    LAST_HEARTBEAT,
    LAST_TIME,
    MESSAGE_MODEL,
    PROTOCOL,
    PROXY_ADDRS,
)
from nsadmin.commands.columns.servers import ERROR, failure_notes, result_notes
from nsadmin.commands.columns.topics import QUEUE_ID, TOPIC
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import AnyColumn, Column, Columns, ResultRows, of_part
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.phrases import abbreviate_names, count_noun, part_is
from nsadmin.console.session import Session
from nsadmin.operations.inventory.keeper import BrokerMissingError, InventoryKeeper


class QueueProgress(NamedTuple):
    """A row: a queue of a group, or a broker that failed."""

    broker_addr: str
    queue: GroupQueueLag | None
    error: RocketMQError | None = None
    client_id: str | None = None

    @property
    def group(self) -> str | None:
        return self.queue and self.queue.group


class TopicProgress(NamedTuple):
    """A row of --sum: a topic of a group, on the brokers that answered."""

    group: str
    topic: str
    lag: int | None
    inflight_total: int | None
    waiting_since_ms: int | None
    lag_reason: str | None


QUEUE_COLUMNS = of_part(lambda q: q.queue, (TOPIC, BROKER_NAME, QUEUE_ID))
OFFSET_COLUMNS: Columns[GroupQueueLag] = (
    BROKER_OFFSET,
    CONSUMER_OFFSET,
    Column("lag", "messages that the group has not consumed yet", lambda q: q.lag.messages),
)
INFLIGHT: Column[GroupQueueLag] = Column(
    "inflight",
    "messages that were pulled but not acknowledged, without popped ones; since 5.1",
    lambda q: q.inflight_count,
)
GROUP_LAG_REASON: AnyColumn = Column(
    "lagReason",
    "why the lag is unknown, or lacks some queues; null if it is complete",
    lambda r: r.lag_reason,
)
LAG_REASON: Column[GroupQueueLag] = GROUP_LAG_REASON.of(lambda q: q.lag.reason)
LAG_ERROR = ERROR.means("error text; then the numbers are null")
LAG_COLUMNS: Columns[QueueProgress] = (
    GROUP.in_wide(),
    *of_part(lambda p: p.queue, (*QUEUE_COLUMNS, *OFFSET_COLUMNS, INFLIGHT, LAST_TIME)),
    CLIENT_ID,
    *of_part(lambda p: p.queue, (LAG_REASON,)),
    BROKER_ADDR.in_wide(),
    LAG_ERROR,
)
TOTAL_LAG: AnyColumn = Column(
    "lag", "messages that the group has not consumed yet, in all queues", lambda g: g.lag
)
TOTAL_INFLIGHT: AnyColumn = Column(
    "inflight",
    "messages that were pulled but not acknowledged, in all queues; since 5.1",
    lambda g: g.inflight_total,
)
WAITING_SINCE: AnyColumn = Column(
    "waitingSince",
    "since when messages wait (UTC): when the last consumed message of a queue was stored; null if none wait",
    lambda g: format_utc(g.waiting_since_ms),
)
GROUP_COLUMNS: Columns[GroupProgress] = (
    GROUP,
    Column("count", "connected clients", lambda g: g.count),
    VERSION.of(lambda g: ",".join(sorted({c.version for c in g.connections.clients if c.version})) or None),
    *of_part(lambda g: g.connections, (CONSUME_TYPE, MESSAGE_MODEL)),
    Column("tps", "messages that the group consumes per second", lambda g: g.consume_tps),
    TOTAL_LAG,
    TOTAL_INFLIGHT,
    WAITING_SINCE.in_wide(),
    GROUP_LAG_REASON,
    LAG_ERROR,
)
SUM_COLUMNS: Columns[TopicProgress] = (
    GROUP,
    TOPIC,
    TOTAL_LAG,
    TOTAL_INFLIGHT,
    WAITING_SINCE,
    GROUP_LAG_REASON,
)
_MANY_QUEUES = 100

SUBSCRIPTIONS: AnyColumn = Column(
    "subscriptions",
    "the client's own subscription expressions by topic; null if it does not report them",
    lambda r: _format_subscriptions(r.subscriptions),
)
CONSUME_FROM_WHERE: AnyColumn = Column(
    "consumeFromWhere", "where clients of the group start without an offset", lambda r: r.consume_from_where
)
CONNECTION_COLUMNS: Columns[ConnectedClient] = (
    GROUP.in_wide(),
    CLIENT_ID,
    CLIENT_ADDR,
    LANGUAGE,
    VERSION,
    PROTOCOL,
    CONSUME_TYPE,
    MESSAGE_MODEL,
    CONSUME_FROM_WHERE,
    SUBSCRIPTIONS,
    CLIENT_BROKERS,
    PROXY_ADDRS,
    LAST_HEARTBEAT,
)
BROKER_LAG_COLUMNS: Columns[GroupQueueLag] = (
    QUEUE_COLUMNS[0],
    GROUP,
    *QUEUE_COLUMNS[1:],
    *OFFSET_COLUMNS,
    LAST_TIME,
    LAG_REASON,
)


AskedClusterOption = Annotated[
    str | None, Option("-c", "--cluster", metavar="CLUSTER", help="Ask only the brokers of this cluster.")
]


@command(columns=(*LAG_COLUMNS, *GROUP_COLUMNS), nothing="no consumer groups on the brokers of {servers}")
def consumer_progress(
    session: Session,
    group: Annotated[
        str | None,
        Argument(metavar="GROUP", help="A consumer group. Default: all groups."),
        Flags("-g", "--groupName"),
        Each("consumer group"),
    ],
    topic: Annotated[
        str | None, Option("-t", "--topicName", metavar="TOPIC", help="Only this topic."), Each("topic")
    ] = None,
    show_client: Annotated[
        str | None,
        Option(
            "-s",
            "--showClientIP",
            metavar="true|false",
            help="Ask the clients which of them owns each queue. Default: only if clientId is shown.",
        ),
    ] = None,
    cluster_name: AskedClusterOption = None,
    include_system: Annotated[
        bool,
        Option("--system", help="Without GROUP: also show the groups that brokers create for themselves."),
    ] = False,
    sum_queues: Annotated[
        bool, Option("--sum", help="With GROUP or -t: one row for each topic of a group, not for each queue.")
    ] = False,
    expectation: ExpectedBrokersOption = None,
) -> ResultRows:
    """Show how far a consumer group is behind on each queue, or how far all groups are behind.

    nsadmin asks every broker, even if no route leads to it. lag is the number of messages that the group has
    not consumed. inflight is the number of messages that were pulled but not acknowledged (5.1 and later).
    lastTime is the time in UTC when the last consumed message was stored.

    lag is unknown, and lagReason says why, in three cases. The group has committed no offset, so its
    clients choose where they start. The offset is beyond the end of the queue. Or the group broadcasts, so
    each client keeps its own offsets. The totals do not include such queues.

    With -t and without GROUP, the rows are the queues of all groups of the topic. With --sum, each row is a
    topic of a group, with the sums over its queues.

    Without GROUP and -t, each row is a group. count is the number of connected clients, and tps is the number
    of messages consumed per second. lag and inflight are the sums over the queues. The column waitingSince of
    wide output and JSON is the time since which messages wait. The last consumed message of the queue that is
    furthest behind was stored then.

    If a broker left all name servers, nsadmin cannot count its queues. Then a line on stderr names the
    broker, and the exit code is 3 (see `nsadmin inventory list`).

    Examples:
        # All consumer groups, with their lag and the number of their clients (count)
        nsadmin consumerProgress
        # How far behind a group is per queue: how many messages wait (stacked), also in retries (%RETRY%)
        nsadmin consumerProgress warehouse --sort -lag
        # Lag of all groups of a topic, queue by queue: who is behind, and on which queue
        nsadmin consumerProgress -t payments --sort -lag
        # The names of the groups that are more than 100 messages behind, for a loop of the shell
        nsadmin consumerProgress --filter 'lag>100' --output name
        # The lag of a group on each queue, the largest first, and which client (consumer) reads the queue
        nsadmin consumerProgress warehouse -s true --sort -lag
    """
    if group is None and topic is not None:
        if show_client is not None:
            raise UsageError(f"-s needs a group: usage: nsadmin consumerProgress GROUP -t {topic} -s true")
        inventory = open_expected_inventory(session, "consumerProgress", expectation)
        return _topic_rows(session, inventory, topic, cluster_name, sum_queues=sum_queues)
    if group is None and sum_queues:
        raise UsageError("--sum needs GROUP or -t TOPIC: without them, each group has one row already")
    if group is None:
        inventory = open_expected_inventory(session, "consumerProgress", expectation)
        return _all_group_rows(session, inventory, cluster_name, include_system)
    inventory = open_expected_inventory(session, "consumerProgress", expectation)
    is_asked = argument_values.parse_boolean("-s", show_client)
    with_clients = _shows_client_ids(session) if is_asked is None else is_asked
    try:
        progress_results = session.admin.consumers.get_progress(group, topic, cluster_name)
    except NotFound as error:
        # The group may be known on a missing broker only.
        for missing_error in _find_missing_brokers(session, inventory, topic, cluster_name):
            error.add_note(str(missing_error))
        raise
    missing_errors = _find_missing_brokers(session, inventory, topic, cluster_name)
    owners_by_queue = _read_queue_owners(session, group, cluster_name) if with_clients else {}
    queues = [queue for r in progress_results for queue in _list_queues(r, owners_by_queue)]
    columns = LAG_COLUMNS if with_clients else [c.in_wide() if c is CLIENT_ID else c for c in LAG_COLUMNS]
    errors = [*(r.error for r in progress_results), *missing_errors]
    tables = session.admin.groups.get_tables(target_at_addr(r.addr) for r in progress_results if r.addr)
    is_paused = any((r.result or {}).get(group, {}).get("consumeEnable") is False for r in tables)
    notes = [*map(str, missing_errors), *result_notes(progress_results), *_note_paused([group] * is_paused)]
    totals = _sum_progress(progress_results, describe_no_offsets(topic))
    if sum_queues:
        rows = ResultRows.from_records(SUM_COLUMNS, _sum_by_topic(progress_results), errors, notes)
        return rows._replace(table_notes=totals)
    if len(queues) >= _MANY_QUEUES:
        sums = quote_command("consumerProgress", group, "--sum")
        owners = quote_command("consumerProgress", group, "-s", "true", "--sort", "-lag")
        with_owners = "" if with_clients else f"; which client reads each queue: {owners}"
        totals.append(f"one row for each topic: {sums}{with_owners}")
    rows = ResultRows.from_records(columns, queues, errors, notes, common={GROUP: group})
    consume_tps = sum(r.result.consume_tps for r in progress_results if r.result is not None)
    return rows._replace(totals={"consumeTps": consume_tps}, table_notes=totals)


def _note_paused(groups: Sequence[str]) -> list[str]:
    if not groups:
        return []
    explain = quote_command("group", "explain", groups[0])
    return [f"paused (consumeEnable=false): {abbreviate_names(groups, 5)}: see {explain}"]


def _shows_client_ids(session: Session) -> bool:
    """Whether the output has the column clientId, or depends on it."""
    output_format, selection = session.options.style.output_format, session.options.style.selection
    texts = [text for text in (selection.columns, selection.sort, *selection.filters) if text]
    return (output_format == "wide" and selection.columns is None) or any(
        CLIENT_ID.key.lower() in text.lower() for text in texts
    )


def _read_queue_owners(session: Session, group: str, cluster_name: str | None) -> dict[MessageQueue, str]:
    try:
        return session.admin.client_runtime.get_queue_owners(group, cluster_name)
    except RequestError as error:
        if not is_group_offline(error):
            raise
        session.write_remark(str(error))
        return {}


def _find_missing_brokers(
    session: Session, inventory: InventoryKeeper, topic: str | None, cluster_name: str | None
) -> list[BrokerMissingError]:
    """Find the broker names without a registered process; a topic excludes brokers that never had it."""
    lost_names = inventory.find_lost_names(session.admin.clusters.list_latest_groups(), cluster_name, topic)
    return [
        BrokerMissingError(f"{name} is {reason}: its queues are not counted")
        for name, reason in lost_names.items()
    ]


def _list_queues(
    result: ServerResult[ConsumeStats], owners_by_queue: Mapping[MessageQueue, str]
) -> list[QueueProgress]:
    if result.result is None:
        return [QueueProgress(result.addr, None, result.error)]
    return [
        QueueProgress(
            result.addr,
            lag,
            None,
            owners_by_queue.get(lag.queue) or owners_by_queue.get(lag.queue._replace(queue_id=ALL_QUEUES)),
        )
        for lag in result.result.queues
    ]


def _sum_by_topic(results: Sequence[ServerResult[ConsumeStats]]) -> list[TopicProgress]:
    queues_by_topic = defaultdict[tuple[str, str], list[GroupQueueLag]](list)
    for queue in (queue for r in results if r.result is not None for queue in r.result.queues):
        queues_by_topic[queue.group, queue.queue.topic].append(queue)
    failed_addrs = sorted({r.addr for r in results if r.error is not None})
    unknown_part = f"unknown on {abbreviate_names(failed_addrs, 3)}" if failed_addrs else None
    rows = []
    for (group, topic), queues in sorted(queues_by_topic.items()):
        total = sum_lags(queue.lag for queue in queues)
        inflight_counts = [queue.inflight_count for queue in queues if queue.inflight_count is not None]
        rows.append(
            TopicProgress(
                group,
                topic,
                total.messages,
                sum(inflight_counts) if inflight_counts else None,
                find_waiting_since(queues),
                "; ".join(filter(None, (total.reason, unknown_part))) or None,
            )
        )
    return rows


def _sum_progress(results: list[ServerResult[ConsumeStats]], nothing_text: str) -> list[str]:
    """The totals of the brokers that answered."""
    known_stats = [r.result for r in results if r.result is not None]
    queues = [q for stats in known_stats for q in stats.queues]
    if not queues:
        return [nothing_text] if known_stats else []
    total = sum_lags(q.lag for q in queues)
    count = "unknown" if total.messages is None else str(total.messages)
    return [
        f"consume TPS {sum(stats.consume_tps for stats in known_stats):.2f}, "
        f"lag {count if total.reason is None else f'{count} ({total.reason})'}, "
        f"inflight {sum(q.inflight_count or 0 for q in queues)}"
    ]


def _topic_rows(
    session: Session,
    inventory: InventoryKeeper,
    topic: str,
    cluster_name: str | None,
    *,
    sum_queues: bool,
) -> ResultRows:
    groups, list_errors = session.admin.topics.find_consumer_groups(topic)
    results = session.admin.consumers.get_topic_progress(topic, groups, cluster_name)
    # A broker that fails does so for each group.
    failures = {r.addr: r for r in results if r.error is not None}
    results = [*failures.values(), *(r for r in results if r.error is None)]
    missing_errors = _find_missing_brokers(session, inventory, topic, cluster_name)
    queues = [queue for r in results for queue in _list_queues(r, {})]
    columns = [GROUP, *(c.in_wide() if c is CLIENT_ID else c for c in LAG_COLUMNS[1:])]
    errors = [*(r.error for r in results), *list_errors, *missing_errors]
    notes = [f"groups may be missing: {error_text(error)}" for error in list_errors]
    notes += [*map(str, missing_errors), *result_notes(results)]
    totals = _sum_progress(results, f"no group has an offset for {topic}")
    if sum_queues:
        rows = ResultRows.from_records(SUM_COLUMNS, _sum_by_topic(results), errors, notes)
        return rows._replace(table_notes=totals)
    if len(queues) >= _MANY_QUEUES:
        totals.append(f"one row for each group: {quote_command('consumerProgress', '-t', topic, '--sum')}")
    if queues and _shows_client_ids(session):
        owners = quote_command("consumerProgress", "GROUP", "-t", topic, "-s", "true")
        notes.append(f"clientId is unknown here: {owners} asks the clients of a group")
    return ResultRows.from_records(columns, queues, errors, notes)._replace(table_notes=totals)


def _all_group_rows(
    session: Session, inventory: InventoryKeeper, cluster_name: str | None, include_system: bool
) -> ResultRows:
    groups, errors_by_broker = session.admin.consumers.get_all_progress(
        cluster_name, include_system=include_system
    )
    failed_count = sum(g.error is not None for g in groups)
    missing_errors = _find_missing_brokers(session, inventory, None, cluster_name)
    notes = [*map(str, missing_errors), *failure_notes(errors_by_broker.items())]
    notes += _note_paused([g.group for g in groups if g.is_paused])
    if failed_count:
        notes.append(f"{part_is(failed_count, len(groups), 'group')} incomplete: see the column error")
    errors = [*errors_by_broker.values(), *(g.error for g in groups), *missing_errors]
    if failed_addrs := [addr for addr, error in errors_by_broker.items() if error is not None]:
        # Such a broker may have queues of every group.
        unknown_part = f"unknown on {abbreviate_names(failed_addrs, 3)}"
        groups = [
            g._replace(lag_reason=f"{g.lag_reason}; {unknown_part}" if g.lag_reason else unknown_part)
            for g in groups
        ]
    return ResultRows.from_records(GROUP_COLUMNS, groups, errors, notes)


@command(columns=CONNECTION_COLUMNS)
def consumer_connection(
    session: Session,
    group: Annotated[
        str,
        Argument(metavar="GROUP", help="A consumer group."),
        Flags("-g", "--consumerGroup"),
        Each("consumer group"),
    ],
    broker_text: Annotated[
        str | None,
        Option("-b", "--brokerAddr", metavar="ADDR", help="Ask only this broker: address, NAME or NAME:ID."),
    ] = None,
    cluster_name: AskedClusterOption = None,
) -> ResultRows:
    """Show the connected clients of a consumer group and their subscriptions, from brokers and proxies.

    A broker knows only the clients that are connected to it, so nsadmin asks every master and slave.
    brokerAddrs has the brokers that each client is connected to, and proxyAddrs has its proxies in cluster
    mode. A broker has one set of subscriptions for all clients of a group, so nsadmin asks each client for
    its own; a proxy has one for each client. If they differ, a line on stderr reports it, because such
    clients lose messages. subscriptions is empty for a client that does not answer, and a line names the
    broker's set. With -b, nsadmin does not show clients behind proxies in cluster mode.

    Examples:
        # Clients of a group, with their IP addresses and subscriptions
        nsadmin consumerConnection warehouse
    """
    broker_addr = None if broker_text is None else find_broker_addr(session, broker_text)
    connections = session.admin.consumers.get_connections(group, cluster_name, broker_addr)
    subscriptions_by_client, subscription_notes = _read_subscriptions(session, group, connections)
    clients = [
        c._replace(
            consume_type=c.consume_type or connections.consume_type,
            subscriptions=subscriptions_by_client.get(c.client_id),
        )
        for c in connections.clients
    ]
    rows = ResultRows.from_records(
        CONNECTION_COLUMNS,
        clients,
        [*connections.errors.values(), *connections.proxy_errors.values()],
        [
            *failure_notes(connections.errors.items()),
            *proxy_notes(connections.proxy_errors),
            *connections.disagreements,
            *subscription_notes,
        ],
        common={
            GROUP: group,
            MESSAGE_MODEL: connections.message_model,
            CONSUME_FROM_WHERE: connections.consume_from_where,
        },
    )
    return rows._replace(totals={"subscriptions": _format_subscriptions(connections.subscriptions)})


def _read_subscriptions(
    session: Session, group: str, connections: GroupConnections
) -> tuple[dict[str, tuple[TopicSubscription, ...]], list[str]]:
    """Each client's own subscriptions, and notes about those that differ or are unknown."""
    known = {c.client_id: c.subscriptions for c in connections.clients if c.subscriptions is not None}
    asked_clients = [c for c in connections.clients if c.subscriptions is None]
    silent_reasons = {c.client_id: "gRPC clients do not report it" for c in asked_clients}
    asked_results = session.admin.client_runtime.get_subscriptions(group, asked_clients)
    for client_id, result in asked_results.items():
        if result.result is not None:
            known[client_id] = result.result
            del silent_reasons[client_id]
        elif result.error is not None:
            silent_reasons[client_id] = error_text(result.error)
    # A proxy lists no retry topics.
    differences = find_subscription_problems(
        [
            (client_id, subscriptions)
            for client_id, subscriptions in known.items()
            if client_id in asked_results
        ]
    )
    broker_text = " ".join(f"{s.topic}={s}" for s in connections.subscriptions) or "nothing"
    return known, [
        *differences,
        *(
            f"the subscriptions of {client_id} are unknown: {reason}; "
            f"the brokers have {broker_text} for the group"
            for client_id, reason in silent_reasons.items()
        ),
    ]


def _format_subscriptions(subscriptions: Iterable[TopicSubscription] | None) -> dict[str, str] | None:
    return None if subscriptions is None else {s.topic: str(s) for s in subscriptions}


def proxy_notes(proxy_errors: Mapping[str, RocketMQError]) -> list[str]:
    """Return a line for each failed server. Clients behind proxies may be missing because of it."""
    return [
        f"clients behind proxies may be missing: {server}: {error_text(error)}"
        for server, error in proxy_errors.items()
    ]


@command(columns=BROKER_LAG_COLUMNS, nothing="no consumer groups")
def broker_consume_stats(
    session: Session,
    broker_text: Annotated[
        str,
        Argument(metavar="ADDR", help="One broker: address, NAME or NAME:ID."),
        Flags("-b", "--brokerAddr"),
    ],
    timeout_ms: Annotated[
        int, Option("-t", "--timeoutMillis", metavar="MS", help="Timeout of the broker.")
    ] = int(BROKER_STATS_TIMEOUT_SECONDS * 1000),
    min_lag: Annotated[
        int, Option("-l", "--level", metavar="DIFF", help="Only queues that are at least this far behind.")
    ] = 0,
    order_text: Annotated[
        str | None, Option("-o", "--order", metavar="true|false", help="true: only ordered topics.")
    ] = None,
) -> ResultRows:
    """Show how far every consumer group is behind on every queue of one broker.

    This causes much work on the broker. lagReason says why the lag of a queue is unknown. With -l above 0,
    such queues are not shown.

    Examples:
        # All groups on one broker
        nsadmin brokerConsumeStats 127.0.0.1:10911
        # Only queues that are 10 messages or more behind
        nsadmin brokerConsumeStats 127.0.0.1:10911 -l 10
    """
    if timeout_ms <= 0:
        raise UsageError(f'invalid value "{timeout_ms}" for -t: expected milliseconds above 0')
    only_ordered = argument_values.parse_boolean("-o", order_text) or False
    queues = session.admin.consumers.get_broker_stats(
        find_broker_addr(session, broker_text), is_order=only_ordered, timeout_seconds=timeout_ms / 1000
    )
    shown = [q for q in queues if min_lag <= 0 or (q.lag.messages is not None and q.lag.messages >= min_lag)]
    # Of many groups, the reasons are in the rows.
    total = f"{count_noun(sum(q.lag.messages or 0 for q in queues), 'message')} behind in total"
    unknown_count = sum(q.lag.messages is None for q in queues)
    if unknown_count:
        total += f"; the lag of {count_noun(unknown_count, 'queue')} is unknown"
    return ResultRows.from_records(BROKER_LAG_COLUMNS, shown, (), [total])
