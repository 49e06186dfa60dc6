"""Decides whether a difference is lag or drift, from table versions and from earlier comparisons. Pure.

Rule: a slave copies every table once in each sync interval. A difference that lasts for longer than two
intervals is drift.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nsadmin.operations.replicas.comparison import find_differences, find_log_distance
from nsadmin.operations.replicas.records import (
    COPIED_KINDS,
    DifferenceState,
    Item,
    ItemKind,
    JudgedDifference,
    Replica,
    ReplicaComparison,
    ReplicaDifference,
    ReplicaGroup,
    ReplicaObservation,
)

DifferenceKey = tuple[str, str, int, str, str]

_INTERVAL_SECONDS_5_X = 70.0
"""5.x copies when 60 s have passed, and looks at the clock every 10 s (BrokerController)."""
_INTERVAL_SECONDS_4_X = 10.0


class RememberedDifference(NamedTuple):
    """A difference of an earlier comparison: since when it is known, and the master's item at that time."""

    since_ms: int
    master_item: Item | None


Memory = Mapping[DifferenceKey, RememberedDifference]


def sync_interval_seconds(release: str | None) -> float:
    """Return the longest time between two copies by a slave of this release."""
    return _INTERVAL_SECONDS_4_X if (release or "").startswith("4.") else _INTERVAL_SECONDS_5_X


def judge_differences(
    observation: ReplicaObservation, memory: Memory, interval_seconds: float | None = None
) -> tuple[ReplicaComparison, Memory]:
    """Judge the differences of an observation.

    Args:
        observation: The tables of all brokers.
        memory: The result of the previous call; {} if there is none.
        interval_seconds: The sync interval of the slaves. Default: that of each slave's release.

    Returns:
        The comparison, and the memory for the next call.
    """
    groups_by_name = {
        (replica_group.cluster_name, replica_group.broker_name): replica_group
        for replica_group in observation.groups
    }
    judged_differences: list[JudgedDifference] = []
    new_memory: dict[DifferenceKey, RememberedDifference] = {}
    for difference in find_differences(observation):
        remembered_difference = memory.get(difference.key)
        if remembered_difference is None or _has_caught_up(difference, remembered_difference):
            remembered_difference = RememberedDifference(observation.now_ms, difference.master_item)
        new_memory[difference.key] = remembered_difference
        state, reason = _judge_difference(
            groups_by_name[difference.cluster_name, difference.broker_name],
            difference,
            observation.now_ms,
            remembered_difference.since_ms,
            interval_seconds,
        )
        judged_differences.append(JudgedDifference(difference, state, reason, remembered_difference.since_ms))
    return _make_comparison(observation, judged_differences), new_memory


def _has_caught_up(difference: ReplicaDifference, remembered_difference: RememberedDifference) -> bool:
    """Whether the slave has what the master had when the difference was first seen."""
    slave_item, old_item = difference.slave_item, remembered_difference.master_item
    if difference.kind is ItemKind.OFFSET and slave_item is not None and old_item is not None:
        return all(slave_item.get(queue_id, -1) >= offset for queue_id, offset in old_item.items())
    return slave_item == old_item


def _judge_difference(
    replica_group: ReplicaGroup,
    difference: ReplicaDifference,
    now_ms: int,
    since_ms: int,
    interval_seconds: float | None,
) -> tuple[DifferenceState, str]:
    if difference.kind not in COPIED_KINDS:
        return DifferenceState.DRIFT, "slaves do not copy it"
    slave = difference.slave
    patience_seconds = 2 * (
        sync_interval_seconds(slave.release) if interval_seconds is None else interval_seconds
    )
    assert replica_group.master is not None
    master_versions = replica_group.master.tables[difference.kind].versions
    if difference.kind is not ItemKind.OFFSET and master_versions:
        slave_versions = slave.tables[difference.kind].versions
        # 4.x has one version, 5.x two. Slaves compare what both have (SlaveSynchronize).
        shared_count = min(len(master_versions), len(slave_versions))
        if shared_count and master_versions[:shared_count] == slave_versions[:shared_count]:
            return DifferenceState.DRIFT, "both tables have the same version, so the slave does not copy it"
        # A broker without static topics makes a new version of their mapping when it starts.
        changed_ms = max(version.timestamp_ms for version in (*master_versions, *slave_versions))
        if now_ms - changed_ms > patience_seconds * 1000:
            return DifferenceState.DRIFT, "both tables are older than two sync intervals"
    if now_ms - since_ms > patience_seconds * 1000:
        return DifferenceState.DRIFT, "seen for longer than two sync intervals"
    return DifferenceState.LAG, f"the slave may copy it within {patience_seconds:.0f} s"


def _make_comparison(
    observation: ReplicaObservation, judged_differences: Sequence[JudgedDifference]
) -> ReplicaComparison:
    slaves = [
        (replica_group, slave) for replica_group in observation.groups for slave in replica_group.slaves
    ]
    failure_lines = list(observation.failure_lines)
    for replica_group in observation.groups:
        failure_lines += _list_failures(replica_group)
    return ReplicaComparison(
        judged_differences,
        {
            (replica_group.broker_name, slave.broker_id): find_log_distance(replica_group.master, slave)
            for replica_group, slave in slaves
        },
        {(replica_group.broker_name, slave.broker_id): slave.release for replica_group, slave in slaves},
        failure_lines,
        len(slaves),
        {
            (replica_group.broker_name, slave.broker_id): unread_reason
            for replica_group, slave in slaves
            if (unread_reason := _find_unread_reason(replica_group.master, slave)) is not None
        },
    )


def _find_unread_reason(master: Replica | None, slave: Replica) -> str | None:
    if master is None:
        return "no master is registered"
    return slave.error if master.error is None else f"master: {master.error}"


def _list_failures(replica_group: ReplicaGroup) -> list[str]:
    if replica_group.master is None:
        return [f"{replica_group.broker_name}: no master is registered, so its slaves were not compared"]
    replicas: list[Replica] = [replica_group.master, *replica_group.slaves]
    return [
        f"{replica_group.broker_name}:{replica.broker_id} at {replica.broker_addr}: {replica.error}"
        for replica in replicas
        if replica.error is not None
    ]
