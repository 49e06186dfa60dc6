"""Owns replicaDiff, which shows what slaves lack or have differently from their master."""

from collections.abc import Sequence
from typing import Annotated

from typer import Option

from namesrv_core.errors import RocketMQError
from nsadmin.client.redaction import is_secret_name
from nsadmin.client.results import NotFound
from nsadmin.command_line.declarations import command
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.quantities import count_noun
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session
from nsadmin.operations.inventory.keeper import open_inventory
from nsadmin.operations.replicas.comparer import ReplicaComparer
from nsadmin.operations.replicas.comparison import describe_difference
from nsadmin.operations.replicas.memory_store import open_replica_memory
from nsadmin.operations.replicas.records import (
    Item,
    JudgedDifference,
    ReplicaComparison,
    ReplicaDifference,
)

REPLICA_DIFF_COLUMNS = (
    "clusterName", "brokerName", "brokerId", "brokerAddr", "kind", "name", "state", "differs", "reason",
    "since", "master", "slave",
)  # fmt: skip
_TABLE_COLUMNS = ("brokerName", "brokerId", "kind", "name", "state", "differs", "reason")

SyncIntervalOption = Annotated[
    float | None,
    Option(
        "--sync-interval",
        metavar="SECONDS",
        help="Time between two copies by a slave. Default: 70 for 5.x, 10 for 4.x.",
        min=0,
    ),
]


class ReplicaDriftError(RocketMQError):
    """A slave differs from its master in a way that the next copies do not remove."""


@command(columns=REPLICA_DIFF_COLUMNS, examples=("elsewhere", "slaves of the lab are equal to their masters"))
def replica_diff(
    session: Session,
    cluster_name: Annotated[
        str | None, Option("-c", "--clusterName", metavar="CLUSTER", help="Only the brokers of this cluster.")
    ] = None,
    broker_name: Annotated[
        str | None, Option("-b", "--brokerName", metavar="NAME", help="Only the replicas of this broker.")
    ] = None,
    settle_seconds: Annotated[
        float,
        Option(
            "--settle",
            metavar="SECONDS",
            help="How long to wait for slaves that may still copy a difference.",
            min=0,
        ),
    ] = 0.0,
    interval_seconds: SyncIntervalOption = None,
    include_lag: Annotated[
        bool, Option("--lag", help="Also list differences that the next copy may remove.")
    ] = False,
) -> ResultRows:
    """Show what slaves lack or have differently from their master.

    nsadmin compares topics, groups, offsets, consume modes, epochs, users, ACLs and settings. A difference
    is lag while the slave may still copy it, and drift after two sync intervals. If both tables have the same
    version, a difference is drift at once, because the slave then never copies the table. nsadmin remembers
    differences between two runs. It skips settings that name a server or its folders.

    The kind commitLog is a slave that copies no messages: its master has no replication connection of it, or
    its commit log stands still while the master's grows.

    The exit code is 1 for drift, 0 for lag, and 3 if a broker does not answer.

    Examples:
        # Compare all slaves with their masters
        nsadmin replicaDiff
        # Also list items that slaves have not copied yet
        nsadmin replicaDiff -c cluster-a --lag
        # Topics and groups that a slave lacks, for a script
        nsadmin replicaDiff --filter 'differs=missing on the slave' --output csv
    """
    comparer = ReplicaComparer(
        session.admin,
        open_replica_memory(open_inventory(session)),
        cluster_name,
        broker_name,
        interval_seconds,
    )
    comparison = comparer.compare_until_settled(
        settle_seconds,
        lambda early_comparison: session.write_remark(_describe_wait(early_comparison)),
    )
    if not comparison.slave_count and not comparison.failure_lines:
        raise NotFound(_describe_missing_slaves(cluster_name, broker_name))
    return ResultRows(
        REPLICA_DIFF_COLUMNS,
        list(map(_make_row, comparison.differences if include_lag else comparison.drift)),
        _list_errors(comparison),
        [*comparison.failure_lines, _summarize_comparison(comparison)],
        _TABLE_COLUMNS,
    )


def _describe_missing_slaves(cluster_name: str | None, broker_name: str | None) -> str:
    scope_text = f'broker "{broker_name}"' if broker_name else "broker"
    if cluster_name:
        scope_text += f' in cluster "{cluster_name}"'
    return f"no {scope_text} with a slave is registered: nothing was compared"


def _describe_wait(comparison: ReplicaComparison) -> str:
    return (
        f"{count_noun(len(comparison.lag), 'difference')} may disappear with the next copy: comparing again"
    )


def _make_row(judged_difference: JudgedDifference) -> ResultRow:
    difference = judged_difference.difference
    return {
        "clusterName": difference.cluster_name,
        "brokerName": difference.broker_name,
        "brokerId": difference.slave.broker_id,
        "brokerAddr": difference.slave.broker_addr,
        "kind": difference.kind.value,
        "name": difference.item_name,
        "state": judged_difference.state.value,
        "differs": describe_difference(difference),
        "reason": judged_difference.reason,
        "since": format_utc(judged_difference.since_ms),
        "master": _item_cell(difference, difference.master_item),
        "slave": _item_cell(difference, difference.slave_item),
    }


def _item_cell(difference: ReplicaDifference, item: Item | None) -> object:
    """Return an item without secrets; a setting as its text."""
    if item is None:
        return None
    if "" in item:
        return None if is_secret_name(difference.item_name) else item[""]
    return {str(field): value for field, value in item.items() if not is_secret_name(str(field))}


def _list_errors(comparison: ReplicaComparison) -> Sequence[RocketMQError | None]:
    if comparison.drift:
        return [ReplicaDriftError("slaves differ from their master")]
    return [None, *(RocketMQError(failure_line) for failure_line in comparison.failure_lines)]


def _summarize_comparison(comparison: ReplicaComparison) -> str:
    slave_text = count_noun(comparison.slave_count, "slave")
    if comparison.unread_reasons:
        slave_text += f" ({len(comparison.unread_reasons)} not compared, or not completely)"
    if not comparison.differences:
        return f"no differences on {slave_text}"
    return (
        f"{count_noun(len(comparison.differences), 'difference')} on {slave_text}: "
        f"{len(comparison.drift)} drift, {len(comparison.lag)} lag"
    )
