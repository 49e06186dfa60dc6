"""Owns orderConfCheck, which compares order configurations with the existing topics and brokers."""

from collections.abc import Sequence
from typing import Annotated

from typer import Argument

from namesrv_core.errors import RocketMQError
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE
from nsadmin.client.results import NotFound
from nsadmin.client.snapshots import ClusterSnapshot, take_server_snapshots
from nsadmin.client.wall_clock import time
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.servers import result_notes
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.console.output import Column, Columns, ResultRows
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session
from nsadmin.operations.order_conf_check import OrderConfProblem, check_order_confs

ORDER_PROBLEM_COLUMNS: Columns[tuple[OrderConfProblem, str | None]] = (
    TOPIC.means("name of the topic; null if the row is about all topics").of(lambda r: r[0].topic),
    Column(
        "severity",
        "error (sends fail, or the order is lost) or warning",
        lambda r: "error" if r[0].is_grave else "warning",
    ),
    Column(
        "kind",
        "the problem in one word, such as broker-gone or too-many-queues",
        lambda r: r[0].problem_kind,
        wide=True,
    ),
    Column("problem", "the problem in words", lambda r: r[0].problem_text),
    Column(
        "orderConf",
        "queues by broker name, from the first name server with an order configuration",
        lambda r: r[1],
        wide=True,
    ),
    Column("namesrvAddrs", "the name servers with the problem", lambda r: list(r[0].namesrv_addrs)),
)


class BrokenOrderConfError(RocketMQError):
    """An order configuration that makes sends fail, or loses the order of messages."""


@command(columns=ORDER_PROBLEM_COLUMNS)
def order_conf_check(
    session: Session,
    topic: Annotated[str | None, Argument(metavar="TOPIC", help="Only this topic."), Flags("-t", "--topic")],
) -> ResultRows:
    """Check whether the brokers and queues in order configurations exist, on each name server.

    Clients send by the order configuration, independent of the route. So sends fail if it names a missing
    broker. An `error` means that sends fail or that the order is lost. A `warning` may be intended. Nothing
    is an error on name servers without orderMessageEnable=true. The exit code is 1 for an error, and 3 if a
    name server did not answer.

    Examples:
        # All topics
        nsadmin orderConfCheck
        # One topic, as JSON
        nsadmin orderConfCheck orders --json
    """
    results = take_server_snapshots(session.admin, int(time() * 1000))
    snapshots = [r.result for r in results if r.result is not None]
    conf_count = _count_order_confs(snapshots, topic)
    has_none = topic is not None and not conf_count and all(r.error is None for r in results)
    if has_none and not any(topic in snapshot.topics for snapshot in snapshots):
        raise NotFound(f'no topic "{topic}"')
    problems = [
        (problem, _find_order_conf(snapshots, problem.topic))
        for problem in check_order_confs(snapshots)
        if topic is None or problem.topic in (topic, None)
    ]
    grave_count = sum(problem.is_grave for problem, _ in problems)
    errors: Sequence[RocketMQError | None] = (
        [BrokenOrderConfError("errors")] if grave_count else [r.error for r in results]
    )
    notes = result_notes(results, "name server")
    if has_none:
        notes.append(f'topic "{topic}" has no order configuration')
    elif snapshots:
        notes.append(
            f"{count_noun(conf_count, 'order configuration')}, "
            f"{count_noun(grave_count, 'error')}, {count_noun(len(problems) - grave_count, 'warning')}"
        )
    return ResultRows.from_records(ORDER_PROBLEM_COLUMNS, problems, errors, notes)


def _count_order_confs(snapshots: Sequence[ClusterSnapshot], topic: str | None) -> int:
    """Count the topics that have an order configuration on a name server; only `topic`, if it is given."""
    return len(
        {name for s in snapshots for name in s.kv.get(ORDER_CONF_NAMESPACE, {}) if topic in (None, name)}
    )


def _find_order_conf(snapshots: Sequence[ClusterSnapshot], topic: str | None) -> str | None:
    confs = (s.kv.get(ORDER_CONF_NAMESPACE, {}).get(topic or "") for s in snapshots)
    return next(filter(None, confs), None)
