"""Finds what slaves lack before they serve in place of their master, or become the master."""

from typing import NamedTuple

from nsadmin.client import AdminClient
from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.operations.replicas.comparison import compare_replicas
from nsadmin.operations.replicas.observer import read_replica_group
from nsadmin.operations.replicas.records import TAKEOVER_KINDS, Replica


class TakeoverGap(NamedTuple):
    """A slave, and the items that it lacks or has differently, each as "kind name"."""

    slave: Replica
    item_names: tuple[str, ...]


def find_takeover_gaps(admin: AdminClient, broker_group: BrokerAddrGroup) -> list[TakeoverGap]:
    """Return the slaves that lack topics, groups, consume modes, users or ACLs of their master.

    The age of a difference does not matter: what is missing at the takeover is lost. Offsets are not
    included, because consumers then only repeat messages. A broker that does not answer has no gaps here.
    """
    replica_group = read_replica_group(admin, broker_group)
    takeover_gaps = []
    for slave in replica_group.slaves:
        item_names = tuple(
            f"{difference.kind.value} {difference.item_name}"
            for difference in compare_replicas(replica_group, slave)
            if difference.kind in TAKEOVER_KINDS and difference.master_item is not None
        )
        if item_names:
            takeover_gaps.append(TakeoverGap(slave, item_names))
    return takeover_gaps
