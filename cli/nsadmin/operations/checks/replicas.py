"""Checks whether slaves have what their master has, so that they can serve in its place."""

from nsadmin.client import AdminClient
from nsadmin.client.advised_command import quote_command
from nsadmin.operations.checks import listed_brokers
from nsadmin.operations.checks.check import Check, CheckScale, CheckScope, Figures
from nsadmin.operations.checks.findings import CheckFinding, CheckMeasure, CheckState
from nsadmin.operations.release_faults import describe_broker_faults
from nsadmin.operations.replicas.comparer import ReplicaComparer
from nsadmin.operations.replicas.comparison import count_items, describe_difference
from nsadmin.operations.replicas.memory_store import open_replica_memory
from nsadmin.operations.replicas.records import (
    ItemKind,
    JudgedDifference,
    ReplicaComparison,
)

_MAX_SHOWN = 10


def observe(admin: AdminClient, scope: CheckScope) -> ReplicaComparison:
    memory = open_replica_memory(scope.inventory)
    comparison = ReplicaComparer(admin, memory, scope.cluster_name).compare_replicas()
    scope.report_replicas(comparison)
    is_silent = len(comparison.failure_lines) >= len(admin.addresses.addrs)
    scope.skip_if(
        not comparison.slave_count, listed_brokers.NO_ANSWER if is_silent else "no broker has a slave"
    )
    return comparison


def judge(scale: CheckScale, comparison: ReplicaComparison) -> CheckFinding:
    """Judge the drift and the distance of all slaves. If a broker does not answer, it is at least UNKNOWN."""
    if not comparison.slave_count:
        text = "no slave is known" if comparison.failure_lines else "no broker with a slave is registered"
        return scale.make_unknown_finding(text, comparison.failure_lines)
    drift = comparison.drift
    missing_count = sum(judged.difference.slave_item is None for judged in drift)
    distances = {
        f"{name}:{broker_id}": distance
        for (name, broker_id), distance in comparison.log_distances.items()
        if distance is not None
    }
    figures: Figures = {
        "missing": missing_count,
        "stopped": len(comparison.stopped_slaves),
        "drift": len(drift),
        "lagging": len(comparison.lag),
        "distance": distances,
    }
    release_lines = [
        line
        for (name, broker_id), release in sorted(comparison.releases.items())
        for line in describe_broker_faults(f"{name}:{broker_id}", release, is_slave=True)
    ]
    minimum_state = CheckState.WARNING if release_lines else CheckState.OK
    if comparison.stopped_slaves:
        minimum_state = CheckState.CRITICAL
    hidden_count = len(drift) - _MAX_SHOWN
    details = [
        *map(_describe_drift, drift[:_MAX_SHOWN]),
        *([f"{hidden_count} more: see `{quote_command('replicaDiff')}`"] if hidden_count > 0 else []),
        *release_lines,
    ]
    summary = _summarize(comparison, missing_count)
    return scale.make_finding(
        summary,
        figures,
        details,
        doubts=comparison.failure_lines,
        minimum_state=minimum_state,
        affected=[judged.difference.broker_name for judged in drift],
    )


def _summarize(comparison: ReplicaComparison, missing_count: int) -> str:
    is_single = comparison.slave_count == 1
    slaves = "1 slave" if is_single else f"{comparison.slave_count} slaves"
    if comparison.is_equal:
        return f"{slaves} {'is equal to its master' if is_single else 'are equal to their masters'}"
    stopped_count = len(comparison.stopped_slaves)
    parts = []
    if stopped_count:
        parts.append(f"{stopped_count} of {slaves} {'copies' if stopped_count == 1 else 'copy'} no messages")
    if drift := [d.difference for d in comparison.drift if d.difference.kind is not ItemKind.LOG]:
        slave_count = len({(d.broker_name, d.slave.broker_id) for d in drift})
        differs = "differs from its master" if slave_count == 1 else "differ from their masters"
        missing = f" ({missing_count} missing)" if missing_count else ""
        advice = (
            "slaves do not copy: set it on the slave with nsadmin updateBrokerConfig"
            if all(d.kind is ItemKind.SETTING for d in drift)
            else "replication does not remove"
        )
        parts.append(f"{slave_count} of {slaves} {differs} in {count_items(drift)}{missing}, which {advice}")
    if comparison.unread_reasons:
        parts.append(f"{len(comparison.unread_reasons)} of {slaves} not compared, or not completely")
    recent = [judged.difference for judged in comparison.lag]
    if not parts and all(difference.kind is ItemKind.OFFSET for difference in recent):
        masters = "equal its master's" if is_single else "equal their masters'"
        parts.append(f"topics, groups and settings of {slaves} {masters}")
    elif not parts:
        parts.append(f"no lasting difference on {slaves}")
    if recent:
        parts.append(f"still being copied: {count_items(recent)}")
    distances = comparison.log_distances
    known = [(distance, *slave) for slave, distance in distances.items() if distance]
    if known:
        distance, broker_name, broker_id = max(known)
        parts.append(f"the slowest slave is {broker_name}:{broker_id}, {distance} bytes behind")
    if None in distances.values() and not comparison.unread_reasons:
        parts.append("the distance in bytes is unknown")
    return "; ".join(parts)


def _describe_drift(judged: JudgedDifference) -> str:
    difference = judged.difference
    return (
        f"{difference.broker_name}:{difference.slave.broker_id} {difference.kind.value} "
        f"{difference.item_name}: {describe_difference(difference)} ({judged.reason})"
    )


CHECK = Check(
    "replicas",
    (
        CheckMeasure("missing", "topics, groups and other items that a slave lacks", critical="0"),
        CheckMeasure("stopped", "slaves that copy no messages: always critical"),
        CheckMeasure("drift", "all differences that slaves do not remove", warning="0"),
        CheckMeasure("lagging", "differences that the next copy may remove"),
        # The limits are those of a slave that is not in sync (haMaxGapNotInSync).
        CheckMeasure("distance", "bytes of the commit log that a slave lacks", "B", label_name="broker"),
    ),
    observe,
    judge,
    warning_when="a slave differs from its master, and replication does not remove the difference",
    critical_when="a slave lacks a topic, a group or another item, or copies no messages",
    remedy="nsadmin replicaDiff -b {about}",
)
