"""Finds what slaves lack before they serve in place of their master, or become the master."""

from typing import NamedTuple

from nsadmin.client import AdminClient
from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.operations.replicas.memory import judge_differences
from nsadmin.operations.replicas.observer import read_replica_group
from nsadmin.operations.replicas.records import TAKEOVER_KINDS, DifferenceState, Replica, ReplicaObservation


class TakeoverGap(NamedTuple):
    """A slave, and the items that it lacks or has differently, each as "kind name".

    `read_error` says why its items could not all be read, although the master answered.
    """

    slave: Replica
    item_names: tuple[str, ...]
    read_error: str | None = None


def find_takeover_gaps(
    admin: AdminClient, broker_group: BrokerAddrGroup, *, includes_lag: bool
) -> list[TakeoverGap]:
    """Return the slaves that lack topics, groups, consume modes, users or ACLs of their master.

    Slaves whose items could not be read are included, too. Offsets are not, because consumers then only
    repeat messages. If the master does not answer, nothing can be compared, and the list is empty.

    Args:
        admin: The client.
        broker_group: The addresses of the master and its slaves.
        includes_lag: Include items that the slave may still copy, because they would be lost if it became
            the master now.
    """
    group = read_replica_group(admin, broker_group, TAKEOVER_KINDS)
    comparison, _ = judge_differences(ReplicaObservation(admin.clock_ms, [group]), {})
    master = group.master
    if master is None or master.error is not None:
        return []
    takeover_gaps = []
    for slave in group.slaves:
        item_names = tuple(
            f"{judged.difference.kind.value} {judged.difference.item_name}"
            for judged in comparison.differences
            if judged.difference.slave is slave
            and judged.difference.master_item is not None
            and (includes_lag or judged.state is DifferenceState.DRIFT)
        )
        if item_names or slave.error is not None:
            takeover_gaps.append(TakeoverGap(slave, item_names, slave.error))
    return takeover_gaps
