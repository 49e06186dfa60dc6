"""Owns orderConfCheck, which compares order configurations with the existing topics and brokers."""

from collections.abc import Sequence
from typing import Annotated

from typer import Argument

from namesrv_core.errors import RocketMQError
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE
from nsadmin.client.results import error_text
from nsadmin.client.snapshots import ClusterSnapshot, take_server_snapshots
from nsadmin.client.wall_clock import time
from nsadmin.command_line.declarations import Flags, command
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.quantities import count_noun
from nsadmin.console.session import Session
from nsadmin.operations.order_conf_check import OrderConfProblem, check_order_confs

ORDER_PROBLEM_COLUMNS = ("topic", "severity", "kind", "problem", "orderConf", "servers")
ORDER_PROBLEM_TABLE_COLUMNS = ("topic", "severity", "problem", "servers")


class BrokenOrderConfError(RocketMQError):
    """An order configuration that makes sends fail, or loses the order of messages."""


@command(columns=ORDER_PROBLEM_COLUMNS)
def order_conf_check(
    session: Session,
    topic: Annotated[str | None, Argument(metavar="TOPIC", help="Only this topic."), Flags("-t", "--topic")],
) -> ResultRows:
    """Check whether the brokers and queues in order configurations exist, on each name server.

    Clients send by the order configuration, independent of the route. So sends fail if it names a missing
    broker. An `error` means that sends fail or that the order is lost. A `warning` may be intended. The exit
    code is 1 for an error, and 3 if a name server did not answer.

    Examples:
        # All topics
        nsadmin orderConfCheck
        # One topic, as JSON
        nsadmin orderConfCheck orders --json
    """
    snapshot_results = take_server_snapshots(session.admin, int(time() * 1000))
    server_snapshots = [
        server_snapshot for _, server_snapshot, _ in snapshot_results if server_snapshot is not None
    ]
    order_problems = [
        order_problem
        for order_problem in check_order_confs(server_snapshots)
        if topic is None or order_problem.topic in (topic, None)
    ]
    grave_count = sum(order_problem.is_grave for order_problem in order_problems)
    exit_errors: list[RocketMQError | None] = (
        [BrokenOrderConfError("errors")] if grave_count else [error for _, _, error in snapshot_results]
    )
    check_notes = [
        f"name server {namesrv_addr}: {error_text(error)}"
        for namesrv_addr, _, error in snapshot_results
        if error is not None
    ]
    if server_snapshots:
        warning_count = len(order_problems) - grave_count
        check_notes.append(
            f"{count_noun(_count_order_confs(server_snapshots, topic), 'order configuration')}, "
            f"{count_noun(grave_count, 'error')}, {count_noun(warning_count, 'warning')}"
        )
    return ResultRows(
        ORDER_PROBLEM_COLUMNS,
        [_make_problem_row(order_problem, server_snapshots) for order_problem in order_problems],
        exit_errors,
        check_notes,
        ORDER_PROBLEM_TABLE_COLUMNS,
    )


def _count_order_confs(server_snapshots: Sequence[ClusterSnapshot], topic: str | None) -> int:
    """Count the topics that have an order configuration on a name server; only `topic`, if it is given."""
    return len(
        {
            topic_name
            for server_snapshot in server_snapshots
            for topic_name in server_snapshot.kv.get(ORDER_CONF_NAMESPACE, {})
            if topic in (None, topic_name)
        }
    )


def _make_problem_row(
    order_problem: OrderConfProblem, server_snapshots: Sequence[ClusterSnapshot]
) -> ResultRow:
    conf_texts = (
        server_snapshot.kv.get(ORDER_CONF_NAMESPACE, {}).get(order_problem.topic or "")
        for server_snapshot in server_snapshots
    )
    return {
        "topic": order_problem.topic,
        "severity": "error" if order_problem.is_grave else "warning",
        "kind": order_problem.problem_kind,
        "problem": order_problem.problem_text,
        "orderConf": next(filter(None, conf_texts), None),
        "servers": list(order_problem.namesrv_addrs),
    }
