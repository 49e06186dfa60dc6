"""Decides whether a difference is lag or drift, from table versions and from earlier comparisons. Pure.

Rules: a slave copies every table once in each sync interval. A difference that lasts for longer than two
intervals is drift. A slave copies the commit log all the time: one without a connection, or whose log stands
still while its master's goes on, copies nothing. What is not compared keeps its age.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from nsadmin.client.brokers.replication import TableVersion
from nsadmin.operations.replicas.comparison import (
    LOG_END,
    compare_replicas,
    find_log_distance,
    list_compared_kinds,
)
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


_STANDSTILL_SECONDS = 60.0
"""A slave without a connection tries again every 5 s, and so does one whose master has just started."""

_FORGET_MS = 7 * 24 * 3_600_000
"""How long the differences of a slave are kept that is not compared any more."""


class RememberedDifference(NamedTuple):
    """A difference of earlier comparisons.

    Attributes:
        since_ms: Since when it is known.
        master_item: The master's item at that time.
        seen_ms: When it was last seen.
        slave_item: The slave's item at that time, for offsets and the commit log. A slave that is ahead of
            its master has changed its offsets if it copied.
    """

    since_ms: int
    master_item: Item | None
    seen_ms: int = 0
    slave_item: Item | None = None


Memory = Mapping[DifferenceKey, RememberedDifference]


def sync_interval_seconds(release: str | None) -> float:
    """Return the longest time between two copies by a slave of this release."""
    return _INTERVAL_SECONDS_4_X if (release or "").startswith("4.") else _INTERVAL_SECONDS_5_X


def judge_differences(
    seen: ReplicaObservation, memory: Memory, interval_seconds: float | None = None
) -> tuple[ReplicaComparison, Memory]:
    """Judge the differences of an observation.

    Args:
        observation: The tables of all brokers.
        memory: The result of the previous call; {} if there is none.
        interval_seconds: The sync interval of the slaves. Default: that of each slave's release.

    Returns:
        The comparison, and the memory for the next call.
    """
    now_ms = seen.now_ms
    judged: list[JudgedDifference] = []
    new_memory = _keep_uncompared(seen, memory)
    for group in seen.groups:
        for slave in group.slaves:
            for difference in compare_replicas(group, slave):
                remembered = memory.get(difference.key)
                if remembered is None or _is_another(difference, remembered):
                    slave_item = difference.slave_item if difference.kind is ItemKind.OFFSET else None
                    remembered = RememberedDifference(now_ms, difference.master_item, slave_item=slave_item)
                new_memory[difference.key] = remembered._replace(seen_ms=now_ms)
                state, reason = _judge_difference(
                    group, difference, now_ms, remembered.since_ms, interval_seconds
                )
                judged.append(JudgedDifference(difference, state, reason, remembered.since_ms))
            judged += _judge_log(group, slave, now_ms, memory, new_memory)
    return _make_comparison(seen, judged), new_memory


def _keep_uncompared(seen: ReplicaObservation, memory: Memory) -> dict[DifferenceKey, RememberedDifference]:
    """The memory of slaves and kinds that this observation lacks: one missed answer must not erase it."""
    compared_kinds = {
        (group.cluster_name, group.broker_name, slave.broker_id, str(kind))
        for group in seen.groups
        if group.master is not None
        for slave in group.slaves
        for kind in (*list_compared_kinds(group.master, slave), *_list_log(group.master, slave))
    }
    return {
        key: remembered
        for key, remembered in memory.items()
        if key[:4] not in compared_kinds and seen.now_ms - remembered.seen_ms < _FORGET_MS
    }


def _list_log(master: Replica, slave: Replica) -> list[ItemKind]:
    return [ItemKind.LOG] if master.log_end is not None and slave.log_end is not None else []


def _judge_log(
    group: ReplicaGroup,
    slave: Replica,
    now_ms: int,
    memory: Memory,
    new_memory: dict[DifferenceKey, RememberedDifference],
) -> Iterator[JudgedDifference]:
    """Yield a difference if the slave copies no messages, and remember the end of its log."""
    master = group.master
    if master is None or master.log_end is None or slave.log_end is None:
        return
    difference = ReplicaDifference(
        group.cluster_name,
        group.broker_name,
        slave,
        ItemKind.LOG,
        "messages",
        {LOG_END: master.log_end},
        {LOG_END: slave.log_end},
    )
    is_linked = slave not in find_unlinked_slaves(group)
    if is_linked and master.log_end <= slave.log_end:
        return
    remembered = memory.get(difference.key)
    if remembered is None or (remembered.slave_item or {}).get(LOG_END, -1) < slave.log_end:
        remembered = RememberedDifference(now_ms, None, slave_item=difference.slave_item)
    new_memory[difference.key] = remembered._replace(seen_ms=now_ms)
    starts = [replica.started_ms for replica in (master, slave) if replica.started_ms is not None]
    has_stood_still = now_ms - remembered.since_ms > _STANDSTILL_SECONDS * 1000
    if not is_linked:
        is_young = bool(starts) and now_ms - max(starts) < _STANDSTILL_SECONDS * 1000
        state = DifferenceState.LAG if is_young and not has_stood_still else DifferenceState.DRIFT
        yield JudgedDifference(
            difference, state, "the master has no replication connection from this slave", remembered.since_ms
        )
    elif has_stood_still:
        seconds = (now_ms - remembered.since_ms) / 1000
        reason = f"its commit log has not grown for {seconds:.0f} s"
        yield JudgedDifference(difference, DifferenceState.DRIFT, reason, remembered.since_ms)


def find_unlinked_slaves(group: ReplicaGroup) -> list[Replica]:
    """The slaves without a replication connection: those whose last report to the master is oldest.

    A master knows the connections by the slaves' hosts and random ports only.
    """
    master = group.master
    if master is None or master.link_count is None:
        return []
    missing_count = max(0, len(group.slaves) - master.link_count)
    by_report = sorted(group.slaves, key=lambda slave: (slave.reported_ms or 0, slave.log_end or 0))
    return by_report[:missing_count]


def _is_another(difference: ReplicaDifference, remembered_difference: RememberedDifference) -> bool:
    """Whether the slave has had what the master had when the difference was first seen, or cannot have it.

    A reset moves the master's offset back, and no copy then brings the slave to the old one.
    """
    slave_item, old_item = difference.slave_item, remembered_difference.master_item
    if difference.kind is not ItemKind.OFFSET or slave_item is None or old_item is None:
        return slave_item == old_item
    master_item = difference.master_item or {}
    if any(master_item.get(queue_id, offset) < offset for queue_id, offset in old_item.items()):
        return True
    has_old_offsets = all(slave_item.get(queue_id, -1) >= offset for queue_id, offset in old_item.items())
    return has_old_offsets and slave_item != remembered_difference.slave_item


def _judge_difference(
    group: ReplicaGroup,
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
    assert group.master is not None
    master_versions = group.master.tables[difference.kind].versions
    slave_versions = slave.tables[difference.kind].versions
    if difference.kind is ItemKind.OFFSET and master_versions and slave_versions:
        # After each copy, the slave has its master's version; it changes at every 500th commit.
        if master_versions != slave_versions and _has_never_copied(
            slave, slave_versions[0], now_ms, patience_seconds
        ):
            return DifferenceState.DRIFT, "the slave has not copied the table since it started"
    elif difference.kind is not ItemKind.OFFSET and master_versions:
        # 4.x has one version, 5.x two. Slaves compare what both have (SlaveSynchronize).
        shared_count = min(len(master_versions), len(slave_versions))
        if shared_count and master_versions[:shared_count] == slave_versions[:shared_count]:
            return DifferenceState.DRIFT, "both tables have the same version, so the slave does not copy it"
        # A broker without static topics makes a new version of their mapping when it starts.
        changed_ms = max(version.timestamp_ms for version in (*master_versions, *slave_versions))
        if now_ms - changed_ms > patience_seconds * 1000:
            return (
                DifferenceState.DRIFT,
                f"both tables are older than {patience_seconds:.0f} s, the time of two copies",
            )
    if now_ms - since_ms > patience_seconds * 1000:
        return DifferenceState.DRIFT, f"seen for longer than {patience_seconds:.0f} s, the time of two copies"
    return DifferenceState.LAG, f"the slave may copy it within {patience_seconds:.0f} s"


def _has_never_copied(slave: Replica, version: TableVersion, now_ms: int, patience_seconds: float) -> bool:
    """Whether a slave that had time for two copies still has the version that it made when it started."""
    return (
        slave.started_ms is not None
        and now_ms - slave.started_ms > patience_seconds * 1000
        and version.counter == 0
        and abs(version.timestamp_ms - slave.started_ms) < _STANDSTILL_SECONDS * 1000
    )


def _make_comparison(seen: ReplicaObservation, judged: Sequence[JudgedDifference]) -> ReplicaComparison:
    slaves = [(group, slave) for group in seen.groups for slave in group.slaves]
    failure_lines = list(seen.failure_lines)
    for group in seen.groups:
        failure_lines += _list_failures(group)
    return ReplicaComparison(
        judged,
        {
            (group.broker_name, slave.broker_id): find_log_distance(group.master, slave)
            for group, slave in slaves
        },
        {(group.broker_name, slave.broker_id): slave.release for group, slave in slaves},
        failure_lines,
        len(slaves),
        {
            (group.broker_name, slave.broker_id): unread_reason
            for group, slave in slaves
            if (unread_reason := _find_unread_reason(group.master, slave)) is not None
        },
    )


def _find_unread_reason(master: Replica | None, slave: Replica) -> str | None:
    if master is None:
        return "no master is registered"
    return slave.error if master.error is None else f"master: {master.error}"


def _list_failures(group: ReplicaGroup) -> list[str]:
    if group.master is None:
        return [f"{group.broker_name}: no master is registered, so its slaves were not compared"]
    replicas: list[Replica] = [group.master, *group.slaves]
    return [
        f"{group.broker_name}:{replica.broker_id} at {replica.broker_addr}: {replica.error}"
        for replica in replicas
        if replica.error is not None
    ]
