"""Finds what slaves lack before they serve in place of their master, or become the master."""

from typing import NamedTuple

from nsadmin.client import AdminClient
from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.client.wall_clock import time
from nsadmin.operations.replicas.memory import judge_differences
from nsadmin.operations.replicas.observer import read_replica_group
from nsadmin.operations.replicas.records import (
    TAKEOVER_KINDS,
    DifferenceState,
    Replica,
    ReplicaObservation,
)


class TakeoverGap(NamedTuple):
    """A slave, and the items that it lacks or has differently, each as "kind name"."""

    slave: Replica
    item_names: tuple[str, ...]


def find_takeover_gaps(
    admin: AdminClient, broker_group: BrokerAddrGroup, *, includes_lag: bool
) -> list[TakeoverGap]:
    """Return the slaves that lack topics, groups, consume modes, users or ACLs of their master.

    Offsets are not included, because consumers then only repeat messages. A broker that does not answer has
    no gaps here.

    Args:
        admin: The client.
        broker_group: The addresses of the master and its slaves.
        includes_lag: Include items that the slave may still copy, because they would be lost if it became
            the master now.
    """
    replica_group = read_replica_group(admin, broker_group, TAKEOVER_KINDS)
    comparison, _ = judge_differences(ReplicaObservation(int(time() * 1000), [replica_group]), {})
    takeover_gaps = []
    for slave in replica_group.slaves:
        item_names = tuple(
            f"{judged.difference.kind.value} {judged.difference.item_name}"
            for judged in comparison.differences
            if judged.difference.slave is slave
            and judged.difference.master_item is not None
            and (includes_lag or judged.state is DifferenceState.DRIFT)
        )
        if item_names:
            takeover_gaps.append(TakeoverGap(slave, item_names))
    return takeover_gaps
