"""Owns consumerProgress, consumerConnection and brokerConsumeStats: the lag and the clients of groups."""

from collections.abc import Iterable, Mapping
from typing import Annotated

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from nsadmin.client import NotFound, ServerResult
from nsadmin.client.consumers.connected_clients import GroupConnections, TopicSubscription
from nsadmin.client.consumers.consume_stats import ConsumeStats, GroupQueueLag
from nsadmin.client.consumers.consumer_progress import BROKER_STATS_TIMEOUT_SECONDS, GroupProgress
from nsadmin.client.consumers.group_problems import find_subscription_problems
from nsadmin.client.consumers.lag import Lag, sum_lags
from nsadmin.client.consumers.running_info import ALL_QUEUES
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.results import error_text
from nsadmin.command_line import argument_values
from nsadmin.command_line.broker_expectation import ExpectedBrokersOption, open_expected_inventory
from nsadmin.command_line.broker_targets import find_broker_addr
from nsadmin.command_line.declarations import Flags, command
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.quantities import count_noun
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session
from nsadmin.operations.inventory.keeper import BrokerMissingError, InventoryKeeper

LAG_COLUMNS = (
    "group",
    "topic",
    "brokerName",
    "queueId",
    "brokerOffset",
    "consumerOffset",
    "diff",
    "inflight",
    "lastTime",
    "clientId",
    "diffReason",
    "brokerAddr",
    "error",
)
LAG_TABLE_COLUMNS = (
    "topic", "brokerName", "queueId", "brokerOffset", "consumerOffset", "diff", "inflight", "lastTime",
    "diffReason", "error",
)  # fmt: skip
GROUP_COLUMNS = (
    "group", "count", "version", "consumeType", "messageModel", "tps", "diffTotal", "inflightTotal",
    "diffReason", "error",
)  # fmt: skip
CONSUMER_CONNECTION_COLUMNS = (
    "group",
    "clientId",
    "clientAddr",
    "language",
    "version",
    "protocol",
    "consumeType",
    "messageModel",
    "consumeFromWhere",
    "subscriptions",
    "brokerAddrs",
    "proxyAddrs",
    "lastHeartbeat",
)
BROKER_LAG_COLUMNS = (
    "topic",
    "group",
    "brokerName",
    "queueId",
    "brokerOffset",
    "consumerOffset",
    "diff",
    "lastTime",
    "diffReason",
)

AskedClusterOption = Annotated[
    str | None, Option("-c", "--cluster", metavar="CLUSTER", help="Ask only the brokers of this cluster.")
]


@command(columns=(*LAG_COLUMNS, *GROUP_COLUMNS))
def consumer_progress(
    session: Session,
    group: Annotated[
        str | None,
        Argument(metavar="GROUP", help="A consumer group. Default: all groups."),
        Flags("-g", "--groupName"),
    ],
    topic: Annotated[
        str | None, Option("-t", "--topicName", metavar="TOPIC", help="Only this topic of the group.")
    ] = None,
    show_client: Annotated[
        str | None,
        Option(
            "-s",
            "--showClientIP",
            metavar="true|false",
            help="Ask the clients which of them owns each queue.",
        ),
    ] = None,
    cluster_name: AskedClusterOption = None,
    include_system: Annotated[
        bool,
        Option("--system", help="Without GROUP: also show the groups that brokers create for themselves."),
    ] = False,
    expectation: ExpectedBrokersOption = None,
) -> ResultRows:
    """Show how far a consumer group is behind on each queue, or how far all groups are behind.

    nsadmin asks every broker, even if no route leads to it. diff is the number of messages that the group has
    not consumed. inflight is the number of messages that were delivered but not acknowledged (5.1 and later).
    lastTime is the time in UTC when the last consumed message was stored.

    diff is unknown, and diffReason says why, in three cases. The group has committed no offset, so its
    clients choose where they start. The offset is beyond the end of the queue. Or the group broadcasts, so
    each client keeps its own offsets. The totals do not include such queues.

    Without GROUP, each row is a group. count is the number of connected clients, and tps is the number of
    messages consumed per second. diffTotal and inflightTotal are the sums of diff and inflight. --sort,
    --columns and --filter accept both names, for example diff and diffTotal.

    If a broker left all name servers, nsadmin cannot count its queues. Then a line on stderr names the
    broker, and the exit code is 3 (see `nsadmin inventory list`).

    Examples:
        # All groups, starting with the largest backlog
        nsadmin consumerProgress --sort -diffTotal
        # One group, queue by queue
        nsadmin consumerProgress warehouse
        # Only one topic, with the client that owns each queue
        nsadmin consumerProgress warehouse -t payments -s true
    """
    if group is None:
        if topic is not None:
            raise UsageError("-t needs a group: run nsadmin consumerProgress GROUP -t TOPIC")
        session.rename_selected_columns({"diff": "diffTotal", "inflight": "inflightTotal"})
        inventory = open_expected_inventory(session, "consumerProgress", expectation)
        return _all_group_rows(session, inventory, cluster_name, include_system)
    session.rename_selected_columns({"diffTotal": "diff", "inflightTotal": "inflight"})
    inventory = open_expected_inventory(session, "consumerProgress", expectation)
    with_clients = argument_values.parse_boolean("-s", show_client) or False
    try:
        progress_results = session.admin.consumers.get_progress(group, topic, cluster_name)
    except NotFound as error:
        # The group may be known on a missing broker only.
        for missing_error in _find_missing_brokers(session, inventory, topic, cluster_name):
            error.add_note(str(missing_error))
        raise
    missing_errors = _find_missing_brokers(session, inventory, topic, cluster_name)
    owners_by_queue = (
        session.admin.client_runtime.get_queue_owners(group, cluster_name) if with_clients else {}
    )
    lag_rows = [
        lag_row
        for progress_result in progress_results
        for lag_row in _lag_rows(group, progress_result, owners_by_queue)
    ]
    table_columns = (
        (*LAG_TABLE_COLUMNS[:-2], "clientId", *LAG_TABLE_COLUMNS[-2:]) if with_clients else LAG_TABLE_COLUMNS
    )
    broker_errors = [*(progress_result.error for progress_result in progress_results), *missing_errors]
    consume_tps = sum(
        progress_result.result.consume_tps
        for progress_result in progress_results
        if progress_result.result is not None
    )
    progress_notes = [*map(str, missing_errors), *_progress_notes(session, progress_results)]
    return ResultRows(
        LAG_COLUMNS, lag_rows, broker_errors, progress_notes, table_columns, {"consumeTps": consume_tps}
    )


def _find_missing_brokers(
    session: Session, inventory: InventoryKeeper, topic: str | None, cluster_name: str | None
) -> list[BrokerMissingError]:
    """Find the broker names without a registered process; a topic excludes brokers that never had it."""
    lost_topics = inventory.observe_topics(session.admin.clusters.list_latest_groups(), {})
    brokers_by_name = {
        missing_broker.broker.broker_name: missing_broker.broker
        for missing_broker in lost_topics.missing_brokers
    }
    return [
        BrokerMissingError(f"{broker_name} is {reason}: its queues are not counted")
        for broker_name, reason in sorted(lost_topics.reasons_by_name.items())
        if brokers_by_name[broker_name].may_be_in(cluster_name)
        and (topic is None or lost_topics.had_topic(broker_name, topic) is not False)
    ]


def _find_owner(message_queue: MessageQueue, owners_by_queue: Mapping[MessageQueue, str]) -> str | None:
    return owners_by_queue.get(message_queue) or owners_by_queue.get(
        message_queue._replace(queue_id=ALL_QUEUES)
    )


def _lag_rows(
    group: str, progress_result: ServerResult[ConsumeStats], owners_by_queue: Mapping[MessageQueue, str]
) -> list[ResultRow]:
    common_cells = {"group": group, "brokerAddr": progress_result.addr}
    if progress_result.result is None:
        return [{**common_cells, "error": progress_result.error and error_text(progress_result.error)}]
    return [
        {
            **common_cells,
            **_lag_cells(queue_lag),
            "inflight": queue_lag.inflight_count,
            "clientId": _find_owner(queue_lag.queue, owners_by_queue),
        }
        for queue_lag in progress_result.result.queues
    ]


def _lag_cells(queue_lag: GroupQueueLag) -> dict[str, object]:
    return {
        "topic": queue_lag.queue.topic,
        "group": queue_lag.group,
        "brokerName": queue_lag.queue.broker_name,
        "queueId": queue_lag.queue.queue_id,
        "brokerOffset": queue_lag.broker_offset,
        "consumerOffset": queue_lag.consumer_offset,
        "diff": queue_lag.lag.messages,
        "diffReason": queue_lag.lag.reason,
        "lastTime": format_utc(queue_lag.last_consumed_ms),
    }


def _progress_notes(session: Session, progress_results: list[ServerResult[ConsumeStats]]) -> list[str]:
    """The brokers that failed and, under a table, the totals."""
    progress_notes = _failure_notes(
        (progress_result.addr, progress_result.error) for progress_result in progress_results
    )
    known_stats = [
        progress_result.result for progress_result in progress_results if progress_result.result is not None
    ]
    queue_lags = [queue_lag for consume_stats in known_stats for queue_lag in consume_stats.queues]
    if known_stats and session.options.style.output_format == "table":
        total_lag = sum_lags(queue_lag.lag for queue_lag in queue_lags)
        progress_notes.append(
            f"consume TPS {sum(consume_stats.consume_tps for consume_stats in known_stats):.2f}, "
            f"diff total {_describe_lag(total_lag)}, "
            f"inflight total {sum(queue_lag.inflight_count or 0 for queue_lag in queue_lags)}"
        )
    return progress_notes


def _describe_lag(lag: Lag) -> str:
    count_text = "unknown" if lag.messages is None else str(lag.messages)
    return count_text if lag.reason is None else f"{count_text} ({lag.reason})"


def _failure_notes(errors_by_addr: Iterable[tuple[str, RocketMQError | None]]) -> list[str]:
    return [
        f"broker {broker_addr}: {error_text(broker_error)}"
        for broker_addr, broker_error in errors_by_addr
        if broker_error is not None
    ]


def _all_group_rows(
    session: Session, inventory: InventoryKeeper, cluster_name: str | None, include_system: bool
) -> ResultRows:
    group_progresses, errors_by_broker = session.admin.consumers.get_all_progress(
        cluster_name, include_system=include_system
    )
    group_rows = [_group_row(group_progress) for group_progress in group_progresses]
    failed_count = sum(group_progress.error is not None for group_progress in group_progresses)
    missing_errors = _find_missing_brokers(session, inventory, None, cluster_name)
    failure_notes = [*map(str, missing_errors), *_failure_notes(errors_by_broker.items())]
    if failed_count:
        failure_notes.append(
            f"{failed_count} of {len(group_progresses)} groups are incomplete: see the column error"
        )
    all_errors = [
        *errors_by_broker.values(),
        *(group_progress.error for group_progress in group_progresses),
        *missing_errors,
    ]
    return ResultRows(GROUP_COLUMNS, group_rows, all_errors, failure_notes)


def _group_row(group_progress: GroupProgress) -> ResultRow:
    group_clients = group_progress.connections.clients
    client_versions = sorted({group_client.version for group_client in group_clients if group_client.version})
    return {
        "group": group_progress.group,
        "count": len(group_clients) if group_clients or group_progress.error is None else None,
        "version": ",".join(client_versions) or None,
        "consumeType": group_progress.connections.consume_type,
        "messageModel": group_progress.connections.message_model,
        "tps": group_progress.consume_tps,
        "diffTotal": group_progress.diff_total,
        "diffReason": group_progress.diff_reason,
        "inflightTotal": group_progress.inflight_total,
        "error": group_progress.error and error_text(group_progress.error),
    }


@command(columns=CONSUMER_CONNECTION_COLUMNS)
def consumer_connection(
    session: Session,
    group: Annotated[
        str, Argument(metavar="GROUP", help="A consumer group."), Flags("-g", "--consumerGroup")
    ],
    broker_text: Annotated[
        str | None,
        Option("-b", "--brokerAddr", metavar="ADDR", help="Ask only this broker: address, NAME or NAME/ID."),
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
        # Clients of a group, and their subscriptions
        nsadmin consumerConnection warehouse
    """
    broker_addr = None if broker_text is None else find_broker_addr(session, broker_text)
    group_connections = session.admin.consumers.get_connections(group, cluster_name, broker_addr)
    subscriptions_by_client, subscription_notes = _read_subscriptions(session, group, group_connections)
    client_rows: list[ResultRow] = [
        {
            "group": group,
            "clientId": group_client.client_id,
            "clientAddr": group_client.client_addr,
            "language": group_client.language,
            "version": group_client.version,
            "protocol": group_client.protocol,
            "consumeType": group_client.consume_type or group_connections.consume_type,
            "messageModel": group_connections.message_model,
            "consumeFromWhere": group_connections.consume_from_where,
            "subscriptions": _format_subscriptions(subscriptions_by_client.get(group_client.client_id)),
            "brokerAddrs": group_client.broker_addrs,
            "proxyAddrs": group_client.proxy_addrs,
            "lastHeartbeat": format_utc(group_client.last_heartbeat_ms),
        }
        for group_client in group_connections.clients
    ]
    connection_notes = [
        *_failure_notes(group_connections.errors.items()),
        *proxy_notes(group_connections.proxy_errors),
        *group_connections.disagreements,
        *subscription_notes,
    ]
    return ResultRows(
        CONSUMER_CONNECTION_COLUMNS,
        client_rows,
        [*group_connections.errors.values(), *group_connections.proxy_errors.values()],
        connection_notes,
        CONSUMER_CONNECTION_COLUMNS[1:-1],
        {"subscriptions": _format_subscriptions(group_connections.subscriptions)},
    )


def _read_subscriptions(
    session: Session, group: str, group_connections: GroupConnections
) -> tuple[dict[str, tuple[TopicSubscription, ...]], list[str]]:
    """Each client's own subscriptions, and notes about those that differ or are unknown."""
    own_subscriptions = {
        client.client_id: client.subscriptions
        for client in group_connections.clients
        if client.subscriptions is not None
    }
    silent_reasons = dict.fromkeys(
        (client.client_id for client in group_connections.clients if client.subscriptions is None),
        "gRPC clients do not report it",
    )
    asked_clients = [client for client in group_connections.clients if client.subscriptions is None]
    asked_results = session.admin.client_runtime.get_subscriptions(group, asked_clients)
    for client_id, result in asked_results.items():
        if result.result is not None:
            own_subscriptions[client_id] = result.result
            del silent_reasons[client_id]
        elif result.error is not None:
            silent_reasons[client_id] = error_text(result.error)
    # A proxy lists no retry topics.
    differences = find_subscription_problems(
        [
            (client_id, subscriptions)
            for client_id, subscriptions in own_subscriptions.items()
            if client_id in asked_results
        ]
    )
    broker_text = " ".join(f"{item.topic}={item}" for item in group_connections.subscriptions) or "nothing"
    return own_subscriptions, [
        *differences,
        *(
            f"the subscriptions of {client_id} are unknown: {reason}; "
            f"the brokers have {broker_text} for the group"
            for client_id, reason in silent_reasons.items()
        ),
    ]


def _format_subscriptions(subscriptions: Iterable[TopicSubscription] | None) -> dict[str, str] | None:
    if subscriptions is None:
        return None
    return {topic_subscription.topic: str(topic_subscription) for topic_subscription in subscriptions}


def proxy_notes(proxy_errors: Mapping[str, RocketMQError]) -> list[str]:
    """Return a line for each failed server. Clients behind proxies may be missing because of it."""
    return [
        f"clients behind proxies may be missing: {server}: {error_text(proxy_error)}"
        for server, proxy_error in proxy_errors.items()
    ]


@command(columns=BROKER_LAG_COLUMNS)
def broker_consume_stats(
    session: Session,
    broker_text: Annotated[
        str,
        Argument(metavar="ADDR", help="One broker: address, NAME or NAME/ID."),
        Flags("-b", "--brokerAddr"),
    ],
    timeout_ms: Annotated[
        int, Option("-t", "--timeoutMillis", metavar="MS", help="Timeout of the broker.")
    ] = int(BROKER_STATS_TIMEOUT_SECONDS * 1000),
    min_lag: Annotated[
        int, Option("-l", "--level", metavar="DIFF", help="Only queues that are at least this far behind.")
    ] = 0,
    order_text: Annotated[
        str | None,
        Option("-o", "--order", metavar="true|false", help="true: only ordered topics."),
    ] = None,
) -> ResultRows:
    """Show how far every consumer group is behind on every queue of one broker.

    This causes much work on the broker. diffReason says why the diff of a queue is unknown. With -l above 0,
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
    queue_lags = session.admin.consumers.get_broker_stats(
        find_broker_addr(session, broker_text), is_order=only_ordered, timeout_seconds=timeout_ms / 1000
    )
    lag_rows = [
        _lag_cells(queue_lag)
        for queue_lag in queue_lags
        if min_lag <= 0 or (queue_lag.lag_count is not None and queue_lag.lag_count >= min_lag)
    ]
    # Of many groups, the reasons are in the rows.
    total_lag = sum(queue_lag.lag_count or 0 for queue_lag in queue_lags)
    unknown_count = sum(queue_lag.lag_count is None for queue_lag in queue_lags)
    total_text = f"{count_noun(total_lag, 'message')} behind in total"
    if unknown_count:
        total_text += f"; the diff of {count_noun(unknown_count, 'queue')} is unknown"
    return ResultRows(BROKER_LAG_COLUMNS, lag_rows, (), [total_text])
