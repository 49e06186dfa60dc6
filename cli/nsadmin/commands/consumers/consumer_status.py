"""Owns consumerStatus, which shows the state that a group's clients report, and diagnoses the group."""

from collections.abc import Iterable
from typing import Annotated

from typer import Argument, Option

from nsadmin.client.consumers.client_runtime import RunningClient
from nsadmin.client.consumers.running_info import ALL_QUEUES, ConsumeStatus
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.results import error_text
from nsadmin.client.wall_clock import time
from nsadmin.command_line.broker_targets import find_broker_addr
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.consumers.consumer_progress import AskedClusterOption, proxy_notes
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.quantities import to_fine_millis
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session

CONSUMER_STATUS_COLUMNS = (
    "group",
    "clientId",
    "version",
    "language",
    "protocol",
    "proxyAddrs",
    "startTime",
    "topic",
    "brokerName",
    "queueId",
    "commitOffset",
    "cachedMsgCount",
    "cachedMsgSizeInMiB",
    "lastPullTime",
    "lastConsumeTime",
    "waitAckCount",
    "lastPopTime",
    "locked",
    "dropped",
    "consumeOKTPS",
    "consumeFailedTPS",
    "consumeRT",
    "pullTPS",
    "pullRT",
    "subscriptions",
    "properties",
    "error",
)
CONSUMER_STATUS_TABLE_COLUMNS = (
    "clientId", "topic", "brokerName", "queueId", "commitOffset", "cachedMsgCount", "lastPullTime",
    "lastConsumeTime", "locked", "consumeOKTPS", "consumeFailedTPS", "consumeRT", "error",
)  # fmt: skip
POP_TABLE_COLUMNS = (*CONSUMER_STATUS_TABLE_COLUMNS[:-1], "waitAckCount", "lastPopTime", "error")


@command(columns=CONSUMER_STATUS_COLUMNS)
def consumer_status(
    session: Session,
    group: Annotated[
        str, Argument(metavar="GROUP", help="A consumer group."), Flags("-g", "--consumerGroup")
    ],
    client_id: Annotated[
        str | None, Option("-i", "--clientId", metavar="ID", help="Only this client of the group.")
    ] = None,
    broker_text: Annotated[
        str | None,
        Option("-b", "--brokerAddr", metavar="ADDR", help="Only clients that are connected to this broker."),
    ] = None,
    show_stacks: Annotated[
        bool, Option("-s", "--jstack", help="Show the thread stacks of the clients instead of rows.")
    ] = False,
    cluster_name: AskedClusterOption = None,
) -> ResultRows | str:
    """Ask every client of a consumer group for its queues, and report problems on stderr.

    nsadmin reports clients with different subscriptions, queues that an ordered consumer cannot lock, and
    messages that wait in a client for more than a minute. For push consumers in clustering mode, it also
    reports queues without an owner and queues with several owners, if all clients answered.

    gRPC clients and clients behind proxies cannot report their state. Their rows have no queues.

    Times are in UTC. The columns with RT are durations in ms. The columns with TPS are messages per second,
    for the whole topic in that client. JSON also has each client's properties. A client that pops messages
    has a row for each broker. If the client pops from any queue, the row has no queueId.

    Examples:
        # State and problems of a group's clients
        nsadmin consumerStatus warehouse
        # The threads of one client
        nsadmin consumerStatus warehouse -i 10.0.226.10@warehouse-1 -s
    """
    broker_addr = None if broker_text is None else find_broker_addr(session, broker_text)
    running_group = session.admin.client_runtime.get_group(
        group, client_id, cluster_name=cluster_name, broker_addr=broker_addr, with_jstack=show_stacks
    )
    all_errors = [
        *running_group.errors.values(),
        *running_group.proxy_errors.values(),
        *(running_client.error for running_client in running_group.clients),
    ]
    status_notes = [
        f"broker {broker_addr}: {error_text(broker_error)}"
        for broker_addr, broker_error in running_group.errors.items()
        if broker_error is not None
    ]
    status_notes += [
        f"client {running_client.client.client_id}: {error_text(running_client.error)}"
        for running_client in running_group.clients
        if running_client.error is not None
    ]
    status_notes += proxy_notes(running_group.proxy_errors)
    status_notes += _describe_unasked(running_group.clients)
    if show_stacks and not any(all_errors):
        return "\n".join(_format_stack(running_client) for running_client in running_group.clients)
    if client_id is None and broker_addr is None and cluster_name is None:
        status_notes += session.admin.client_runtime.find_problems(running_group, int(time() * 1000))
    client_rows = [
        client_row
        for running_client in running_group.clients
        for client_row in _client_rows(group, running_client)
    ]
    has_pop_queues = any(
        running_client.info is not None and running_client.info.pop_queues
        for running_client in running_group.clients
    )
    return ResultRows(
        CONSUMER_STATUS_COLUMNS,
        client_rows,
        all_errors,
        status_notes,
        POP_TABLE_COLUMNS if has_pop_queues else CONSUMER_STATUS_TABLE_COLUMNS,
    )


def _describe_unasked(running_clients: Iterable[RunningClient]) -> list[str]:
    """Return a line about the clients whose state no server can ask for."""
    unasked_ids = [
        running_client.client.client_id
        for running_client in running_clients
        if running_client.info is None and running_client.error is None
    ]
    if not unasked_ids:
        return []
    return [f"gRPC clients and clients behind proxies report no state: {', '.join(unasked_ids)}"]


def _format_stack(running_client: RunningClient) -> str:
    stack_text = running_client.info.jstack if running_client.info else None
    return f"# {running_client.client.client_id}\n{stack_text or 'this client reports no stacks'}"


def _client_rows(group: str, running_client: RunningClient) -> list[ResultRow]:
    group_client, client_info = running_client.client, running_client.info
    common_cells: dict[str, object] = {
        "group": group,
        "clientId": group_client.client_id,
        "version": group_client.version,
        "language": group_client.language,
        "protocol": group_client.protocol,
        "proxyAddrs": group_client.proxy_addrs,
    }
    if client_info is None:
        return [{**common_cells, "error": running_client.error and error_text(running_client.error)}]
    common_cells["startTime"] = format_utc(client_info.started_at_ms)
    common_cells["subscriptions"] = {
        topic_subscription.topic: str(topic_subscription) for topic_subscription in client_info.subscriptions
    }
    common_cells["properties"] = client_info.properties
    queue_rows: list[ResultRow] = [
        {
            **common_cells,
            **_queue_cells(running_queue.queue),
            "commitOffset": running_queue.commit_offset,
            "cachedMsgCount": running_queue.cached_msg_count,
            "cachedMsgSizeInMiB": running_queue.cached_msg_size_in_mib,
            "lastPullTime": format_utc(running_queue.last_pull_ms),
            "lastConsumeTime": format_utc(running_queue.last_consume_ms),
            "locked": running_queue.is_locked,
            "dropped": running_queue.is_dropped,
            **_rate_cells(client_info.status_by_topic.get(running_queue.queue.topic)),
        }
        for running_queue in client_info.queues
    ]
    queue_rows += [
        {
            **common_cells,
            **_queue_cells(pop_queue.queue),
            "waitAckCount": pop_queue.wait_ack_count,
            "lastPopTime": format_utc(pop_queue.last_pop_ms),
            "dropped": pop_queue.is_dropped,
            **_rate_cells(client_info.status_by_topic.get(pop_queue.queue.topic)),
        }
        for pop_queue in client_info.pop_queues
    ]
    return queue_rows or [common_cells]


def _queue_cells(message_queue: MessageQueue) -> ResultRow:
    queue_id = None if message_queue.queue_id == ALL_QUEUES else message_queue.queue_id
    return {"topic": message_queue.topic, "brokerName": message_queue.broker_name, "queueId": queue_id}


def _rate_cells(consume_status: ConsumeStatus | None) -> ResultRow:
    """Rates of the whole topic in this client; clients do not report them by queue."""
    if consume_status is None:
        return {}
    return {
        "consumeOKTPS": consume_status.consume_ok_tps,
        "consumeFailedTPS": consume_status.consume_failed_tps,
        "consumeRT": to_fine_millis(consume_status.consume_rt),
        "pullTPS": consume_status.pull_tps,
        "pullRT": to_fine_millis(consume_status.pull_rt),
    }
