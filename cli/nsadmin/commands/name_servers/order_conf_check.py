"""Owns orderConfCheck, which compares order configurations with the existing topics and brokers."""

from typing import Annotated

from namesrv_core.errors import RocketMQError
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE
from nsadmin.client.results import error_text
from nsadmin.client.snapshots import take_server_snapshots
from nsadmin.client.wall_clock import time
from nsadmin.command_line.declarations import Argument, declare_columns
from nsadmin.operations.order_conf_check import check_order_confs
from nsadmin.output import ResultRow, ResultRows
from nsadmin.output.quantities import count_noun
from nsadmin.session import Session

ORDER_PROBLEM_COLUMNS = ("topic", "severity", "kind", "problem", "orderConf", "servers")
ORDER_PROBLEM_TABLE_COLUMNS = ("topic", "severity", "problem", "servers")


class BrokenOrderConfError(RocketMQError):
    """An order configuration that makes sends fail, or loses the order of messages."""


@declare_columns(ORDER_PROBLEM_COLUMNS)
def order_conf_check(
    session: Session,
    topic: Annotated[str | None, Argument(("-t", "--topic"), "TOPIC", "Only this topic.", required=False)],
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
        problem_or_result.result
        for problem_or_result in snapshot_results
        if problem_or_result.result is not None
    ]
    order_problems = [
        problem_or_result
        for problem_or_result in check_order_confs(server_snapshots)
        if topic is None or problem_or_result.topic in (topic, None)
    ]
    problem_rows: list[ResultRow] = [
        {
            "topic": problem_or_result.topic,
            "severity": "error" if problem_or_result.is_grave else "warning",
            "kind": problem_or_result.problem_kind,
            "problem": problem_or_result.problem_text,
            "orderConf": next(
                (
                    conf_text
                    for server_snapshot in server_snapshots
                    if (
                        conf_text := server_snapshot.kv.get(ORDER_CONF_NAMESPACE, {}).get(
                            problem_or_result.topic or ""
                        )
                    )
                ),
                None,
            ),
            "servers": list(problem_or_result.namesrv_addrs),
        }
        for problem_or_result in order_problems
    ]
    grave_count = sum(problem_or_result.is_grave for problem_or_result in order_problems)
    exit_errors: list[RocketMQError | None] = (
        [BrokenOrderConfError("errors")]
        if grave_count
        else [problem_or_result.error for problem_or_result in snapshot_results]
    )
    check_notes = [
        f"name server {namesrv_addr}: {error_text(error)}"
        for namesrv_addr, _, error in snapshot_results
        if error is not None
    ]
    checked_topics = {
        topic_name
        for server_snapshot in server_snapshots
        for topic_name in server_snapshot.kv.get(ORDER_CONF_NAMESPACE, {})
        if topic in (None, topic_name)
    }
    if server_snapshots:
        check_notes.append(
            ", ".join(
                count_noun(*count_and_noun)
                for count_and_noun in (
                    (len(checked_topics), "order configuration"),
                    (grave_count, "error"),
                    (len(order_problems) - grave_count, "warning"),
                )
            )
        )
    return ResultRows(
        ORDER_PROBLEM_COLUMNS, problem_rows, exit_errors, check_notes, ORDER_PROBLEM_TABLE_COLUMNS
    )
