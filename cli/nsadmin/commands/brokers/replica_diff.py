"""Owns replicaDiff, which shows what slaves lack or have differently from their master."""

from collections.abc import Sequence
from typing import Annotated

from typer import Option

from namesrv_core.errors import RocketMQError
from nsadmin.client.redaction import is_secret_name
from nsadmin.client.results import NotFound
from nsadmin.command_line.declarations import command
from nsadmin.commands.columns.brokers import BROKER_ADDR, BROKER_ID, BROKER_NAME, CLUSTER_NAME
from nsadmin.console.output import Column, Columns, ResultRows
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session
from nsadmin.operations.inventory.keeper import open_inventory
from nsadmin.operations.replicas.comparer import ReplicaComparer
from nsadmin.operations.replicas.comparison import count_items, describe_difference
from nsadmin.operations.replicas.memory_store import open_replica_memory
from nsadmin.operations.replicas.records import (
    Item,
    JudgedDifference,
    ReplicaComparison,
)

REPLICA_DIFF_COLUMNS: Columns[JudgedDifference] = (
    CLUSTER_NAME.in_wide().of(lambda d: d.difference.cluster_name),
    BROKER_NAME.of(lambda d: d.difference.broker_name),
    BROKER_ID.means("id of the slave").of(lambda d: d.difference.slave.broker_id),
    BROKER_ADDR.means("address of the slave, HOST:PORT")
    .in_wide()
    .of(lambda d: d.difference.slave.broker_addr),
    Column(
        "kind",
        "topic, group, offset (of a group on a topic), consumeMode, epoch, user, acl or setting",
        lambda d: d.difference.kind.value,
    ),
    Column("name", "name of the item", lambda d: d.difference.item_name),
    Column("state", "lag (the next copy may remove it) or drift (it stays)", lambda d: d.state.value),
    Column("differs", "the difference in words", lambda d: describe_difference(d.difference)),
    Column("reason", "why the difference is lag or drift", lambda d: d.reason),
    Column(
        "since", "when nsadmin first saw the difference (UTC)", lambda d: format_utc(d.since_ms), wide=True
    ),
    Column(
        "master",
        "the item on the master; null if it has none, or for a secret",
        lambda d: _hide_secrets(d.difference.item_name, d.difference.master_item),
        wide=True,
    ),
    Column(
        "slave",
        "the item on the slave; null if it has none, or for a secret",
        lambda d: _hide_secrets(d.difference.item_name, d.difference.slave_item),
        wide=True,
    ),
)
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
    differences between two runs. It skips settings that name a server or its folders, and
    slaveReadEnable of a slave that serves consumers.

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
    return ResultRows.from_records(
        REPLICA_DIFF_COLUMNS,
        comparison.differences if include_lag else comparison.drift,
        _list_errors(comparison),
        [*comparison.failure_lines, _summarize_comparison(comparison, lists_lag=include_lag)],
    )


def _describe_missing_slaves(cluster_name: str | None, broker_name: str | None) -> str:
    scope_text = f'broker "{broker_name}"' if broker_name else "broker"
    if cluster_name:
        scope_text += f' in cluster "{cluster_name}"'
    return f"nothing was compared: no {scope_text} with a slave is registered"


def _describe_wait(comparison: ReplicaComparison) -> str:
    return (
        f"the next copy may remove {count_noun(len(comparison.lag), 'difference')}: waiting to compare again"
    )


def _hide_secrets(name: str, item: Item | None) -> object:
    """The item without secrets; a setting as its text."""
    if item is None:
        return None
    if "" in item:
        return None if is_secret_name(name) else item[""]
    return {str(field): value for field, value in item.items() if not is_secret_name(str(field))}


def _list_errors(comparison: ReplicaComparison) -> Sequence[RocketMQError | None]:
    if comparison.drift:
        return [ReplicaDriftError("slaves differ from their master")]
    return [None, *(RocketMQError(failure_line) for failure_line in comparison.failure_lines)]


def _summarize_comparison(comparison: ReplicaComparison, *, lists_lag: bool) -> str:
    unread_count = len(comparison.unread_reasons)
    if unread_count == comparison.slave_count and not comparison.differences:
        return "no slave was compared completely" if unread_count else "no slave was compared"
    slave_text = count_noun(comparison.slave_count, "slave")
    if unread_count:
        slave_text += f" ({unread_count} not compared, or not completely)"
    if not comparison.differences:
        return f"no differences on {slave_text}"
    drift = count_items([judged.difference for judged in comparison.drift])
    text = f"{slave_text}: {drift} will stay different" if drift else f"no lasting difference on {slave_text}"
    if not comparison.lag:
        return text
    hint = "" if lists_lag else " (--lag lists them)"
    return f"{text}; still being copied: {count_items([j.difference for j in comparison.lag])}{hint}"
