"""Targets: which broker processes a request is for, found by cluster or named by address."""

from typing import NamedTuple

from namesrv_core.protocol.codes import MASTER_ID
from nsadmin.client.clusters import ClusterInfo
from nsadmin.client.results import NotFound


class Target(NamedTuple):
    """One broker process; what nobody told is None. Without an address it cannot be asked."""

    broker_name: str | None
    broker_id: int | None
    broker_addr: str | None


NO_MASTER = "this broker has no master now"


def at(broker_addr: str) -> Target:
    """A broker of which only the address is known."""
    return Target(None, None, broker_addr)


def members(info: ClusterInfo, cluster_name: str | None) -> list[Target]:
    """Every master and slave of one cluster, or of all for None; NotFound for one that is not there."""
    return [
        Target(group.broker_name, broker_id, addr)
        for group in info.in_cluster(cluster_name)
        for broker_id, addr in group.broker_addrs.items()
    ]


def masters(info: ClusterInfo, cluster_name: str | None) -> list[Target]:
    """The master of each broker of a cluster: without an address where a broker has none now."""
    groups = info.in_cluster(cluster_name)
    if not groups:
        raise NotFound(f"no broker is registered in the cluster {cluster_name!r}")
    return [Target(group.broker_name, MASTER_ID, group.master) for group in groups]
