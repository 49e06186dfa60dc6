"""Owns consumerProgress, consumerConnection and brokerConsumeStats: the lag and the clients of groups."""

from collections.abc import Iterable, Mapping
from typing import Annotated

from namesrv_core.errors import RocketMQError
from nsadmin.client import ServerResult
from nsadmin.client.consumers import LONG_TIMEOUT, ConsumeStats, GroupProgress, QueueLag
from nsadmin.client.queues import MessageQueue
from nsadmin.client.results import error_text
from nsadmin.client.running import ALL_QUEUES
from nsadmin.commands import values
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.targets import broker_addr
from nsadmin.commands.times import utc
from nsadmin.commands.units import counted
from nsadmin.diagnostics import UsageError
from nsadmin.output import Row, Rows
from nsadmin.session import Session

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
    "brokerAddr",
    "error",
)
LAG_IN_TABLE = (
    "topic", "brokerName", "queueId", "brokerOffset", "consumerOffset", "diff", "inflight", "lastTime",
    "error",
)  # fmt: skip
GROUP_COLUMNS = (
    "group", "count", "version", "consumeType", "messageModel", "tps", "diffTotal", "inflightTotal", "error"
)  # fmt: skip
CONNECTION_COLUMNS = (
    "group",
    "clientId",
    "clientAddr",
    "language",
    "version",
    "consumeType",
    "messageModel",
    "consumeFromWhere",
    "subscriptions",
    "brokerAddrs",
)
STATS_COLUMNS = (
    "topic",
    "group",
    "brokerName",
    "queueId",
    "brokerOffset",
    "consumerOffset",
    "diff",
    "lastTime",
)

Cluster = Annotated[
    str | None, Option("-c", "--cluster", metavar="CLUSTER", help="Ask only the brokers of this cluster.")
]


@shows(LAG_COLUMNS, GROUP_COLUMNS)
def consumer_progress(
    session: Session,
    group: Annotated[
        str | None, Word(("-g", "--groupName"), "GROUP", "A consumer group; all if left out.", required=False)
    ],
    topic: Annotated[
        str | None, Option("-t", "--topicName", metavar="TOPIC", help="Only this topic of the group.")
    ] = None,
    show_client: Annotated[
        str | None,
        Option("-s", "--showClientIP", metavar="true|false", help="Ask the clients whose queue is whose."),
    ] = None,
    cluster: Cluster = None,
    system: Annotated[
        bool, Option("--system", help="Without GROUP: also the groups that brokers make for themselves.")
    ] = False,
) -> Rows:
    """Show how far a consumer group is behind on each queue, or one line for each group that brokers know.

    Every broker is asked, whatever routes say. diff is what is not consumed yet, inflight (5.1 and later)
    what was handed out and not acknowledged, both in messages; lastTime is when the last consumed message
    was stored, in UTC. A queue where the group never committed an offset has none
    and no diff: where it would start is for its clients to say. The sums leave such queues out.

    Without GROUP, count is how many clients are connected, tps the messages consumed per second.

    Examples:
        # All groups, those that are furthest behind first
        nsadmin consumerProgress --sort -diffTotal
        # How far one group is behind, queue by queue
        nsadmin consumerProgress warehouse
        # Only one topic, with the client that has each queue
        nsadmin consumerProgress warehouse -t payments -s true
    """
    if group is None:
        if topic is not None:
            raise UsageError("consumerProgress: -t TOPIC needs a group: type nsadmin consumerProgress GROUP")
        return _all_groups(session, cluster, system)
    with_clients = values.flag("consumerProgress", "-s", show_client) or False
    results = session.admin.consumers.progress(group, topic, cluster)
    owners = session.admin.running.owners(group, cluster) if with_clients else {}
    rows = [row for result in results for row in _lag_rows(group, result, owners)]
    in_table = (*LAG_IN_TABLE[:-1], "clientId", "error") if with_clients else LAG_IN_TABLE
    errors = [result.error for result in results]
    tps = sum(result.result.consume_tps for result in results if result.result is not None)
    notes = _progress_notes(session, results)
    return Rows(LAG_COLUMNS, rows, errors, notes, in_table, {"consumeTps": tps})


def _owner(queue: MessageQueue, owners: Mapping[MessageQueue, str]) -> str | None:
    return owners.get(queue) or owners.get(queue._replace(queue_id=ALL_QUEUES))


def _lag_rows(
    group: str, result: ServerResult[ConsumeStats], owners: Mapping[MessageQueue, str]
) -> list[Row]:
    place = {"group": group, "brokerAddr": result.addr}
    if result.result is None:
        return [{**place, "error": result.error and error_text(result.error)}]
    return [
        {**place, **_lag(lag), "inflight": lag.inflight, "clientId": _owner(lag.queue, owners)}
        for lag in result.result.queues
    ]


def _lag(lag: QueueLag) -> dict[str, object]:
    return {
        "topic": lag.queue.topic,
        "group": lag.group,
        "brokerName": lag.queue.broker_name,
        "queueId": lag.queue.queue_id,
        "brokerOffset": lag.broker_offset,
        "consumerOffset": lag.consumer_offset,
        "diff": lag.diff,
        "lastTime": utc(lag.last_timestamp),
    }


def _progress_notes(session: Session, results: list[ServerResult[ConsumeStats]]) -> list[str]:
    """The brokers that failed and, under a table, the totals."""
    notes = _failures((result.addr, result.error) for result in results)
    told = [result.result for result in results if result.result is not None]
    lags = [lag for stats in told for lag in stats.queues]
    if told and session.options.style.format == "table":
        never = sum(lag.consumer_offset is None for lag in lags)
        notes.append(
            f"consume TPS {sum(stats.consume_tps for stats in told):.2f}, "
            f"diff total {sum(lag.diff or 0 for lag in lags)}, "
            f"inflight total {sum(lag.inflight or 0 for lag in lags)}"
            + (f"; {never} queues without a committed offset not counted" if never else "")
        )
    return notes


def _failures(results: Iterable[tuple[str, RocketMQError | None]]) -> list[str]:
    return [f"broker {addr}: {error_text(error)}" for addr, error in results if error is not None]


def _all_groups(session: Session, cluster: str | None, system: bool) -> Rows:
    found, brokers = session.admin.consumers.all_progress(cluster, system=system)
    rows = [_group_row(progress) for progress in found]
    failed = sum(progress.error is not None for progress in found)
    notes = _failures(brokers.items())
    if failed:
        notes.append(f"{failed} of {len(found)} groups are not told in full, see their errors")
    errors = [*brokers.values(), *(progress.error for progress in found)]
    return Rows(GROUP_COLUMNS, rows, errors, notes)


def _group_row(progress: GroupProgress) -> Row:
    clients = progress.connections.clients
    versions = sorted({client.version for client in clients if client.version})
    return {
        "group": progress.group,
        "count": len(clients) if clients or progress.error is None else None,
        "version": ",".join(versions) or None,
        "consumeType": progress.connections.consume_type,
        "messageModel": progress.connections.message_model,
        "tps": progress.consume_tps,
        "diffTotal": progress.diff_total,
        "inflightTotal": progress.inflight_total,
        "error": progress.error and error_text(progress.error),
    }


@shows(CONNECTION_COLUMNS)
def consumer_connection(
    session: Session,
    group: Annotated[str, Word(("-g", "--consumerGroup"), "GROUP", "A consumer group.")],
    broker: Annotated[
        str | None,
        Option("-b", "--brokerAddr", metavar="ADDR", help="Ask only this broker: address, NAME or NAME/ID."),
    ] = None,
    cluster: Cluster = None,
) -> Rows:
    """Show the connected clients of a consumer group and what they subscribe to, of all brokers together.

    A broker knows only the clients that are connected to it: every master and slave is asked, and
    brokerAddrs says where each client was found. The subscriptions are the group's, as the brokers keep
    one for all of its clients; where two brokers have different ones, a line on stderr says so.

    Examples:
        # Clients of a group, and what they subscribe to
        nsadmin consumerConnection warehouse
    """
    addr = None if broker is None else broker_addr(session, broker)
    found = session.admin.consumers.connections(group, cluster, addr)
    subscriptions = {item.topic: str(item) for item in found.subscriptions}
    rows: list[Row] = [
        {
            "group": group,
            "clientId": client.client_id,
            "clientAddr": client.client_addr,
            "language": client.language,
            "version": client.version,
            "consumeType": found.consume_type,
            "messageModel": found.message_model,
            "consumeFromWhere": found.consume_from_where,
            "subscriptions": subscriptions,
            "brokerAddrs": client.broker_addrs,
        }
        for client in found.clients
    ]
    notes = [*_failures(found.errors.items()), *found.disagreements]
    return Rows(CONNECTION_COLUMNS, rows, list(found.errors.values()), notes, CONNECTION_COLUMNS[1:])


@shows(STATS_COLUMNS)
def broker_consume_stats(
    session: Session,
    broker: Annotated[str, Word(("-b", "--brokerAddr"), "ADDR", "One broker: address, NAME or NAME/ID.")],
    timeout_millis: Annotated[
        int, Option("-t", "--timeoutMillis", metavar="MS", help="How long the broker may take.")
    ] = int(LONG_TIMEOUT * 1000),
    level: Annotated[
        int, Option("-l", "--level", metavar="DIFF", help="Only queues that are this far behind.")
    ] = 0,
    is_order: Annotated[
        str | None,
        Option("-o", "--order", metavar="true|false", help="true: only ordered topics."),
    ] = None,
) -> Rows:
    """Show how far every consumer group is behind on every queue of one broker, which is hard work for it.

    Queues where a group never committed an offset have no diff, and are left out where -l asks for more
    than 0.

    Examples:
        # All groups on one broker
        nsadmin brokerConsumeStats 127.0.0.1:10911
        # Only queues that are 10 messages or more behind
        nsadmin brokerConsumeStats 127.0.0.1:10911 -l 10
    """
    if timeout_millis <= 0:
        raise UsageError(f"brokerConsumeStats: -t {timeout_millis} cannot be: give milliseconds, more than 0")
    ordered = values.flag("brokerConsumeStats", "-o", is_order) or False
    lags = session.admin.consumers.broker_stats(
        broker_addr(session, broker), is_order=ordered, timeout=timeout_millis / 1000
    )
    rows = [_lag(lag) for lag in lags if level <= 0 or (lag.diff is not None and lag.diff >= level)]
    behind = sum(lag.diff or 0 for lag in lags)
    return Rows(STATS_COLUMNS, rows, (), [f"{counted(behind, 'message')} behind in all"])
