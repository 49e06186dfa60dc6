"""Owns consumerStatus, which shows the state that a group's clients report, and diagnoses the group."""

from time import time
from typing import Annotated

from nsadmin.client.queues import MessageQueue
from nsadmin.client.results import error_text
from nsadmin.client.running import ALL_QUEUES, ConsumeStatus, RunningClient
from nsadmin.commands.consumers import Cluster
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.targets import broker_addr
from nsadmin.commands.times import utc
from nsadmin.commands.units import fine_millis
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = (
    "group",
    "clientId",
    "version",
    "language",
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
IN_TABLE = (
    "clientId", "topic", "brokerName", "queueId", "commitOffset", "cachedMsgCount", "lastPullTime",
    "lastConsumeTime", "locked", "consumeOKTPS", "consumeFailedTPS", "consumeRT", "error",
)  # fmt: skip
POPS_IN_TABLE = (*IN_TABLE[:-1], "waitAckCount", "lastPopTime", "error")


@shows(COLUMNS)
def consumer_status(
    session: Session,
    group: Annotated[str, Word(("-g", "--consumerGroup"), "GROUP", "A consumer group.")],
    client_id: Annotated[
        str | None, Option("-i", "--clientId", metavar="ID", help="Only this client of it.")
    ] = None,
    broker: Annotated[
        str | None, Option("-b", "--brokerAddr", metavar="ADDR", help="Only clients of the broker there.")
    ] = None,
    jstack: Annotated[
        bool, Option("-s", "--jstack", help="The stacks of the clients' threads, instead of rows.")
    ] = False,
    cluster: Cluster = None,
) -> Rows | str:
    """Ask every client of a consumer group for the queues it has, and say on stderr what is wrong.

    Said are clients that subscribe differently; queues that nobody or more than one client consumes (push
    consumers in clustering mode, if all clients were asked); queues that a client cannot lock though it
    consumes in order; messages that lie in a client for more than a minute. Times are in UTC, RTs in ms,
    TPS per second and for the whole topic in that client. JSON has each client's properties too. A client
    that pops messages has a row for each broker, without a queueId where it takes those of any queue.

    Examples:
        # What the clients of a group tell, and what is wrong with it
        nsadmin consumerStatus warehouse
        # The threads of one client
        nsadmin consumerStatus warehouse -i 10.0.226.10@warehouse-1 -s
    """
    addr = None if broker is None else broker_addr(session, broker)
    found = session.admin.running.group(
        group, client_id, cluster_name=cluster, broker_addr=addr, jstack=jstack
    )
    failures = [*found.errors.values(), *(item.error for item in found.clients)]
    notes = [
        f"broker {addr}: {error_text(error)}" for addr, error in found.errors.items() if error is not None
    ]
    notes += [
        f"client {item.client.client_id}: {error_text(item.error)}"
        for item in found.clients
        if item.error is not None
    ]
    if jstack and not any(failures):
        return "\n".join(_stack(item) for item in found.clients)
    if client_id is None and addr is None and cluster is None:
        notes += session.admin.running.problems(found, int(time() * 1000))
    rows = [row for item in found.clients for row in _rows(group, item)]
    pops = any(item.info is not None and item.info.pop_queues for item in found.clients)
    return Rows(COLUMNS, rows, failures, notes, POPS_IN_TABLE if pops else IN_TABLE)


def _stack(item: RunningClient) -> str:
    stack = item.info.jstack if item.info else None
    return f"# {item.client.client_id}\n{stack or 'this client tells no stacks'}"


def _rows(group: str, item: RunningClient) -> list[Row]:
    client, info = item.client, item.info
    common: dict[str, object] = {
        "group": group,
        "clientId": client.client_id,
        "version": client.version,
        "language": client.language,
    }
    if info is None:
        return [{**common, "error": item.error and error_text(item.error)}]
    common["startTime"] = utc(info.start_time)
    common["subscriptions"] = {wanted.topic: str(wanted) for wanted in info.subscriptions}
    common["properties"] = info.properties
    rows: list[Row] = [
        {
            **common,
            **_place(held.queue),
            "commitOffset": held.commit_offset,
            "cachedMsgCount": held.cached_msg_count,
            "cachedMsgSizeInMiB": held.cached_msg_size_in_mib,
            "lastPullTime": utc(held.last_pull),
            "lastConsumeTime": utc(held.last_consume),
            "locked": held.locked,
            "dropped": held.dropped,
            **_rates(info.topics.get(held.queue.topic)),
        }
        for held in info.queues
    ]
    rows += [
        {
            **common,
            **_place(popped.queue),
            "waitAckCount": popped.wait_ack_count,
            "lastPopTime": utc(popped.last_pop),
            "dropped": popped.dropped,
            **_rates(info.topics.get(popped.queue.topic)),
        }
        for popped in info.pop_queues
    ]
    return rows or [common]


def _place(queue: MessageQueue) -> Row:
    queue_id = None if queue.queue_id == ALL_QUEUES else queue.queue_id
    return {"topic": queue.topic, "brokerName": queue.broker_name, "queueId": queue_id}


def _rates(status: ConsumeStatus | None) -> Row:
    """Rates of the whole topic in this client; clients do not report them by queue."""
    if status is None:
        return {}
    return {
        "consumeOKTPS": status.consume_ok_tps,
        "consumeFailedTPS": status.consume_failed_tps,
        "consumeRT": fine_millis(status.consume_rt),
        "pullTPS": status.pull_tps,
        "pullRT": fine_millis(status.pull_rt),
    }
