"""Owns consumerStatus, which shows the state that a group's clients report, and diagnoses the group."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from typer import Argument, Option

from nsadmin.client.consumers.client_runtime import (
    ALL_QUEUES,
    ConsumeStatus,
    PopQueue,
    RunningClient,
    RunningQueue,
)
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.results import error_text
from nsadmin.client.wall_clock import time
from nsadmin.command_line.broker_targets import find_broker_addr
from nsadmin.command_line.declarations import Each, Flags, command
from nsadmin.commands.columns.brokers import BROKER_NAME, VERSION
from nsadmin.commands.columns.consumers import CLIENT_ID, GROUP, LANGUAGE, PROTOCOL, PROXY_ADDRS
from nsadmin.commands.columns.servers import ERROR, failure_notes
from nsadmin.commands.columns.topics import QUEUE_ID, TOPIC
from nsadmin.commands.consumers.consumer_progress import SUBSCRIPTIONS, AskedClusterOption, proxy_notes
from nsadmin.console.output import Column, Columns, ResultRows, of_part
from nsadmin.console.output.quantities import to_fine_millis
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.phrases import all_do
from nsadmin.console.session import Session


class ClientQueue(NamedTuple):
    """A row: a client with a queue that it pulls or pops from, or without any."""

    client: RunningClient
    pulled: RunningQueue | None = None
    popped: PopQueue | None = None

    @property
    def queue(self) -> MessageQueue | None:
        queue = self.pulled or self.popped
        return queue and queue.queue

    @property
    def is_dropped(self) -> bool | None:
        queue = self.pulled or self.popped
        return queue and queue.is_dropped

    @property
    def status(self) -> ConsumeStatus | None:
        """Rates of the whole topic in this client; clients do not report them by queue."""
        info = self.client.info
        return info.status_by_topic.get(self.queue.topic) if info and self.queue else None


PULL_COLUMNS: Columns[RunningQueue] = (
    Column("consumerOffset", "offset up to which the client has consumed", lambda q: q.consumer_offset),
    Column(
        "cachedMsgCount",
        "messages that the client has fetched and not consumed",
        lambda q: q.cached_msg_count,
    ),
    Column(
        "cachedMsgSizeInMiB",
        "size of the fetched messages, in MiB",
        lambda q: q.cached_msg_size_in_mib,
        wide=True,
    ),
    Column(
        "lastPullTime",
        "when the client last requested messages of the queue (UTC)",
        lambda q: format_utc(q.last_pull_ms),
    ),
    Column(
        "lastConsumeTime",
        "when the client last consumed from the queue (UTC)",
        lambda q: format_utc(q.last_consume_ms),
    ),
)
POP_COLUMNS: Columns[PopQueue] = (
    Column(
        "waitAckCount",
        "messages that the client has popped and not acknowledged",
        lambda q: q.wait_ack_count,
        wide=True,
    ),
    Column(
        "lastPopTime",
        "when the client last popped messages (UTC)",
        lambda q: format_utc(q.last_pop_ms),
        wide=True,
    ),
)
LOCKED: Column[RunningQueue] = Column(
    "locked", "whether the client has locked the queue, to consume in order", lambda q: q.is_locked
)
RATE_COLUMNS: Columns[ConsumeStatus] = (
    Column(
        "consumeOKTPS",
        "messages per second that the client consumed, of the topic",
        lambda s: s.consume_ok_tps,
    ),
    Column(
        "consumeFailedTPS",
        "messages per second that the client failed to consume, of the topic",
        lambda s: s.consume_failed_tps,
    ),
    Column(
        "consumeRT",
        "ms that the client needs to consume a message, of the topic",
        lambda s: to_fine_millis(s.consume_rt),
    ),
    Column(
        "pullTPS",
        "messages per second that the client fetches, of the topic",
        lambda s: s.pull_tps,
        wide=True,
    ),
    Column(
        "pullRT",
        "ms that the client needs to fetch messages, of the topic",
        lambda s: to_fine_millis(s.pull_rt),
        wide=True,
    ),
)
STATUS_COLUMNS: Columns[ClientQueue] = (
    GROUP.in_wide(),
    *of_part(
        lambda r: r.client.client,
        (CLIENT_ID, *(c.in_wide() for c in (VERSION, LANGUAGE, PROTOCOL, PROXY_ADDRS))),
    ),
    *of_part(
        lambda r: r.client.info,
        (
            Column(
                "startTime",
                "when the client was started (UTC)",
                lambda i: format_utc(i.started_at_ms),
                wide=True,
            ),
        ),
    ),
    *of_part(
        lambda r: r.queue,
        (TOPIC, BROKER_NAME, QUEUE_ID.of(lambda q: None if q.queue_id == ALL_QUEUES else q.queue_id)),
    ),
    *of_part(lambda r: r.pulled, PULL_COLUMNS),
    *of_part(lambda r: r.popped, POP_COLUMNS),
    *of_part(lambda r: r.pulled, (LOCKED,)),
    Column("dropped", "whether the client has released the queue", lambda r: r.is_dropped, wide=True),
    *of_part(lambda r: r.status, RATE_COLUMNS),
    *of_part(
        lambda r: r.client.info,
        (
            SUBSCRIPTIONS.in_wide(),
            Column("properties", "properties by name", lambda i: i.properties, wide=True),
        ),
    ),
    *of_part(lambda r: r.client, (ERROR,)),
)


@command(columns=STATUS_COLUMNS)
def consumer_status(
    session: Session,
    group: Annotated[
        str,
        Argument(metavar="GROUP", help="A consumer group."),
        Flags("-g", "--consumerGroup"),
        Each("consumer group"),
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
    reports queues without an owner and queues with several owners, if all clients answered. If no
    subscription differs, it says so.

    Each client of a broadcasting group keeps its own offsets: consumerOffset is that of the client.

    gRPC clients and clients behind proxies cannot report their state. Their rows have no queues.

    Times are in UTC. The columns with RT are durations in ms. The columns with TPS are messages per second,
    for the whole topic in that client. JSON also has each client's properties. A client that pops messages
    has a row for each broker. If the client pops from any queue, the row has no queueId.

    Examples:
        # State and problems of a group's clients
        nsadmin consumerStatus warehouse
        # Do all clients of a group have the same subscriptions? A line on stderr says so
        nsadmin consumerStatus warehouse --limit 1
        # The threads of one client, with the stack trace of each (thread dump, jstack)
        nsadmin consumerStatus warehouse -i 10.0.226.10@warehouse-1 -s
    """
    broker_addr = None if broker_text is None else find_broker_addr(session, broker_text)
    running_group = session.admin.client_runtime.get_group(
        group, client_id, cluster_name=cluster_name, broker_addr=broker_addr, with_jstack=show_stacks
    )
    clients = running_group.clients
    errors = [
        *running_group.errors.values(),
        *running_group.proxy_errors.values(),
        *(c.error for c in clients),
    ]
    notes = [
        *failure_notes(running_group.errors.items()),
        *(f"client {c.client.client_id}: {error_text(c.error)}" for c in clients if c.error is not None),
        *proxy_notes(running_group.proxy_errors),
    ]
    unasked_ids = [c.client.client_id for c in clients if c.info is None and c.error is None]
    if unasked_ids:
        notes.append(f"gRPC clients and clients behind proxies report no state: {', '.join(unasked_ids)}")
    if show_stacks and not any(errors):
        return "\n".join(_format_stack(c) for c in clients)
    if client_id is None and broker_addr is None and cluster_name is None:
        notes += session.admin.client_runtime.find_problems(running_group, int(time() * 1000))
        notes += _confirm_same_subscriptions(clients)
    queues = [queue for c in clients for queue in _list_queues(c)]
    rows = ResultRows.from_records(STATUS_COLUMNS, queues, errors, notes, common={GROUP: group})
    if any(queue.popped for queue in queues):
        assert rows.table_columns is not None
        *shown, error = rows.table_columns
        return rows._replace(table_columns=[*shown, *(c.key for c in POP_COLUMNS), error])
    return rows


def _confirm_same_subscriptions(clients: Sequence[RunningClient]) -> list[str]:
    subscriptions = [c.info.subscriptions for c in clients if c.info is not None]
    if len(subscriptions) < 2 or any(other != subscriptions[0] for other in subscriptions):
        return []
    if len(subscriptions) < len(clients):
        return [f"the {len(subscriptions)} clients that report their state have the same subscriptions"]
    return [f"{all_do(len(clients), 'client', 'have')} the same subscriptions"]


def _format_stack(client: RunningClient) -> str:
    stack = client.info.jstack if client.info else None
    return f"# {client.client.client_id}\n{stack or 'this client reports no stacks'}"


def _list_queues(client: RunningClient) -> list[ClientQueue]:
    info = client.info
    queues = [
        *(ClientQueue(client, pulled=q) for q in (info.queues if info else ())),
        *(ClientQueue(client, popped=q) for q in (info.pop_queues if info else ())),
    ]
    return queues or [ClientQueue(client)]
